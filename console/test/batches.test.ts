/**
 * Batches in the browser: one runs while the page shows it, its failures are listed by code, its results are downloaded, one is
 * cancelled.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { NODE_TOKEN } from '../../server/test/support/console-node.ts'
import { BatchCaller, embeddingLines } from '../../server/test/support/batches.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const OTHER_KEY = 'console-test-key-other-0001'
const node = nodeOfFile({
  models: {
    'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } },
    // Each call is slow enough for the page to show the batch while it runs.
    'slow-w16': { on: 'slow-3000', price: { usdPerMillionTokens: 10 }, deploymentLimits: { concurrency: 1 } },
  },
  projects: { other: { keys: [{ name: 'k', secret: OTHER_KEY }] } },
})
const caller = () => new BatchCaller(node.url)
const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `text ${index}`)

/** The address of a batch is its id. */
async function made(model: string, given: readonly string[], as = caller()): Promise<string> {
  return (await as.create(await as.upload(embeddingLines(model, given)))).id
}

test('without a batch the page says what one is, and the command that makes one', async ({ openConsole }) => {
  const { page, go, complaints } = await openConsole(node, { role: 'developer', projects: ['nothing'] })
  await go('/batches')
  await expect(page.getByText('No batches yet.')).toBeVisible()
  await expect(page.getByText(/torana batch run/)).toBeVisible()
  assert.deepEqual(complaints, [])
})

test('a batch appears in the open list and is seen to its end, without a reload', async ({ openConsole }) => {
  // The browser itself loads a file that is downloaded: with the cookie of a person, never with the token of a test.
  const { page, go, complaints } = await openConsole(node, {
    member: { role: 'operator', name: 'Maria Keller', email: 'maria.keller@example.com' },
  })
  await go('/batches')
  const id = await made('plain-w16', [...texts(40), 'a text to @@refuse@@'])
  const row = page.getByRole('row', { name: new RegExp(id.slice(-4)) })
  await expect(row).toContainText('Completed', { timeout: 30_000 })
  await expect(row).toContainText('41 of 41')
  await row.getByRole('link').first().click()
  await expect(page).toHaveURL(new RegExp(`/batches/${id}`))
  const faults = page.getByRole('table', { name: 'Failures by code' })
  await expect(faults.getByRole('row')).toHaveCount(2)
  await expect(faults).toContainText('upstream_refused')
  await page.getByRole('button', { name: 'Download', exact: true }).click()
  const downloading = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Responses' }).click()
  const lines = readFileSync(await (await downloading).path(), 'utf8')
    .trim()
    .split('\n')
  assert.equal(lines.length, 40)
  assert.deepEqual(complaints, [])
})

test('a batch is cancelled behind a confirmation, by keyboard alone, and the audit tells who did it', async ({
  openConsole,
}) => {
  const id = await made('slow-w16', texts(2000))
  const { page, go } = await openConsole(node)
  await go('/')
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await expect(page).toHaveURL(/\/batches$/)
  await expect(page.getByRole('row', { name: new RegExp(id.slice(-4)) })).toContainText('Running')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(new RegExp(`/batches/${id}`))
  await page.getByRole('button', { name: 'Cancel…' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alertdialog')).toContainText('will not run or be charged')
  await page.getByRole('button', { name: 'Cancel batch' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByText(/Cancelling|Cancelled/).first()).toBeVisible()
  const { body } = await node.control('GET', `/audit?target=${id}`, { token: NODE_TOKEN })
  assert.deepEqual(
    (body['data'] as { action: string }[]).map(({ action }) => action),
    ['batch.cancel'],
  )
})

test('a file that can’t be run tells the true line, and nothing of another project is shown', async ({
  openConsole,
}) => {
  const id = await made('no-such-model', texts(3))
  await made('plain-w16', texts(3), new BatchCaller(node.url, OTHER_KEY))
  const { page, go } = await openConsole(node, { role: 'developer', projects: ['other'] })
  await go('/batches')
  await expect(page.locator('tbody [data-row]')).toHaveCount(1)
  await go(`/batches/${id}`)
  await expect(page.getByText(/doesn’t exist or has expired/)).toBeVisible()
  const admin = await openConsole(node)
  await admin.go(`/batches/${id}`)
  await expect(admin.page.getByText('Errors in the input file')).toBeVisible()
  await expect(admin.page.getByText('line 1', { exact: true })).toBeVisible()
  await expect(admin.page.getByText('model_not_found')).toBeVisible()
})

for (const theme of ['light', 'dark'] as const)
  for (const size of ['desktop', 'phone'] as const)
    test(`list and detail are accessible: ${theme}, ${size}`, async ({ openConsole }) => {
      const { id } = await caller().ended(await made('plain-w16', [...texts(9), 'a text to @@refuse@@']))
      const { page, go } = await openConsole(node, { theme, size, language: size === 'phone' ? 'zh' : 'en' })
      await go('/batches')
      await page.locator('tbody [data-row]').first().waitFor()
      await assertAccessible(page, '/batches')
      await go(`/batches/${id}`)
      await page.locator('figure').waitFor()
      await assertAccessible(page, `/batches/${id}`)
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      assert.equal(wide, 0, 'nothing is wider than the screen')
    })

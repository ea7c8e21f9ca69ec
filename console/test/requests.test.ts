/** Requests before a real node: what happened to a request is found, also without a mouse. */
import { execFile } from 'node:child_process'
import assert from 'node:assert/strict'
import { promisify } from 'node:util'
import type { Page } from '@playwright/test'
import { NODE_TOKEN } from '../../server/test/support/console-node.ts'
import { eventually } from '../../server/test/support/process.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const node = nodeOfFile({
  models: {
    'pair-w16': { on: ['mode-one', 'mode-two'], price: { usdPerMillionTokens: 1000 } },
  },
})
const SOON = { timeout: 15_000 }
const run = promisify(execFile)

/** To the next row. It is drawn and takes the focus a moment later. */
async function walk(page: Page): Promise<void> {
  await page.keyboard.press('j')
  await expect(page.locator('[data-row]:focus')).toHaveCount(1, SOON)
}

const ask = (input: string) => node.ask({ model: 'pair-w16', input }, { key: node.key })

async function newestRequest(): Promise<{ id: string; key: string; deployments: string[] }> {
  await ask('to be found')
  return eventually(async () => {
    const { body } = await node.control('GET', '/requests?limit=1', { token: NODE_TOKEN })
    const [newest] = body['data'] as { id: string; key: string; deployments: string[] }[]
    assert.ok(newest, 'the request is not in the list yet')
    return newest
  })
}

test('a deployment that fails is seen in the list as it happens, and the request tells of the failover', async ({
  openConsole,
}) => {
  await ask('before')
  const { page, go, complaints } = await openConsole(node)
  await go('/requests?live=1')
  await expect(page.getByRole('row').filter({ hasText: 'pair-w16' })).toHaveCount(1, SOON)
  await node.provider.setMode('one', { mode: '503' })
  await ask('the first is ill')
  const failedOver = page.getByRole('row').filter({ hasText: '×2' })
  await expect(failedOver).toBeVisible(SOON)
  await failedOver.getByRole('link').press('Enter')
  await expect(page.getByText('What happened')).toBeVisible(SOON)
  await expect(page.getByText(/mode-one returned 503/)).toContainText('mode-two')
  await expect(page.getByRole('table', { name: 'Time breakdown' })).toContainText('call 2')
  await expect(page.getByText('not charged').first()).toBeVisible()
  await expect(page.getByText(/line items total/)).toHaveCount(0)
  await node.provider.setMode('one')
  assert.deepEqual(complaints, [])
})

test('the command that a request page copies works with a key, and has no input of the caller @chromium', async ({
  openConsole,
}) => {
  const { id } = await newestRequest()
  const { page, go, context } = await openConsole(node)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await go(`/requests/${id}`)
  await page.getByRole('button', { name: 'Copy as curl' }).click()
  await expect(page.getByText('Copied')).toBeVisible()
  const command = await page.evaluate(() => navigator.clipboard.readText())
  assert.ok(command.includes('YOUR TEXT') && !command.includes('to be found'), command)
  const { stdout } = await run('sh', ['-c', command], { env: { ...process.env, TORANA_KEY: node.key } })
  const { data } = JSON.parse(stdout) as { data: unknown[] }
  assert.equal(data.length, 1)
})

test('by keyboard alone a request is found, looked at beside the list, and opened', async ({
  openConsole,
}) => {
  await ask('for the keyboard')
  await ask('and another one')
  const { page, go } = await openConsole(node)
  await go('/')
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await expect(page).toHaveURL(/\/requests/)
  // The Overview, which has rows of its own, stays until the page is loaded.
  await expect(page.locator('h1')).toHaveText('Requests', SOON)
  await expect(page.getByRole('row').filter({ hasText: 'pair-w16' }).first()).toBeVisible(SOON)
  await walk(page)
  await page.keyboard.press('Space')
  await expect(page).toHaveURL(/peek=/)
  await expect(page.getByRole('button', { name: 'Copy as curl' })).toBeVisible(SOON)
  const first = new URL(page.url()).searchParams.get('peek')
  await page.keyboard.press('j')
  await expect(page).not.toHaveURL(new RegExp(`peek=${first}`))
  await page.keyboard.press('Escape')
  await expect(page).not.toHaveURL(/peek=/)
  await walk(page)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/requests\/[0-9a-f-]{36}/)
  await expect(page.getByText('Details', { exact: true })).toBeVisible(SOON)
})

test('a key, a deployment and a model show their own requests and usage, and lead to the whole of it', async ({
  openConsole,
}) => {
  const newest = await newestRequest()
  const { page, go, complaints } = await openConsole(node)
  const places = [
    [`/keys/${newest.key}`, `key=${newest.key}`],
    [
      `/deployments/${encodeURIComponent(newest.deployments[0] ?? '')}`,
      `deployment=${newest.deployments[0]}`,
    ],
  ] as const
  for (const [path, filter] of places) {
    await go(`${path}?tab=requests`)
    await expect(page.locator(`a[href$="/requests/${newest.id}"]`)).toBeVisible(SOON)
    await assertAccessible(page, `${path}, requests`)
    await go(`${path}?tab=usage`)
    await expect(page.getByRole('figure', { name: /total, mostly/ })).toBeVisible(SOON)
    await assertAccessible(page, `${path}, usage`)
    await go(`${path}?tab=requests`)
    await page.getByRole('link', { name: 'Open in Requests' }).click()
    await expect(page).toHaveURL((url) => decodeURIComponent(url.search).includes(filter))
  }
  await go('/models/pair-w16?tab=traffic')
  await expect(page.getByRole('figure', { name: /requests, \d+ failed/ })).toBeVisible(SOON)
  assert.deepEqual(complaints, [])
})

test('a developer sees the requests of the own project and no others, and an address of another is not there', async ({
  openConsole,
}) => {
  const newest = await newestRequest()
  const { page, go } = await openConsole(node, { role: 'developer', projects: ['elsewhere'] })
  await go('/requests')
  await expect(page.getByText('No requests in this time range.')).toBeVisible(SOON)
  await go(`/requests/${newest?.id}`)
  await expect(page.getByText('Request not found')).toBeVisible(SOON)
})

for (const theme of ['light', 'dark'] as const)
  test(`list, peek and detail can be used by everybody: ${theme}`, async ({ openConsole }) => {
    await ask('to be looked at')
    const { page, go } = await openConsole(node, { theme })
    await go('/requests')
    await expect(page.getByRole('row').filter({ hasText: 'pair-w16' }).first()).toBeVisible(SOON)
    await assertAccessible(page, 'the list')
    await walk(page)
    await page.keyboard.press('Space')
    await expect(page.getByRole('button', { name: 'Copy as curl' })).toBeVisible(SOON)
    await assertAccessible(page, 'the peek')
    await page.keyboard.press('Enter')
    await expect(page.getByText('Details', { exact: true })).toBeVisible(SOON)
    await assertAccessible(page, 'one request')
  })

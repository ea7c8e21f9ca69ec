/** Deployments and Overview before a real node: what happens upstream is seen within seconds, and what a person does holds. */
import assert from 'node:assert/strict'
import { askSteadily, assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const node = nodeOfFile({
  models: {
    'pair-w16': { on: ['mode-one', 'mode-two'], price: { usdPerMillionTokens: 1000 } },
    'lone-w16': { on: 'mode-lone' },
  },
})

askSteadily(node, 'pair-w16')

const SOON = { timeout: 10_000 }

test('a pulled deployment shows as ejected within seconds, in the list and in what needs attention, and comes back', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/deployments')
  const row = page.getByRole('row').filter({ hasText: 'mode-one' })
  await expect(row).toContainText('healthy')
  await node.provider.setMode('one', { mode: '500' })
  await expect(row).toContainText(/ejected|probing/, SOON)
  await row.getByRole('link').click()
  await expect(page.getByText('Failing: removed from rotation.')).toBeVisible()
  await go('/')
  await expect(page.getByText('mode-one is ejected')).toBeVisible(SOON)
  await expect(page.getByRole('link').filter({ hasText: 'mode-two' })).toBeVisible()
  await node.provider.setMode('one')
  await go('/deployments')
  await expect(page.getByRole('row').filter({ hasText: 'mode-one' })).toContainText('healthy', {
    timeout: 30_000,
  })
  assert.deepEqual(complaints, [])
})

test('a drained deployment gets no traffic, says why and who drained it, and is taken back', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node, { role: 'operator' })
  await go('/deployments/pair-w16%2Fmode-one')
  await page.getByRole('button', { name: 'Drain' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('mode-two')
  await dialog.getByRole('button', { name: 'Drain' }).click()
  await expect(dialog).toContainText('Add a reason')
  await dialog.getByLabel('Reason').fill('new driver')
  await dialog.getByRole('button', { name: 'Drain' }).click()
  await expect(page.getByText('new driver')).toBeVisible(SOON)
  await expect
    .poll(async () => {
      const before = node.provider.mode('one').calls
      await new Promise((resolve) => setTimeout(resolve, 700))
      return node.provider.mode('one').calls - before
    }, SOON)
    .toBe(0)
  await page.getByRole('button', { name: 'Resume traffic' }).click()
  await page.getByRole('dialog').getByLabel('Reason').fill('driver works')
  await page.getByRole('dialog').getByRole('button', { name: 'Resume traffic' }).click()
  const before = node.provider.mode('one').calls
  await expect.poll(() => node.provider.mode('one').calls, SOON).toBeGreaterThan(before)
})

test('a test is made by hand, and its request can be opened', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/deployments/pair-w16%2Fmode-two')
  await page.getByRole('button', { name: 'Send test request' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Run test' }).click()
  await expect(dialog).toContainText(/Answered in/, SOON)
  await expect(dialog).toContainText(/\$0\.00\d{7}/)
  const token = await node.tokenOf('admin')
  // The log is written in batches.
  const logged = async () => JSON.stringify((await node.control('GET', '/requests', { token })).body)
  await expect.poll(logged, SOON).toContain('system')
})

test('a developer does not find deployments, and sees no key of another project in the overview', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node, { role: 'developer', projects: ['other'] })
  await go('/')
  await expect(page.getByText('Nothing needs attention.')).toBeVisible(SOON)
  await expect(page.getByRole('link', { name: 'Deployments' })).toHaveCount(0)
  await expect(page.getByText('default/bootstrap')).toHaveCount(0)
})

for (const theme of ['light', 'dark'] as const)
  test(`${theme}: Overview, Deployments, one deployment and Nodes can be used by everybody`, async ({
    openConsole,
  }) => {
    const { page, go, complaints } = await openConsole(node, { theme })
    for (const path of ['/', '/deployments', '/deployments/pair-w16%2Fmode-one', '/settings/nodes']) {
      await go(path)
      await page.waitForTimeout(500)
      await assertAccessible(page, `${theme} ${path}`)
    }
    assert.deepEqual(complaints, [])
  })

/** The Overview before a real node: ribbons follow the traffic, lead to what they stand for, and have a table beside them. */
import assert from 'node:assert/strict'
import { askSteadily, expect, nodeOfFile, test } from './support/test.ts'

const node = nodeOfFile({
  models: { 'pair-w16': { on: ['mode-one', 'mode-two'], price: { usdPerMillionTokens: 1000 } } },
})
askSteadily(node, 'pair-w16')
const SOON = { timeout: 10_000 }

test('ribbons lead from a key through a model to its deployments, and one that fails is seen within seconds', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/')
  const picture = page.getByRole('group', { name: 'Traffic from keys through models to deployments' })
  for (const name of ['default/bootstrap', 'pair-w16', 'mode-one', 'mode-two'])
    await expect(picture.getByText(name, { exact: true })).toBeVisible(SOON)
  await expect.poll(() => picture.locator('svg path').count(), SOON).toBeGreaterThanOrEqual(3)
  await node.provider.setMode('one', { mode: '500' })
  await expect(picture.locator('a').filter({ hasText: 'mode-one' })).toContainText(/ejected|probing/, SOON)
  await node.provider.setMode('one')
  assert.deepEqual(complaints, [])
})

test('the same numbers stand in a table, and the choice stands in the address', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/')
  await page.getByRole('button', { name: 'Table' }).click()
  // Which of the two serves at the moment is the scheduler's affair.
  await expect(
    page
      .getByRole('row')
      .filter({ hasText: /mode-(?:one|two)/ })
      .first(),
  ).toBeVisible(SOON)
  await expect(page).toHaveURL(/view=table/)
  await page.getByRole('button', { name: 'Chart', exact: true }).click()
  await page.getByRole('button', { name: 'Cost' }).click()
  await expect(page).toHaveURL(/metric=usd/)
  await expect(
    page
      .getByRole('group', { name: /Traffic from keys/ })
      .getByText(/\$\d/)
      .first(),
  ).toBeVisible(SOON)
})

test('by keyboard alone: one tab stop, arrow keys walk over the nodes, Enter opens one', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go('/')
  const picture = page.getByRole('group', { name: /Traffic from keys/ })
  await expect(picture.locator('[tabindex="0"]')).toHaveCount(1, SOON)
  await picture.locator('[tabindex="0"]').focus()
  await page.keyboard.press('ArrowRight')
  await expect(picture.locator(':focus')).toContainText('pair-w16')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/deployments\/pair-w16/)
})

test('a developer, who may not see deployments, follows the traffic of their projects live', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node, { role: 'developer', projects: ['default'] })
  await go('/')
  await expect(page.getByRole('status')).toHaveText('Live', SOON)
  await expect(page.getByText('default/bootstrap', { exact: true })).toBeVisible(SOON)
  assert.deepEqual(complaints, [])
})

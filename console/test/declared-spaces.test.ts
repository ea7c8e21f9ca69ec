/** Models that declare one space, before a real node: which share it, and what accepting another one changes. */
import assert from 'node:assert/strict'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const [LARGE, SMALL] = ['large-w256', 'small-w256']

const node = nodeOfFile({
  models: {
    [LARGE]: { on: 'mode-large', space: 'makers', spaceGuard: true },
    [SMALL]: { on: 'mode-small+vectors-sibling', space: 'makers', spaceGuard: true },
  },
})

test('the page of a model names the models that share its space, and leads to them', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go(`/models/${SMALL}?tab=space`)
  await expect(page.getByText(/^makers@256:[0-9a-f]{8}$/).first()).toBeVisible()
  await expect(page.getByText(/^small-w256@256:[0-9a-f]{8}$/)).toBeVisible()
  await assertAccessible(page, 'a shared space')
  await page.getByRole('link', { name: LARGE, exact: true }).click()
  await expect(page.locator('h1')).toHaveText(LARGE)
  assert.deepEqual(complaints, [])
})

test('who accepts another space for one model reads that the others get a new ID, too', async ({
  openConsole,
}) => {
  await node.provider.setMode('small', { vectors: 'other-model' })
  const token = await node.tokenOf('admin')
  const { status, text } = await node.control('POST', `/spaces/${SMALL}/probe`, { token })
  assert.equal(status, 200, text)
  const { page, go } = await openConsole(node)
  await go(`/deployments/${encodeURIComponent(`${SMALL}/mode-small.vectors-sibling`)}?tab=drift`)
  await page
    .getByRole('button', { name: /^Accept/ })
    .first()
    .click()
  await expect(page.getByRole('alertdialog')).toContainText(`${LARGE}: their space gets a new ID too`)
})

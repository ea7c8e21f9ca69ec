/** Drift before a real node: a deployment that leaves its space is seen, and its space is accepted only behind a question. */
import assert from 'node:assert/strict'
import { eventually } from '../../server/test/support/process.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const node = nodeOfFile({
  models: {
    'pair-w16': { on: ['mode-one', 'mode-two'], spaceGuard: true },
    'seen-w16': {
      on: 'mode-seen',
      spaceGuard: true,
      upstream: { base: 'openrouter/api/v1' },
      capabilities: { contents: { wire: 'openrouter', inputs: ['text', 'image'], fuses: true } },
    },
  },
})
const SOON = { timeout: 20_000 }
const PAGE = '/deployments/pair-w16%2Fmode-two?tab=drift'

test('a deployment that leaves its space is drawn below the limit, and the question names both ways out', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go(PAGE)
  await expect(page.getByRole('table', { name: 'Latest checks' }).getByRole('row')).not.toHaveCount(1, SOON)
  await node.provider.setMode('two', { vectors: 'other-model' })
  await page.goto(page.url())
  await node.control('POST', '/spaces/pair-w16/probe', { token: await node.tokenOf('admin') })
  await expect(page.getByText('Which of the two is right?')).toBeVisible(SOON)
  await page.reload()
  await expect(page.getByText(/Failed the space check\. Minimum cosine/)).toBeVisible(SOON)
  await expect(page.getByRole('figure', { name: /mode-two: .* at the last check/ })).toBeVisible()
  for (const measure of ['Length', 'Cosine']) await page.getByRole('button', { name: measure }).click()
  await assertAccessible(page, 'drift')
  assert.deepEqual(complaints, [])
})

test('a space is accepted by an admin who sees who pins it and types the name of its model', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  const ask = (headers: Record<string, string>) =>
    node.ask({ model: 'pair-w16', input: 'a text' }, { headers })
  const space = (await ask({})).headers.get('x-torana-space') ?? ''
  assert.equal((await ask({ 'x-torana-space': space })).status, 200)
  await eventually(async () => {
    const { body } = await node.control('GET', '/spaces', { token: await node.tokenOf('admin') })
    const { data } = body as { data: { model: string; pinned_by: { requests_24h: number }[] }[] }
    const pins = data.find(({ model }) => model === 'pair-w16')?.pinned_by
    assert.deepEqual(
      pins?.map(({ requests_24h: requests }) => requests),
      [1],
    )
  })
  await go(PAGE)
  await expect(page.getByText('1 key in 24 hours')).toBeVisible(SOON)
  await page.getByRole('button', { name: 'Accept as new space…' }).click(SOON)
  const dialog = page.getByRole('alertdialog')
  await expect(dialog).toContainText('everything must be embedded again')
  await expect(dialog).toContainText('1 key in 24 hours, which will get 412 until they pin the new ID:')
  await expect(dialog.getByRole('link')).toHaveCount(1)
  await assertAccessible(page, 'accepting')
  await dialog.getByLabel('Type pair-w16 to confirm').fill('pair-w16')
  await dialog.getByRole('button', { name: 'Accept new space' }).click()
  await expect(page.getByText('pair-w16 has a new space')).toBeVisible(SOON)
  const { body } = await node.control('GET', '/spaces', { token: await node.tokenOf('admin') })
  const { data } = body as { data: { model: string; generation: number }[] }
  assert.equal(data.find(({ model }) => model === 'pair-w16')?.generation, 2)
  await go('/models/pair-w16?tab=space')
  await expect(page.getByText(/^pair-w16\/mode-two, accepted .* by /)).toBeVisible(SOON)
  await expect(page.getByText('no key in 24 hours')).toBeVisible()
})

test('an operator sees the drift and may look, but not accept', async ({ openConsole }) => {
  const { page, go } = await openConsole(node, { role: 'operator' })
  await go('/deployments/pair-w16%2Fmode-one?tab=drift')
  await expect(page.getByRole('button', { name: 'Accept as new space…' })).toBeDisabled(SOON)
})

test('of a deployment that takes images, each text and each image of the latest check is listed', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await node.provider.setMode('seen', { traits: 'other-image-encoder' })
  await node.control('POST', '/spaces/seen-w16/probe', { token: await node.tokenOf('admin') })
  await go('/deployments/seen-w16%2Fmode-seen.openrouter.api.v1?tab=drift')
  const cosineOf = (label: string) => page.locator('dl > div').filter({ hasText: label }).locator('dd')
  await expect(cosineOf('Paragraph')).toHaveText(/^(?:0\.999999|1\.0)/, SOON)
  for (const label of ['Image: photo', 'Image: page', 'Image: chart'])
    await expect(cosineOf(label)).toHaveText(/^[−-]?0\.\d/)
  await expect(page.getByText('Latest check by text and image')).toBeVisible()
  await page.getByRole('button', { name: 'Images' }).click()
  await expect(page.getByRole('heading', { name: 'Minimum cosine of images to the reference' })).toBeVisible()
  for (const limit of ['0.995', '0.98']) await expect(page.getByText(limit, { exact: true })).toBeVisible()
  await assertAccessible(page, 'drift of images')
  assert.deepEqual(complaints, [])
})

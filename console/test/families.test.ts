/** Families before a real node: which models share a space, how well they agree, and which one stays out. */
import assert from 'node:assert/strict'
import { eventually } from '../../server/test/support/process.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const [LARGE, SMALL, STRANGER] = ['large-w256', 'small-w256', 'stranger-w256']

const node = nodeOfFile(
  {
    models: {
      [LARGE]: { on: 'mode-large', spaceGuard: true },
      [SMALL]: { on: 'mode-small+vectors-family-member', spaceGuard: true },
      [STRANGER]: { on: 'mode-stranger+vectors-other-model', spaceGuard: true },
    },
    spaces: { makers: { members: [LARGE, SMALL, STRANGER] } },
  },
  (started) =>
    eventually(async () => {
      const { body } = await started.control('GET', '/spaces', { token: await started.tokenOf('admin') })
      const data = body['data'] as { family: { state: string } | null }[]
      assert.deepEqual(
        data.map(({ family }) => family?.state),
        ['joined', 'joined', 'outside'],
      )
    }, 60_000),
)

test('the page of a model lists its family with state, agreement and the reason of a model that stays out', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go(`/models/${SMALL}?tab=space`)
  await expect(page.getByText(/^makers@256:[0-9a-f]{8}$/).first()).toBeVisible()
  const family = page.getByRole('region', { name: 'Family makers' })
  const rowOf = (model: string) => family.getByRole('row', { name: new RegExp(`^${model}`) })
  await expect(rowOf(LARGE)).toContainText('joined first')
  await expect(rowOf(SMALL)).toContainText(/joined.*0\.\d{4}/)
  await expect(rowOf(STRANGER)).toContainText('outside, own space')
  await assertAccessible(page, 'a family')
  await rowOf(LARGE).click()
  await expect(page.locator('h1')).toHaveText(LARGE)
  assert.deepEqual(complaints, [])
})

test('the list of deployments names the family of each model, on a phone too', async ({ openConsole }) => {
  for (const size of ['desktop', 'phone'] as const) {
    const { page, go } = await openConsole(node, { size })
    await go('/deployments')
    await expect(page.getByText('family makers', { exact: true })).toHaveCount(2)
    await expect(page.getByText('outside family makers')).toBeVisible()
    await assertAccessible(page, `deployments of a family on a ${size}`)
  }
})

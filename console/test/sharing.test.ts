/** What people share: views within a project, and snapshots with anyone who has the link. */
import assert from 'node:assert/strict'
import { NODE_TOKEN } from '../../server/test/support/console-node.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const SECRET = 'a-key-of-these-tests-0000001'
const node = nodeOfFile(
  {
    models: { 'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } } },
    projects: {
      search: {
        budget: { usd: 5, per: 'month', hard: true },
        keys: [{ name: 'indexer', secret: SECRET }],
      },
    },
  },
  async (made) => {
    for (let n = 0; n < 3; n++) await made.ask({ model: 'plain-w16', input: `text ${n}` }, { key: SECRET })
    await expect(async () => {
      const { body } = await made.control('GET', '/requests', { token: NODE_TOKEN })
      assert.equal((body['data'] as unknown[]).length, 3)
    }).toPass()
  },
)
const MAKER = { role: 'developer', name: 'Li Wei', email: 'li@example.com', projects: ['search'] } as const
const COLLEAGUE = { ...MAKER, name: 'Mia Chen', email: 'mia@example.com' } as const

test('a view that one member shares with a project is there for another, who cannot delete it', async ({
  openConsole,
}) => {
  const maker = await openConsole(node, { member: MAKER })
  await maker.go('/requests?model=plain-w16&since=24h')
  await maker.page.getByRole('button', { name: 'Save view' }).click()
  await maker.page.getByLabel('View name').fill('Plain only')
  await maker.page.getByRole('combobox', { name: 'Visible to' }).click()
  await maker.page.getByRole('option', { name: 'Members of search' }).click()
  await assertAccessible(maker.page, 'sharing a view')
  await maker.page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(maker.page.getByRole('button', { name: /Plain only/ }).first()).toBeVisible()

  const colleague = await openConsole(node, { member: COLLEAGUE })
  await colleague.go('/requests')
  const chip = colleague.page.getByRole('button', { name: /Shared in search by li@example.com.*Plain only/ })
  await chip.click()
  await expect(colleague.page).toHaveURL(/model=plain-w16/)
  await expect(colleague.page).toHaveURL(/project=search/)
  await expect(chip).toHaveAttribute('aria-pressed', 'true')
  await expect(colleague.page.getByRole('button', { name: 'Delete view Plain only' })).toHaveCount(0)

  await maker.page
    .getByRole('button', { name: /Plain only/ })
    .first()
    .click()
  await maker.page.getByRole('button', { name: 'Delete view Plain only' }).click()
  await expect(maker.page.getByRole('button', { name: /Plain only/ })).toHaveCount(0)
})

const PAGES = [
  { path: '/usage', shows: /plain-w16/ },
  { path: '/requests?since=24h', shows: /search\/indexer/ },
  { path: '/budgets', shows: /\$5\.00/ },
  { path: '/', shows: /Requests/ },
] as const

for (const { path, shows } of PAGES)
  test(`a snapshot of ${path} opens without a session, and ends when it is revoked`, async ({
    openConsole,
  }) => {
    const { page, go } = await openConsole(node, { member: MAKER })
    await go(path)
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Create snapshot link…' }).click()
    await page.getByLabel('Title').fill(`Snapshot of ${path}`)
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = await page.getByRole('textbox', { name: 'Snapshot link created' }).inputValue()
    assert.match(link, /\/snapshot#[\w-]{43}$/)
    await page.getByRole('button', { name: 'Done' }).click()

    const visitor = await openConsole(node, { role: null })
    await visitor.page.goto(link)
    await expect(visitor.page.getByRole('heading', { name: `Snapshot of ${path}` })).toBeVisible()
    await expect(visitor.page.getByText(/Snapshot by Li Wei/)).toBeVisible()
    await expect(visitor.page.getByText(shows).first()).toBeVisible()
    await assertAccessible(visitor.page, `a snapshot of ${path}`)
    assert.deepEqual(visitor.complaints, [], 'it asks for nothing that needs a session')
    assert.ok(visitor.asked.every((address) => !address.includes(link.split('#')[1] ?? link)))

    await page.getByRole('button', { name: 'Share', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Snapshot links' }).click()
    await assertAccessible(page, 'snapshot links')
    await page.getByRole('button', { name: `Revoke Snapshot of ${path}` }).click()
    await expect(page.getByRole('button', { name: `Revoke Snapshot of ${path}` })).toHaveCount(0)
    await visitor.page.reload()
    await expect(visitor.page.getByText('This snapshot is not available')).toBeVisible()
  })

test('a token opened the console: it shares addresses, and makes no snapshot', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/budgets')
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  await expect(page.getByRole('menuitem', { name: /Create snapshot link/ })).toHaveAttribute(
    'aria-disabled',
    'true',
  )
})

/** Money in the browser: an unknown is resolved and the ledger moves, usage is narrowed, a budget is changed. */
import assert from 'node:assert/strict'
import { uuidv7Identifiers } from '../../server/src/runtime/identifiers.ts'
import { PostgresLedger } from '../../server/src/stores/postgres/ledger/ledger.ts'
import { rollUpDays } from '../../server/src/stores/postgres/ledger/roll-up.ts'
import { openPostgres } from '../../server/src/stores/postgres/database.ts'
import { NODE_TOKEN } from '../../server/test/support/console-node.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const DAY_MS = 86_400_000
const node = nodeOfFile({
  models: { 'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } }, 'open-w16': { on: 'plain' } },
})
let database: ReturnType<typeof openPostgres>
test.beforeAll(async () => {
  database = openPostgres(node.databaseUrl)
  await spend()
})
test.afterAll(() => database.close())

const now = Date.now()
const idAt = (ms: number): string => uuidv7Identifiers({ nowMs: () => ms, monotonicMs: () => 0 }).next()
const entry = {
  attempt: 0,
  kind: 'post',
  usage: 'upstream',
  tokens: 1_000_000,
  images: 0,
  model: 'plain-w16',
  deployment: 'plain-w16/plain',
  projectLeaseNanoUsd: 0n,
  keyLeaseNanoUsd: 0n,
  countsRequest: true,
} as const

/** A fortnight of two projects, and one call with an unknown outcome. */
async function spend(): Promise<void> {
  await node.control('POST', '/projects', {
    token: NODE_TOKEN,
    body: { name: 'studio', budget: { usd: 50, per: 'month', hard: true } },
  })
  const ledger = new PostgresLedger(database)
  const nodeId = idAt(now)
  await ledger.startNode({ id: nodeId, host: 'gateway-1', version: '0' })
  const entries = Array.from({ length: 14 }, (_, daysAgo) => {
    const requestId = idAt(now - daysAgo * DAY_MS)
    return [
      {
        ...entry,
        requestId,
        callId: requestId,
        project: 'studio',
        keyId: 'studio/app',
        amountNanoUsd: 2_000_000_000n,
        labels: { user: `tenant-${daysAgo % 2}`, tags: { team: daysAgo < 3 ? 'red' : 'blue' } },
      },
      {
        ...entry,
        requestId: idAt(now - daysAgo * DAY_MS),
        callId: requestId,
        project: 'ads',
        keyId: 'ads/website',
        model: 'gpt-image-2',
        deployment: 'gpt-image-2/openai',
        amountNanoUsd: 3_000_000_000n,
      },
    ]
  }).flat()
  const unknown = {
    ...entry,
    requestId: idAt(now),
    callId: idAt(now),
    kind: 'unknown',
    usage: 'unknown',
    tokens: undefined,
    project: 'studio',
    keyId: 'studio/app',
    amountNanoUsd: 81_900_000n,
    remarks: { what: '1 image, 1024×1024', reason: 'no answer within 60 s' },
  } as const
  await ledger.append(nodeId, [...entries, unknown])
  await rollUpDays(database, new Date(now - 20 * DAY_MS), 'infinity')
}

async function spentNano(): Promise<bigint> {
  const [row] = await database.query<{ nano: bigint }>(
    `SELECT sum(amount_nano)::bigint AS nano FROM usage_events WHERE project = 'studio'`,
  )
  return row?.nano ?? 0n
}

test('an unknown is resolved with a reason, and ledger, budget and list move', async ({ openConsole }) => {
  const { page, go, complaints } = await openConsole(node, { role: 'operator' })
  await go('/unknowns')
  await expect(page.getByText('No answer within 60 s')).toBeVisible()
  await expect(page.getByText('$0.0819 reserved in 1 call')).toBeVisible()
  await page.getByLabel('Actual cost').fill('0.0524')
  await expect(page.getByText('Budget studio: $0.0295 released.')).toBeVisible()
  const before = await spentNano()
  await page.getByLabel('Evidence').fill('Azure usage export, line 4411')
  await page.getByRole('button', { name: 'Post $0.0524' }).click()
  await expect(page.getByText('No open unknowns. The outcome of every call is known.')).toBeVisible()
  assert.equal((await spentNano()) - before, -29_500_000n)
  await page.getByRole('button', { name: /Resolved/ }).click()
  await expect(page.getByText('posted, $0.0524')).toBeVisible()
  await expect(page.getByText('Azure usage export, line 4411')).toBeVisible()
  assert.deepEqual(complaints, [])
})

test('usage is narrowed by a click on a row, the next opens its requests, and the address keeps it', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go('/usage')
  await expect(page.getByRole('row', { name: /gpt-image-2/ })).toContainText('$42.00')
  await page.getByRole('link', { name: 'gpt-image-2' }).click()
  await expect(page).toHaveURL(/only=model:gpt-image-2/)
  await expect(page.getByRole('row', { name: /plain-w16/ })).toHaveCount(0)
  await page.getByRole('button', { name: 'Key', exact: true }).click()
  await expect(page.getByRole('row', { name: /ads\/website/ })).toContainText('$42.00')
  await page.reload()
  await expect(page.getByRole('row', { name: /ads\/website/ })).toContainText('$42.00')
  await page.getByRole('button', { name: 'Remove Model' }).click()
  await expect(page.getByRole('row', { name: /studio\/app/ })).toBeVisible()
  const comparison = page.getByRole('switch')
  await comparison.click()
  await expect(page).toHaveURL(/[?&]before=1(&|$)/)
  await page.reload()
  await expect(comparison).toBeChecked()
  await expect(page).toHaveURL(/[?&]before=1(&|$)/)
})

test('usage is grouped by user and by a tag, with what has none, and opens the requests of a value', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/usage')
  await page.getByRole('button', { name: 'User', exact: true }).click()
  await expect(page.getByRole('row', { name: /tenant-0/ })).toContainText('$14.00')
  await page.getByRole('link', { name: 'tenant-0' }).click()
  await expect(page).toHaveURL(/only=user:tenant-0/)
  await expect(page.getByRole('row', { name: /tenant-1/ })).toHaveCount(0)
  await page.getByRole('button', { name: 'Tag' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'team' }).click()
  // Another label than that of the filter can't be asked for together with it.
  await expect(page).toHaveURL(/by=tag:team/)
  await expect(page).not.toHaveURL(/only=/)
  await expect(page.getByRole('row', { name: /blue/ })).toContainText('$22.00')
  await expect(page.getByRole('row', { name: /\(none\)/ })).toContainText('$42.')
  await page.getByRole('link', { name: 'red', exact: true }).click()
  await page.getByRole('link', { name: 'red', exact: true }).click()
  await expect(page).toHaveURL(/\/requests\?.*tag=team:red/)
  await expect(page.getByText('team:red').first()).toBeVisible()
  assert.deepEqual(complaints, [])
})

test('a developer sees the own project alone, and can’t export', async ({ openConsole }) => {
  const { page, go } = await openConsole(node, { role: 'developer', projects: ['studio'] })
  await go('/usage?by=project')
  await expect(page.getByRole('row', { name: /studio/ })).toBeVisible()
  await expect(page.getByRole('row', { name: /ads/ })).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Export' })).toHaveAttribute('aria-disabled', 'true')
})

test('a budget is changed, says before what it means, and stands at the new sum', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/budgets')
  await page.getByRole('link', { name: /studio project/ }).click()
  await page.getByRole('button', { name: 'Edit budget' }).click()
  await page.getByLabel('Amount ($)').fill('5000')
  await expect(page.getByText('lasts until the end of the period')).toBeVisible()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('$5,000.00 per month').first()).toBeVisible()
  const { body } = await node.control('GET', '/budgets/project:studio', { token: NODE_TOKEN })
  assert.equal(body['limit_usd'], '5000.000000000')
})

test('a price is set where torana.yaml says nothing', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/settings/prices')
  const row = page.getByRole('row', { name: /open-w16/ })
  await row.getByRole('button', { name: 'Set' }).click()
  await page.getByLabel('$ per 1M tokens').fill('0.5')
  await page.getByRole('button', { name: 'Set price' }).click()
  await expect(row).toContainText('$0.5 per 1M tokens')
  await expect(page.getByRole('row', { name: /plain-w16/ }).getByRole('button')).toHaveAttribute(
    'aria-disabled',
    'true',
  )
})

for (const theme of ['light', 'dark'] as const)
  test(`pages about money have no grave problem of accessibility: ${theme}`, async ({ openConsole }) => {
    const { page, go } = await openConsole(node, { theme })
    for (const path of [
      '/usage?before=1',
      '/usage?by=tag:team',
      '/budgets/project/studio',
      '/unknowns?state=resolved',
      '/settings/prices',
    ]) {
      await go(path)
      await assertAccessible(page, `${path} ${theme}`)
    }
    await go('/budgets/project/studio')
    await page.getByRole('button', { name: 'Edit budget' }).click()
    await assertAccessible(page, `budget sheet ${theme}`)
  })

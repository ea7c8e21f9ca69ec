/** The age of the ledger in the browser: how far it is sealed, exported and dropped, and what to do where it is stalled. */
import assert from 'node:assert/strict'
import type { Locator, Page } from '@playwright/test'
import { openPostgres } from '../../server/src/stores/postgres/database.ts'
import type { Schema } from '../src/api/client.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

type Status = Schema<'LedgerStatus'>

const HOUR_MS = 3_600_000
const node = nodeOfFile()

const agoIso = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString()
const ledgerIn = (page: Page): Locator => page.getByRole('region', { name: 'Ledger' })

/** The node's own answer, with what takes days or a broken bucket to come about. */
async function answerWith(page: Page, changed: Partial<Status>): Promise<void> {
  await page.route('**/api/v1/ledger', async (route) => {
    const response = await route.fetch()
    return route.fulfill({ response, json: { ...((await response.json()) as Status), ...changed } })
  })
}

const EXPORTED: Partial<Status> = {
  sealed_through: agoIso(2.5),
  export: 'on',
  exported_through: '2026-11-17',
  exported_days: 412,
  exported_entries: 48_200_000,
  exported_bytes: 4_187_593_113,
  waiting_days: 1,
  keep_days: 400,
  kept_from: '2025-10-01',
}

test('an operator of a new install reads that no hour is sealed, what turns the export on, and that all days are kept', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node, { role: 'operator' })
  await go('/settings/nodes')
  const ledger = ledgerIn(page)
  await expect(ledger).toContainText('No hour yet')
  await expect(ledger).toContainText('Export is off')
  await expect(ledger).toContainText('set ASSETS_URL to a bucket, or ledger.export to true in torana.yaml')
  await expect(ledger).toContainText('All days')
  await expect(ledger).toContainText('No day was dropped.')
  await expect(ledger.getByRole('link', { name: 'The ledger in files' })).toHaveAttribute(
    'href',
    /\/docs\/lake\.md$/,
  )
  assert.deepEqual(complaints, [])
})

test('a ledger that a node of an earlier version holds up is stalled, in the colour of an alarm, with the next step', async ({
  openConsole,
  startNode,
}) => {
  const held = await startNode()
  const database = openPostgres(held.databaseUrl)
  await database.query(
    `INSERT INTO nodes (node_id, host, version) VALUES (gen_random_uuid(), 'gateway-old', '0.0.1')`,
  )
  await database.query(
    `UPDATE ledger_seal SET through = date_trunc('hour', now()) - interval '9 h', sealed_at = now() - interval '7 h'`,
  )
  await database.close()
  const { page, go } = await openConsole(held, { role: 'operator' })
  await go('/settings/nodes')
  const ledger = ledgerIn(page)
  await expect(ledger).toContainText(/Hours before .+ \(\d+ h ago\)/)
  await expect(ledger).toContainText('Next: stop or remove 1 node of an earlier version.')
  await expect(ledger.getByText(/^Stalled for \d h$/)).toHaveClass(/\btext-bad\b/)
})

for (const [state, changed, texts] of [
  [
    'that is exported and dropped in time',
    {},
    [
      /Hours before .+ \(2 h ago\)/,
      'Days before 17 Nov 2026',
      '412 days, 48.2 M entries, 3.9 GB',
      'The last 400 days',
      'Days before 1 Oct 2025 are in files only.',
    ],
  ],
  [
    'whose job fails',
    { sealing_stalled: { step: 'compare', since: agoIso(5.5), earlier_nodes: 0 } },
    ['Stalled for 5 h', 'Next: read why the job reconcile fails in the log of the oldest node.'],
  ],
  [
    'whose files were changed',
    { problem: { says: 'ledger/v1/day=2026-11-16/part-0001.parquet was changed', at: agoIso(3.2) } },
    ['Stalled for 3 h', 'part-0001.parquet was changed', 'Next: fix this in the bucket.'],
  ],
  [
    'whose export is late',
    { waiting_days: 5, export_late: true },
    ['5 complete days waiting', 'Days before 17 Nov 2026', 'Next: check that the oldest node can write'],
  ],
  [
    'whose export was turned off',
    { export: 'off' },
    ['Export is off', 'Days before 17 Nov 2026', '412 days, 48.2 M entries, 3.9 GB'],
  ],
] as const satisfies readonly (readonly [string, Partial<Status>, readonly (string | RegExp)[]])[])
  test(`a ledger ${state} shows how far it is, and the next step`, async ({ openConsole }) => {
    const { page, go } = await openConsole(node)
    await answerWith(page, { ...EXPORTED, ...changed })
    await go('/settings/nodes')
    for (const text of texts) await expect(ledgerIn(page)).toContainText(text)
    if (state === 'that is exported and dropped in time')
      await expect(ledgerIn(page)).not.toContainText(/Next:|Stalled|waiting/)
  })

for (const theme of ['light', 'dark'] as const)
  for (const size of ['desktop', 'phone'] as const)
    test(`a stalled ledger can be read by everybody: ${theme}, ${size}`, async ({ openConsole }) => {
      const { page, go, complaints } = await openConsole(node, { theme, size })
      await answerWith(page, {
        ...EXPORTED,
        sealing_stalled: { step: 'seal', since: agoIso(5.5), earlier_nodes: 2 },
        problem: { says: 'ledger/v1/day=2026-11-16/part-0001.parquet was changed', at: agoIso(3.2) },
      })
      await go('/settings/nodes')
      await ledgerIn(page).getByText('Stalled for 5 h').waitFor()
      await assertAccessible(page, `${theme} ${size}`)
      const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
      assert.equal(scrollWidth, clientWidth)
      assert.deepEqual(complaints, [])
    })

test('a developer does not ask for the ledger', async ({ openConsole }) => {
  const { page, go, asked } = await openConsole(node, { role: 'developer', projects: ['default'] })
  await go('/settings/nodes')
  await expect(page.getByText('Nodes requires the Admin role.')).toBeVisible()
  assert.deepEqual(
    asked.filter((url) => url.endsWith('/api/v1/ledger')),
    [],
  )
})

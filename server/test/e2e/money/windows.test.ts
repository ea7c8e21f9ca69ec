/** Midnight in the middle of the load: the clock of the database, which three nodes follow, is set so that a budget’s window ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { windowOf } from '#core/money/budget.ts'
import { startCluster } from '#test/support/cluster.ts'
import type { Asked } from '#test/support/gateway.ts'
import { movableClock } from '#test/support/moved-database.ts'
import {
  assertAtRest,
  assertLedgerMatches,
  NANO_USD_PER_TOKEN,
  PRICE,
  rowsIn,
  sumOf,
  tokens,
} from './ledger-rows.ts'

const KEYS = { ample: 'key-of-the-project-with-ample-money', spent: 'key-of-the-project-with-a-daily-cent' }
const REQUEST_TOKENS = 10
/** Of load, before midnight and after it. */
const AROUND_MS = 2000
/** How long the nodes may go on with the old clock: each learns the new one from its next heartbeat. */
const CLOCK_MS = 3000
const DAY_MS = 86_400_000

let moveBy: (ms: number) => Promise<void>
const budgetOf = (budgetTokens: number) => ({
  budget: { usd: (budgetTokens * NANO_USD_PER_TOKEN) / 1e9, per: 'day', hard: true },
})
const cluster = await startCluster({
  onDatabase: async (url) => void (moveBy = await movableClock(url)),
  models: { 'paid-w16': { on: 'slow-150', price: PRICE, capabilities: { tokenArrays: true } } },
  projects: {
    ample: { keys: [{ name: 'k', secret: KEYS.ample }], ...budgetOf(1e6) },
    spent: { keys: [{ name: 'k', secret: KEYS.spent }], ...budgetOf(REQUEST_TOKENS) },
  },
})
const { database, provider } = cluster
const ask = (key: string): Promise<Asked> =>
  cluster.ask({ model: 'paid-w16', input: tokens(REQUEST_TOKENS) }, { key })

test('a window that ends under load: each request counts in the window of its acceptance, and the sum is kept', async () => {
  const startedMs = Date.now()
  const midnightMs = startedMs - (startedMs % DAY_MS) + 3 * DAY_MS
  await setClock(midnightMs - DAY_MS / 2)
  assert.equal((await ask(KEYS.spent)).status, 200)
  assert.equal((await ask(KEYS.spent)).body.error?.code, 'budget_exhausted')

  const shiftMs = await setClock(midnightMs - AROUND_MS)
  const answers: Asked[] = []
  const one = async (): Promise<void> => {
    while (Date.now() + shiftMs < midnightMs + AROUND_MS) answers.push(await ask(KEYS.ample))
  }
  await Promise.all(Array.from({ length: 12 }, one))
  for (const { status, text } of answers) assert.equal(status, 200, text)
  assert.equal((await ask(KEYS.spent)).status, 200, 'the new window has no money')
  assert.equal((await ask(KEYS.spent)).body.error?.code, 'budget_exhausted')

  await assertLedgerMatches(database, provider)
  for (const project of ['ample', 'spent']) {
    const rows = await rowsIn(database, project)
    const windows = [midnightMs - 1, midnightMs].map((atMs) => windowOf('day', atMs).startMs)
    const budgets = await assertAtRest(database, `project:${project}`)
    assert.deepEqual(
      budgets.map(({ windowStartMs, spent }) => ({ windowStartMs, spent })),
      windows.map((startMs) => ({
        windowStartMs: startMs,
        spent: sumOf(rows.filter(({ atMs }) => windowOf('day', atMs).startMs === startMs)),
      })),
    )
    assert.ok(budgets.every(({ spent }) => spent > 0))
  }
  const rows = await rowsIn(database, 'ample')
  assert.equal(sumOf(rows), answers.length * REQUEST_TOKENS * NANO_USD_PER_TOKEN)
  // The tables were made before: what they fill in by themselves has the clock of the server.
  const [{ late } = { late: 0n }] = await database.query<{ late: bigint }>(
    `SELECT count(*) AS late FROM usage_events WHERE request_id < $1 AND written_at >= $2`,
    [firstIdAt(midnightMs), new Date(midnightMs - shiftMs)],
  )
  assert.ok(late > 0n, 'no request was accepted before midnight and written after it')
})

/** From a moment from now on, it is so late for the database and its nodes. By how much their clocks go before ours. */
async function setClock(atMs: number): Promise<number> {
  const shiftMs = atMs - Date.now() - CLOCK_MS
  await moveBy(shiftMs)
  await delay(CLOCK_MS)
  return shiftMs
}

/** The smallest UUIDv7 of a moment. */
function firstIdAt(atMs: number): string {
  const hex = atMs.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** Redis forgets everything, or its replies get lost: limits are off by a little for a while, money is not off at all. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startReplyProxy, type ReplyProxy } from '#test/contract/rate-limiter-proxy.ts'
import { startCluster } from '#test/support/cluster.ts'
import type { Asked } from '#test/support/gateway.ts'
import { askPatiently } from '#test/support/patience.ts'
import { eventually } from '#test/support/process.ts'
import {
  assertAtRest,
  assertLedgerMatches,
  assertNoDeadlocks,
  NANO_USD_PER_TOKEN,
  PRICE,
  rowsIn,
  sumOf,
  tokens,
} from './ledger-rows.ts'

const KEYS = {
  soft: 'key-of-the-project-with-a-soft-budget',
  limited: 'key-of-the-project-with-a-rate-limit',
  lossy: 'key-of-the-project-with-lost-replies',
}
const PER_MINUTE = 60
const LOSSY_PER_MINUTE = 600
const REQUEST_TOKENS = 10
const REQUESTS = 300
/** Spent at the end: 60 % of the soft budget, so that half is passed and 80 % only by a figure that was counted twice. */
const SOFT_TOKENS = (REQUESTS * REQUEST_TOKENS) / 0.6

let replies: ReplyProxy | undefined
const cluster = await startCluster({
  redisUrl: async ({ port }) => (replies = await startReplyProxy(port)).url,
  models: { 'paid-w16': { on: 'plain', price: PRICE, capabilities: { tokenArrays: true } } },
  projects: {
    soft: { keys: [{ name: 'k', secret: KEYS.soft }], budget: budgetOf(SOFT_TOKENS, false) },
    limited: { keys: [{ name: 'k', secret: KEYS.limited }], limits: { requestsPerMinute: PER_MINUTE } },
    lossy: {
      keys: [{ name: 'k', secret: KEYS.lossy }],
      limits: { requestsPerMinute: LOSSY_PER_MINUTE },
      budget: budgetOf(1e6, true),
    },
  },
})
const { database, nodes, provider, redis } = cluster

function budgetOf(budgetTokens: number, hard: boolean): object {
  return { usd: (budgetTokens * NANO_USD_PER_TOKEN) / 1e9, per: 'total', hard }
}

/** `count` requests, a few at a time. */
async function askMany(key: string, count: number, atOnce: number): Promise<Asked[]> {
  const answers: Asked[] = []
  let asked = 0
  const one = async (): Promise<void> => {
    while (asked < count) {
      asked += 1
      answers.push(await askPatiently(cluster, { model: 'paid-w16', input: tokens(REQUEST_TOKENS) }, { key }))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  return answers
}

const ledgerSum = async (project: string): Promise<number> => sumOf(await rowsIn(database, project))

/** The spending under the soft budget in Redis; undefined while Redis has lost it. */
async function softFigure(): Promise<number | undefined> {
  const figure = await redis.get('torana:spent:{project:soft}:0')
  return figure === null ? undefined : Number(figure)
}

test('Redis emptied under load on three nodes: the soft budget’s figure is the ledger’s sum, and never more', async () => {
  const state = { isOver: false }
  const load = askMany(KEYS.soft, REQUESTS, 6).finally(() => (state.isOver = true))
  while (!state.isOver) {
    await redis.flushAll()
    await redis.scriptFlush()
    await delay(300)
    const figure = (await softFigure()) ?? 0
    assert.ok(figure <= (await ledgerSum('soft')), 'the figure runs ahead of the ledger')
  }
  for (const { status, text } of await load) assert.equal(status, 200, text)
  const spent = REQUESTS * REQUEST_TOKENS * NANO_USD_PER_TOKEN
  await eventually(async () => assert.equal(await softFigure(), spent))
  assert.equal(await ledgerSum('soft'), spent)

  await eventually(async () => {
    for (const { stdout } of nodes) assert.deepEqual(marksIn(stdout()), [50])
  })
})

test('Redis emptied: a rate limit is whole again, once, and not once for each node', async () => {
  const startedMs = performance.now()
  const before = passed(await askMany(KEYS.limited, 2 * PER_MINUTE, 6))
  await redis.flushAll()
  const after = passed(await askMany(KEYS.limited, 2 * PER_MINUTE, 6))
  // What time has paid off, and what the nodes granted from their shares if Redis was too slow for them.
  const extra = ((performance.now() - startedMs) / 60_000) * PER_MINUTE + PER_MINUTE
  const wasAway = nodes.some(({ stdout }) => stdout().includes('Redis (REDIS_URL) is unreachable'))
  if (!wasAway) assert.ok(Math.min(before, after) >= PER_MINUTE, `only ${before} and ${after} passed`)
  assert.ok(before + after <= 2 * PER_MINUTE + extra, `${before} and ${after} passed`)
})

test('one reply of Redis in twenty is lost: no request fails, no take is repeated, and the ledger is exact', async () => {
  const proxy = replies as ReplyProxy
  let [seen, lost] = [0, 0]
  proxy.swallows = () => {
    seen += 1
    if (seen % 20 !== 0) return false
    lost += 1
    return true
  }
  const answers = await askMany(KEYS.lossy, REQUESTS, 3)
  proxy.swallows = () => false
  for (const { status, text } of answers) assert.equal(status, 200, text)
  assert.ok(lost > 0)

  const [budget] = await assertAtRest(database, 'project:lossy')
  assert.equal(budget?.spent, REQUESTS * REQUEST_TOKENS * NANO_USD_PER_TOKEN)
  // Each lost reply has cost one take at most; a command that was sent again would have cost more and more.
  const value = await redis.get('torana:rate:{lossy}:project:lossy:requests')
  const taken = Number(value?.split(':')[1]) / 60_000_000
  assert.ok(taken <= REQUESTS + lost, `${taken} taken for ${REQUESTS} requests with ${lost} lost replies`)
})

test('every call that was served stands in the ledger once, whatever became of Redis', async () => {
  await assertLedgerMatches(database, provider)
  await assertNoDeadlocks(database)
})

function passed(answers: readonly Asked[]): number {
  for (const { status, body } of answers)
    if (status !== 200) assert.equal(body.error.code, 'rate_limit_exceeded')
  return answers.filter(({ status }) => status === 200).length
}

/** The marks of the soft budget that a node has reported. */
function marksIn(log: string): number[] {
  return log
    .split('\n')
    .filter((line) => line.includes('a budget passed a warning threshold'))
    .map((line) => (JSON.parse(line) as { percent: number }).percent)
}

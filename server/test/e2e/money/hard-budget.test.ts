/** Three processes, one hard budget: they can't see one another, and yet never spend more than it allows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askAt, startCluster, type NodeProcess } from '#test/support/cluster.ts'
import type { Asked } from '#test/support/gateway.ts'
import {
  assertAtRest,
  assertLedgerMatches,
  assertNoDeadlocks,
  NANO_USD_PER_TOKEN,
  PRICE,
  tokens,
  within,
} from './ledger-rows.ts'

const KEYS = {
  ten: 'key-of-the-project-with-money-for-ten',
  rests: 'key-of-the-project-with-rests-everywhere',
}
const REQUEST_TOKENS = 100
/** Time within which the design promises that idle leases are returned. */
const HOME_MS = 2000

const budgetOf = (budgetTokens: number) => ({
  budget: { usd: (budgetTokens * NANO_USD_PER_TOKEN) / 1e9, per: 'total', hard: true },
})
const cluster = await startCluster({
  models: { 'paid-w16': { on: 'slow-20', price: PRICE, capabilities: { tokenArrays: true } } },
  projects: {
    ten: { keys: [{ name: 'k', secret: KEYS.ten }], ...budgetOf(10.5 * REQUEST_TOKENS) },
    rests: { keys: [{ name: 'k', secret: KEYS.rests }], ...budgetOf(10.8 * REQUEST_TOKENS) },
  },
})
const { database, nodes, provider } = cluster

const bodyOf = (count: number) => ({ model: 'paid-w16', input: tokens(count) })
const passed = (answers: readonly Asked[]): number => answers.filter(({ status }) => status === 200).length
const spentBy = async (project: string): Promise<number> => {
  const [budget] = await assertAtRest(database, `project:${project}`)
  return (budget?.spent ?? 0) / NANO_USD_PER_TOKEN
}

test('500 parallel requests over three processes on a hard budget for ten: never more than ten are paid, and exactly ten pass', async () => {
  const ask = (): Promise<Asked> => cluster.ask(bodyOf(REQUEST_TOKENS), { key: KEYS.ten })
  const answers = await Promise.all(Array.from({ length: 500 }, ask))
  assert.ok(provider.counters().served <= 10, `${provider.counters().served} paid calls`)
  await within(HOME_MS, async () => {
    if (passed(answers) < 10) answers.push(await ask())
    assert.equal(passed(answers), 10)
  })
  // Until the last of it is returned, a node reports it as reserved.
  const last = await within(HOME_MS, async () => {
    const refused = await Promise.all(nodes.map(ask))
    for (const { body } of refused) assert.equal(body.error.code, 'budget_exhausted')
    return refused
  })
  for (const answer of [...answers, ...last]) if (answer.status !== 200) assertRefused(answer)
  assert.equal(provider.counters().served, 10)
  assert.equal(await spentBy('ten'), 10 * REQUEST_TOKENS)
})

test('what a node holds and can not use comes home while its callers go on asking', async () => {
  const [first, second, third] = nodes as readonly [NodeProcess, NodeProcess, NodeProcess]
  const askOf = async (node: NodeProcess, count = REQUEST_TOKENS): Promise<Asked> => {
    const asked = await askAt(node.url, bodyOf(count), { key: KEYS.rests })
    // A busy machine may ask its store too late: nothing was decided, and the caller retries, as the header says.
    return asked.status === 503 && asked.headers.get('x-should-retry') === 'true' ? askOf(node, count) : asked
  }
  // Two nodes lease a share for a small request each; the third takes all that is left.
  const answers = [await askOf(first, 10), await askOf(second, 10)]
  answers.push(...(await Promise.all(Array.from({ length: 12 }, () => askOf(third)))))
  await within(HOME_MS, async () => {
    answers.push(...(await Promise.all(nodes.map((node) => askOf(node)))))
    assert.equal(passed(answers), 12)
  })
  for (const answer of answers) if (answer.status !== 200) assertRefused(answer)
  assert.equal(await spentBy('rests'), 10 * REQUEST_TOKENS + 20)
})

test('no row is missing or counted twice, and the nodes never waited for one another in a circle', async () => {
  assert.equal((await assertLedgerMatches(database, provider)).length, 22)
  await assertNoDeadlocks(database)
})

/** A used-up budget is no reason to retry; money that is only reserved is. */
function assertRefused({ status, headers, body, text }: Asked): void {
  assert.equal(status, 429, text)
  const { code } = body.error
  assert.ok(code === 'budget_exhausted' || code === 'budget_reserved', text)
  assert.equal(headers.get('x-should-retry'), String(code === 'budget_reserved'))
  assert.equal(headers.has('retry-after'), code === 'budget_reserved')
  assert.equal(headers.has('retry-after-ms'), code === 'budget_reserved')
}

/**
 * One request that waits for everybody there is to wait for, ended at each of those moments in turn: before the other side
 * has done its part, and after it has done it but its answer is lost.
 */
import { RequestTrace } from '#core/request/request-trace.ts'
import assert from 'node:assert/strict'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import { test } from 'node:test'
import { windowOf, type Budget } from '#core/money/budget.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import { defaultLimits } from '#core/settings.ts'
import type { BudgetStore } from '#ports/budgets.ts'
import type { Ledger } from '#ports/ledger.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { embed } from '#request/embeddings/embed.ts'
import { Leases } from '#request/money/leases.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { MemoryLedgerStore } from '#test/support/stores/ledger-store.ts'
import { MemoryLimiter } from '#stores/memory/limiter.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { plainTraffic } from '#test/support/dispatch.ts'
import { memoryTokens, MemoryUpstream } from '#test/support/embedding.ts'
import { aModel, aRequest } from '#test/support/models.ts'

const identifiers = uuidv7Identifiers(systemClock)
const WINDOW = windowOf('total', 0)
const LIMIT_NANO_USD = 10_000_000n
const BUDGETS: readonly Budget[] = ['project:p', 'key:p/k'].map((id) => ({
  id,
  limitNanoUsd: LIMIT_NANO_USD,
  per: 'total',
  hard: true,
}))

/** Three calls on the first deployment: one is served, one may have been charged, one was not. The second serves the rest. */
const FAILURES = [undefined, 'unreachable', 'failed'] as const
const price = { kind: 'perToken', nanoUsdPerMillionTokens: 1_000_000_000n } as const
const capabilities = { maxInputs: 2 }
const model = aModel({
  facts: { maxInputTokens: 100 },
  deployments: [
    aDeployment({ id: 'first', price, capabilities }),
    aDeployment({ id: 'second', price, capabilities, priority: 1 }),
  ],
})
const request = aRequest({ input: { kind: 'texts', texts: ['one', 'two', 'three', 'four', 'five'] } })

type When = 'before' | 'after'

interface Ended {
  readonly points: readonly string[]
  readonly memory: MemoryLedgerStore
  readonly servedNanoUsd: bigint
}

/** Everybody the request waits for counts as a point; at the given one, waiting ends in an error. */
async function run(endAt: number, when: When): Promise<Ended> {
  const points: string[] = []
  const point = async <Result>(name: string, work: () => Promise<Result> | Result): Promise<Result> => {
    const isEnd = points.push(name) - 1 === endAt
    if (isEnd && when === 'before') throw new StoreUnreachable(`${name} was not reached`)
    const result = await work()
    if (isEnd) throw new StoreUnreachable(`the answer of ${name} was lost`)
    return result
  }

  const memory = new MemoryLedgerStore(systemClock)
  const nodeId = identifiers.next()
  await memory.startNode({ id: nodeId })
  const store: BudgetStore = {
    lease: (question) => point('lease', () => memory.lease(question)),
    giveBack: (lease) => memory.giveBack(lease),
  }
  const leases = new Leases({
    nodeId,
    store,
    clock: systemClock,
    identifiers,
    liveNodes: () => 3,
    budgetInForce: () => undefined,
    isStoreUnreachable: () => false,
  })
  const journal = new Map<string, LedgerEntry>()
  const ledger: Ledger = {
    begin: (open) => point('journal', () => void journal.set(`${open.requestId}/${open.attempt}`, open)),
    forget: (requestId, attempt) => void journal.delete(`${requestId}/${attempt}`),
    write: async (entries) => {
      await point('ledger', () => memory.append(nodeId, entries))
      for (const { requestId, attempt } of entries) journal.delete(`${requestId}/${attempt}`)
    },
  }
  const limiter = new MemoryLimiter(systemClock, () => 1)
  const upstream = new MemoryUpstream({
    plan: ({ deployment }, number) => (deployment.id === 'first' ? FAILURES[number] : undefined),
    usage: ({ deployment }, texts) =>
      deployment.id === 'second' ? { kind: 'unknown' } : { kind: 'measured', tokens: texts.length },
  })
  const limits = [{ id: 'project:p:tokens', project: 'p', unit: 'tokens', perMinute: 1000 }] as const
  const options = {
    requestId: identifiers.next(),
    key: {
      id: 'p/k',
      name: 'k',
      project: 'p',
      models: undefined,
      expiresAtMs: undefined,
      limits,
      budgets: BUDGETS,
    },
    unsupported: undefined,
    pinnedSpace: undefined,
    dryRun: false,
    callerTimeoutMs: undefined,
    cacheUse: 'usual' as const,
    trace: new RequestTrace(0),
  }
  const embedding = embed({ ...request, model: model.id }, options, {
    upstream: { embed: (call) => point('upstream', () => upstream.embed(call)) },
    tokens: {
      count: (...asked) => point('tokenizer', () => memoryTokens.count(...asked)),
      decode: (...asked) => memoryTokens.decode(...asked),
    },
    clock: systemClock,
    ...plainTraffic(),
    identifiers,
    observer: { callEnded: () => {}, overcounted: () => {}, undercounted: () => {}, requestEnded: () => {} },
    limits: defaultLimits,
    catalog: () => ({ models: new Map([[model.id, model]]), retired: new Map(), projects: [] }),
    yieldLoop,
    ledger,
    limiter: {
      take: (takes) => point('limiter', () => limiter.take(takes)),
      correct: limiter.correct.bind(limiter),
    },
    leases,
    underBudget: () => {},
    bytesOf: (text) => Buffer.byteLength(text),
    unsettled: () => {},
  })
  await embedding.catch((error: unknown) => assert.ok(error instanceof Error))
  // Calls in progress when a request fails are left to end.
  for (let round = 0; round < 20; round += 1) await yieldLoop()
  await leases.returnAll()
  // A call that could not be written stays in the journal, which is read when the node has ended.
  if (journal.size > 0) await memory.endNode(nodeId, [...journal.values()])
  const servedTokens = upstream.served.reduce(
    (sum, { call }) => sum + (call.inputs.kind === 'texts' ? call.inputs.texts.length : 0),
    0,
  )
  return { points, memory, servedNanoUsd: BigInt(servedTokens) * 1000n }
}

for (const when of ['before', 'after'] as const) {
  const what = when === 'before' ? 'not reached' : 'done and its answer lost'
  test(`whatever a request waits for is ${what}: nothing stays reserved, and what was served is spent`, async () => {
    const { points } = await run(Infinity, when)
    assert.deepEqual(
      new Set(points),
      new Set(['tokenizer', 'limiter', 'lease', 'journal', 'upstream', 'ledger']),
    )
    for (const [endAt, name] of points.entries()) {
      const { memory, servedNanoUsd } = await run(endAt, when)
      const spentNanoUsd = memory.entries().reduce((sum, entry) => sum + (entry.amountNanoUsd ?? 0n), 0n)
      for (const { id } of BUDGETS) {
        const state = memory.budgetState(id, WINDOW) ?? { leasedNanoUsd: 0n, spentNanoUsd: 0n }
        assert.equal(state.leasedNanoUsd, 0n, `${id} after point ${endAt}, ${name}`)
        assert.equal(state.spentNanoUsd, spentNanoUsd, `${id} after point ${endAt}, ${name}`)
      }
      assert.ok(spentNanoUsd >= servedNanoUsd, `a served call is missing after point ${endAt}, ${name}`)
    }
  })
}

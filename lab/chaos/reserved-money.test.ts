/** A bug that the kill table found once, reproduced at will. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Budget } from '../../server/src/core/money/budget.ts'
import { Fault } from '../../server/src/core/fault/fault.ts'
import { negotiate } from '../../server/src/core/embedding/negotiate.ts'
import type { BudgetStore } from '../../server/src/ports/budgets.ts'
import type { Ledger } from '../../server/src/ports/ledger.ts'
import { StoreUnreachable } from '../../server/src/ports/store.ts'
import { admit, type EmbeddingAdmission as Admission } from '../../server/src/request/embeddings/admit.ts'
import { Leases } from '../../server/src/request/money/leases.ts'
import { systemClock } from '../../server/src/runtime/clock.ts'
import { uuidv7Identifiers } from '../../server/src/runtime/identifiers.ts'
import { aDeployment } from '../../server/test/support/deployments.ts'
import { aModel, aRequest } from '../../server/test/support/models.ts'
import { memoryMoney } from '../../server/test/support/money.ts'

const identifiers = uuidv7Identifiers(systemClock)
/** A nano-dollar a token. */
const model = aModel({
  deployments: [aDeployment({ price: { kind: 'perToken', nanoUsdPerMillionTokens: 1_000_000n } })],
})
const window = { startMs: 0, endMs: 0 }

function budgetOf(limitNanoUsd: bigint): Budget {
  return { id: 'project:tight', limitNanoUsd, per: 'total', hard: true }
}

/** Gateway parts in memory; `store` and `ledger` may wrap the ledger. */
function house(between: { store?: (own: BudgetStore) => BudgetStore; ledger?: (own: Ledger) => Ledger }) {
  const money = memoryMoney()
  let nowMs = 0
  const leases = new Leases({
    nodeId: money.nodeId,
    store: between.store?.(money.memory) ?? money.memory,
    clock: { nowMs: () => systemClock.nowMs(), monotonicMs: () => nowMs },
    identifiers,
    liveNodes: () => 1,
    budgetInForce: () => undefined,
    isStoreUnreachable: () => false,
  })
  const outside = { ...money, leases, ledger: between.ledger?.(money.ledger) ?? money.ledger }
  return {
    leases,
    leasedNanoUsd: () => money.memory.budgetState('project:tight', window)?.leasedNanoUsd,
    passIdleTime: () => (nowMs += 10_000),
    admitted: async (budget: Budget, texts: readonly string[]): Promise<Admission> => {
      const key = {
        id: 'tight/key',
        name: 'key',
        project: 'tight',
        models: undefined,
        expiresAtMs: undefined,
      }
      const request = aRequest({ input: { kind: 'texts', texts } })
      const { offers } = negotiate(request, model, 'refuse')
      const asking = { requestId: identifiers.next(), model, offers, input: request.input }
      return await admit({ ...asking, key: { ...key, limits: [], budgets: [budget] } }, outside)
    },
  }
}

/** With the frame that servers put around a text, it can cost up to twelve. */
const TEXT = 'four'
const MOST = 12n
const [offer] = negotiate(aRequest(), model, 'refuse').offers
assert.ok(offer)

test('a return whose answer was lost is done once, also when the lease was used again before it was repeated', async () => {
  let isAnswerLost = true
  const { leases, leasedNanoUsd, passIdleTime } = house({
    store: (own) => ({
      lease: (question) => own.lease(question),
      async giveBack(lease) {
        await own.giveBack(lease)
        if (isAnswerLost) throw new StoreUnreachable('the answer was lost')
      },
    }),
  })
  const budget = budgetOf(1000n)
  await leases.reserve(budget, 0, 100n)
  leases.release(budget, 0, 100n)
  passIdleTime()
  await leases.returnIdle()
  isAnswerLost = false
  await leases.reserve(budget, 0, 100n)
  passIdleTime()
  await leases.returnIdle()
  assert.equal(leasedNanoUsd(), 100n, 'what a request holds is leased')
})

test('a request that ends while one of its calls fetches more money gives back no more than it held', async () => {
  let isSlow = false
  const slow = Promise.withResolvers<void>()
  const { admitted, leases, leasedNanoUsd } = house({
    store: (own) => ({
      giveBack: (lease) => own.giveBack(lease),
      async lease(question) {
        if (isSlow) await slow.promise
        return own.lease(question)
      },
    }),
  })
  // A quarter of it is leased at first: exactly what the request can cost, with a nano-dollar for rounding.
  const admission = await admitted(budgetOf(4n * (2n * MOST + 1n)), [TEXT, TEXT])
  const input = { kind: 'texts', texts: [TEXT] } as const
  await admission.begin(identifiers.next(), offer, input)
  isSlow = true
  const both = admission.begin(identifiers.next(), offer, { kind: 'texts', texts: [TEXT, TEXT] })
  admission[Symbol.dispose]()
  slow.resolve()
  await both
  await leases.returnAll()
  assert.equal(leasedNanoUsd(), 3n * MOST, 'what two open calls hold is leased, and nothing else')
})

test('what a call left of its reservation is free for others when its entry is durable, not before', async () => {
  const durable = Promise.withResolvers<void>()
  const { admitted } = house({
    ledger: (own) => ({
      begin: (open) => own.begin(open),
      forget: (requestId, attempt) => own.forget(requestId, attempt),
      async write(entries) {
        await durable.promise
        await own.write(entries)
      },
    }),
  })
  const budget = budgetOf(MOST + 2n)
  const first = await admitted(budget, [TEXT])
  const call = await first.begin(identifiers.next(), offer, { kind: 'texts', texts: [TEXT] })
  first.served(call, { kind: 'measured', tokens: 1 })
  const settled = first.settle()
  // If the process dies here, the first call becomes an unknown of twelve.
  await assert.rejects(
    admitted(budget, [TEXT]),
    (error) => error instanceof Fault && error.code === 'budget_reserved',
  )
  durable.resolve()
  await settled
  ;(await admitted(budget, [TEXT]))[Symbol.dispose]()
})

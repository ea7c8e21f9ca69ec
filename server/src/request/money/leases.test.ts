import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import fc from 'fast-check'
import { windowOf, type Budget } from '#core/money/budget.ts'
import { Fault, type FaultCode } from '#core/fault/fault.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { runs } from '#test/support/arbitraries.ts'
import { MemoryLedgerStore } from '#test/support/stores/ledger-store.ts'
import { anEntry } from '#test/support/entries.ts'
import { behind, Link, type Loss } from '#test/support/losing-store.ts'
import { HeldMoney } from './held-money.ts'
import { Leases } from './leases.ts'

const START_MS = Date.UTC(2026, 5, 15, 12)
const BUDGET: Budget = { id: 'project:p', limitNanoUsd: 1000n, per: 'day', hard: true }
const DAY_MS = 86_400_000

interface Node {
  readonly id: string
  readonly link: Link
  readonly leases: Leases
}

/** Nodes on the same ledger, each with its own link, and a clock that does not move. */
async function aWorld(nodes: number) {
  const clock = { atMs: START_MS }
  const time = { nowMs: () => clock.atMs, monotonicMs: () => clock.atMs }
  const identifiers = uuidv7Identifiers(time)
  const memory = new MemoryLedgerStore(time)
  const made: Node[] = []
  for (let count = 0; count < nodes; count += 1) {
    const [id, link] = [identifiers.next(), new Link()]
    await memory.startNode({ id })
    const leases = new Leases({
      nodeId: id,
      store: behind(link, memory),
      clock: time,
      identifiers,
      liveNodes: () => nodes,
      budgetInForce: () => undefined,
      isStoreUnreachable: () => false,
    })
    made.push({ id, link, leases })
  }
  return {
    memory,
    clock,
    identifiers,
    nodes: made as [Node, ...Node[]],
    state: (budget = BUDGET, atMs = START_MS) =>
      memory.budgetState(budget.id, windowOf(budget.per, atMs)) ?? {
        limitNanoUsd: budget.limitNanoUsd,
        spentNanoUsd: 0n,
        leasedNanoUsd: 0n,
      },
  }
}

function isFault(code: FaultCode): (error: unknown) => boolean {
  return (error) => error instanceof Fault && error.code === code
}

/** As admission does it: immediately, or after the store was asked. */
async function reserve({ leases }: Node, amount: bigint, budget = BUDGET, atMs = START_MS): Promise<void> {
  await leases.reserve(budget, atMs, amount)
}

test('of five hundred requests at once over three nodes, those that the budget has money for pass', async () => {
  const { nodes, state } = await aWorld(3)
  for (const { link } of nodes) link.rounds = 2
  const asked = Array.from({ length: 500 }, (_, index) => reserve(nodes[index % 3] as Node, 100n))
  const passed = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled')
  assert.equal(passed.length, 10)
  assert.equal(state().leasedNanoUsd, 1000n)
})

test('a request that finds room asks nobody', async () => {
  const { nodes } = await aWorld(1)
  const [node] = nodes
  await reserve(node, 10n)
  assert.equal(node.link.calls, 1)
  // The first answer brought a quarter of the budget.
  for (let count = 0; count < 24; count += 1)
    assert.equal(node.leases.reserve(BUDGET, START_MS, 10n), undefined)
  assert.equal(node.link.calls, 1)
})

test('all who wait are served by few questions', async () => {
  const { nodes } = await aWorld(1)
  const [node] = nodes
  node.link.rounds = 3
  await Promise.all(Array.from({ length: 50 }, () => reserve(node, 10n)))
  assert.ok(node.link.calls < 15, `${node.link.calls} questions`)
})

test('a refusal says whether waiting helps', async () => {
  const { nodes, memory, clock, identifiers } = await aWorld(2)
  const [first, second] = nodes as [Node, Node]
  await reserve(first, 900n)
  await assert.rejects(reserve(second, 200n), isFault('budget_reserved'))
  await assert.rejects(reserve(second, 1001n), isFault('budget_exhausted'))
  const requestId = identifiers.next()
  await memory.append(first.id, [anEntry({ requestId, amountNanoUsd: 900n, projectLeaseNanoUsd: 900n })])
  clock.atMs += 250
  await assert.rejects(reserve(second, 300n), isFault('budget_exhausted'))
})

test('a flood of requests that do not fit is no flood of questions, and ends when money comes back', async () => {
  const { nodes, clock } = await aWorld(1)
  const [node] = nodes
  await reserve(node, 950n)
  for (let count = 0; count < 100; count += 1)
    await assert.rejects(async () => reserve(node, 100n), isFault('budget_reserved'))
  assert.ok(node.link.calls <= 2, `${node.link.calls} questions`)
  await reserve(node, 50n)
  node.leases.release(BUDGET, START_MS, 950n)
  await reserve(node, 100n)
  node.leases.release(BUDGET, START_MS, 150n)
  clock.atMs += 1000
  await node.leases.returnIdle()
  await reserve(node, 1000n)
})

test('money that comes back ends a refusal, also where it is a part of what is needed', async () => {
  const { nodes } = await aWorld(1)
  const [node] = nodes
  await reserve(node, 600n)
  await assert.rejects(reserve(node, 500n), isFault('budget_reserved'))
  node.leases.release(BUDGET, START_MS, 200n)
  await reserve(node, 500n)
})

test('a raised limit is asked about at once', async () => {
  const { nodes } = await aWorld(1)
  const [node] = nodes
  await assert.rejects(reserve(node, 2000n), isFault('budget_exhausted'))
  await reserve(node, 2000n, { ...BUDGET, limitNanoUsd: 3000n })
})

test('a store that is away is no exhausted budget, and what was leased goes on being spent', async () => {
  const { nodes } = await aWorld(1)
  const [node] = nodes
  await reserve(node, 10n)
  node.link.otherwise = 'before'
  assert.equal(node.leases.reserve(BUDGET, START_MS, 240n), undefined)
  await assert.rejects(reserve(node, 10n), isFault('budget_store_unreachable'))
  node.link.otherwise = 'none'
  await reserve(node, 10n)
})

test('a grant whose answer was lost is used, and refuses nobody who needs more than it', async () => {
  const { nodes, state } = await aWorld(1)
  const [node] = nodes
  node.link.planned.push('after')
  await assert.rejects(reserve(node, 100n), isFault('budget_store_unreachable'))
  assert.equal(state().leasedNanoUsd, 250n)
  await reserve(node, 900n)
  assert.ok(state().leasedNanoUsd <= 1000n)
})

test('what was given back with a lost answer is not given back again', async () => {
  const { nodes, clock, state } = await aWorld(1)
  const [node] = nodes
  await reserve(node, 100n)
  node.leases.release(BUDGET, START_MS, 100n)
  clock.atMs += 1000
  node.link.planned.push('after')
  await node.leases.returnIdle()
  assert.equal(state().leasedNanoUsd, 0n)
  await reserve(node, 400n)
  clock.atMs += 1000
  await node.leases.returnIdle()
  assert.ok(state().leasedNanoUsd >= 400n, 'what is reserved stays leased')
})

test('a lease is kept while it is used and comes home when it is not', async () => {
  const { nodes, clock, state } = await aWorld(1)
  const [node] = nodes
  await reserve(node, 100n)
  clock.atMs += 999
  await node.leases.returnIdle()
  assert.equal(state().leasedNanoUsd, 250n)
  clock.atMs += 1
  await node.leases.returnIdle()
  assert.equal(state().leasedNanoUsd, 100n)
  node.leases.release(BUDGET, START_MS, 100n)
  await node.leases.returnAll()
  assert.equal(state().leasedNanoUsd, 0n)
})

test('a request takes from the window it was accepted in, also after it', async () => {
  const { nodes, clock, state } = await aWorld(1)
  const [node] = nodes
  await reserve(node, 300n)
  clock.atMs += DAY_MS
  await reserve(node, 1000n, BUDGET, clock.atMs)
  assert.equal(state().leasedNanoUsd, 300n)
  assert.equal(state(BUDGET, clock.atMs).leasedNanoUsd, 1000n)
  // Long after, when the window has been forgotten.
  clock.atMs += 120_000
  await node.leases.returnIdle()
  node.leases.release(BUDGET, START_MS, 300n)
  await node.leases.returnIdle()
  clock.atMs += 1000
  await node.leases.returnIdle()
  assert.equal(state().leasedNanoUsd, 0n)
})

type Step =
  | { readonly does: 'reserve'; readonly amount: bigint }
  | { readonly does: 'release' | 'spend'; readonly which: number }
  | { readonly does: 'pass'; readonly ms: number }
  | { readonly does: 'lose'; readonly losses: readonly Loss[] }
  | { readonly does: 'returnIdle' | 'round' }

const loss = fc.constantFrom<Loss>('none', 'before', 'after', 'after')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant('reserve' as const),
      amount: fc.bigInt({ min: 1n, max: 500n }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constantFrom('release' as const, 'spend' as const),
      which: fc.nat(10),
    }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('pass' as const), ms: fc.constantFrom(300, 1000) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('lose' as const),
      losses: fc.array(loss, { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ does: fc.constantFrom('returnIdle' as const, 'round' as const) }) },
)

test('whatever is reserved, spent and lost: never more than the budget, and at rest all of it is home', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(1), step), { minLength: 20, maxLength: 60 }),
      fc.nat(2),
      async (steps, rounds) => {
        const { nodes, memory, clock, identifiers, state } = await aWorld(2)
        for (const { link } of nodes) link.rounds = rounds
        const underWay: Promise<unknown>[] = []
        /** Amounts that requests hold, by node. */
        const held: bigint[][] = [[], []]
        const check = (): void => {
          const { spentNanoUsd, leasedNanoUsd } = state()
          const reserved = held.flat().reduce((sum, amount) => sum + amount, 0n)
          assert.ok(spentNanoUsd + leasedNanoUsd <= 1000n)
          assert.ok(reserved <= leasedNanoUsd, `${reserved} reserved of ${leasedNanoUsd} leased`)
        }
        for (const [index, step] of steps) {
          const [node, own] = [nodes[index] as Node, held[index] as bigint[]]
          switch (step.does) {
            case 'reserve': {
              const asked = reserve(node, step.amount).then(
                () => own.push(step.amount),
                (error: unknown) => assert.ok(error instanceof Fault),
              )
              underWay.push(asked)
              break
            }
            case 'release': {
              const [amount] = own.splice(step.which % Math.max(1, own.length), 1)
              if (amount !== undefined) node.leases.release(BUDGET, START_MS, amount)
              break
            }
            case 'spend': {
              const [amount] = own.splice(step.which % Math.max(1, own.length), 1)
              if (amount === undefined) break
              const cost = amount / 2n
              const requestId = identifiers.next()
              await memory.append(node.id, [
                anEntry({ requestId, amountNanoUsd: cost, projectLeaseNanoUsd: cost }),
              ])
              node.leases.release(BUDGET, START_MS, amount - cost)
              break
            }
            case 'pass':
              clock.atMs += step.ms
              break
            case 'lose':
              node.link.planned.push(...step.losses)
              break
            case 'returnIdle':
              underWay.push(node.leases.returnIdle())
              break
            case 'round':
              await yieldLoop()
          }
          check()
        }
        await Promise.all(underWay)
        // A question may still be in progress for a request that found released money meanwhile.
        for (let round = 0; round < 10; round += 1) await yieldLoop()
        check()
        for (const [index, node] of nodes.entries()) {
          node.link.planned.length = 0
          for (const amount of held[index] ?? []) node.leases.release(BUDGET, START_MS, amount)
          await node.leases.returnAll()
        }
        assert.equal(state().leasedNanoUsd, 0n)
      },
    ),
    runs(1000),
  )
})

test('a request keeps what it set aside when a call lacks money, and gives all of it back once, however often it ends', async () => {
  const { nodes, identifiers, clock } = await aWorld(1)
  const [node] = nodes
  const held = new HeldMoney(node.leases, [BUDGET], identifiers.next())
  await held.setAside(600n)
  await assert.rejects(held.take(1100n), isFault('budget_reserved'))
  // A refusal is remembered for a quarter of a second.
  clock.atMs += 300
  const taken = await held.take(600n)
  await reserve(node, 400n)
  await assert.rejects(reserve(node, 1n), Fault)
  held.giveBack(taken)
  held.end()
  held.end()
  await reserve(node, 600n)
  await assert.rejects(reserve(node, 1n), Fault)
})

test('a lease that a request took from less than a second ago stays; after a second without one it goes back', async () => {
  const { nodes, clock, state } = await aWorld(1)
  const [node] = nodes
  await reserve(node, 1n)
  const leased = state().leasedNanoUsd
  assert.ok(leased > 2n, 'more is leased than was asked for')
  clock.atMs += 900
  await reserve(node, 1n)
  clock.atMs += 999
  await node.leases.returnIdle()
  assert.equal(state().leasedNanoUsd, leased)
  clock.atMs += 1
  await node.leases.returnIdle()
  assert.equal(state().leasedNanoUsd, 2n)
})

test('a lease that a request had to ask the store for counts as used from then on', async () => {
  const { nodes, clock, state } = await aWorld(1)
  const [node] = nodes
  await reserve(node, 1n)
  clock.atMs += 5000
  await reserve(node, state().leasedNanoUsd)
  const leased = state().leasedNanoUsd
  clock.atMs += 999
  await node.leases.returnIdle()
  assert.equal(state().leasedNanoUsd, leased)
  clock.atMs += 1
  await node.leases.returnIdle()
  assert.ok(state().leasedNanoUsd < leased)
})

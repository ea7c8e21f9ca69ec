/** Budgets whose terms change while requests run under them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import fc from 'fast-check'
import { windowOf, type Budget } from '#core/money/budget.ts'
import { Fault } from '#core/fault/fault.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { runs } from '#test/support/arbitraries.ts'
import { MemoryLedgerStore } from '#test/support/stores/ledger-store.ts'
import { anEntry } from '#test/support/entries.ts'
import { behind, Link, type Loss } from '#test/support/losing-store.ts'
import { Leases } from './leases.ts'

/** A Monday: the windows of day and week begin at the same moment. */
const START_MS = Date.UTC(2026, 5, 15, 12)
const FIRST: Budget = { id: 'project:p', limitNanoUsd: 100n, per: 'day', hard: true }

/** What one request holds, and the terms that it reserved under. */
interface Held {
  readonly budget: Budget
  readonly amount: bigint
}

/** Two nodes on the same ledger. `inForce` is what the key directory of both says. */
async function aWorld() {
  const clock = { atMs: START_MS }
  const time = { nowMs: () => clock.atMs, monotonicMs: () => clock.atMs }
  const identifiers = uuidv7Identifiers(time)
  const memory = new MemoryLedgerStore(time)
  const world = { inForce: FIRST, clock, memory, identifiers }
  const nodes = await Promise.all(
    [0, 1].map(async () => {
      const [id, link] = [identifiers.next(), new Link()]
      await memory.startNode({ id })
      const leases = new Leases({
        nodeId: id,
        store: behind(link, memory),
        clock: time,
        identifiers,
        liveNodes: () => 2,
        budgetInForce: () => world.inForce,
        isStoreUnreachable: () => false,
      })
      return { id, link, leases, held: [] as Held[] }
    }),
  )
  return Object.assign(world, { nodes: nodes as [Node, Node] })
}

type World = Awaited<ReturnType<typeof aWorld>>
interface Node {
  readonly id: string
  readonly link: Link
  readonly leases: Leases
  readonly held: Held[]
}

async function outcome(asked: () => Promise<void> | undefined): Promise<string> {
  try {
    await asked()
    return 'granted'
  } catch (error) {
    assert.ok(error instanceof Fault)
    return error.code
  }
}

/** What is spent, and what requests hold, in the window of now. */
async function committed({ memory, nodes, inForce }: World): Promise<bigint> {
  const window = windowOf(inForce.per, START_MS)
  const [spent = 0n] = await memory.spentNanoUsd([{ budgetId: inForce.id, window }])
  return nodes.flatMap(({ held }) => held).reduce((sum, { amount }) => sum + amount, spent)
}

test('a request that ends does not bring back the higher limit under which it began', async () => {
  const world = await aWorld()
  const [{ leases, link }] = world.nodes
  link.rounds = 3
  await leases.reserve(FIRST, START_MS, 8n)
  const lowered = { ...FIRST, limitNanoUsd: 10n }
  world.inForce = lowered
  const two = outcome(() => leases.reserve(lowered, START_MS, 2n))
  const six = outcome(() => leases.reserve(lowered, START_MS, 6n))
  await yieldLoop()
  leases.release(FIRST, START_MS, 1n)
  assert.deepEqual(await Promise.all([two, six]), ['granted', 'budget_reserved'])
  const state = world.memory.budgetState(FIRST.id, windowOf('day', START_MS))
  assert.ok((state?.leasedNanoUsd ?? 0n) <= 10n, `${state?.leasedNanoUsd} of 10 leased`)
})

test('money that was leased under a higher limit, or before other nodes had more, is not spent', async () => {
  const world = await aWorld()
  const [first, second] = world.nodes
  await first.leases.reserve(FIRST, START_MS, 1n)
  world.inForce = { ...FIRST, limitNanoUsd: 1000n }
  await second.leases.reserve(world.inForce, START_MS, 900n)
  // The first node has seen neither change, and holds a part of the budget from before them.
  world.inForce = { ...FIRST }
  assert.equal(await outcome(() => first.leases.reserve(world.inForce, START_MS, 5n)), 'budget_reserved')
})

test('a request that brings older terms is held to the present ones', async () => {
  const world = await aWorld()
  const [{ leases }] = world.nodes
  world.inForce = { ...FIRST, limitNanoUsd: 10n }
  assert.equal(await outcome(() => leases.reserve(FIRST, START_MS, 11n)), 'budget_exhausted')
  assert.equal(await outcome(() => leases.reserve(FIRST, START_MS, 10n)), 'granted')
})

type Step =
  | { readonly does: 'reserve'; readonly amount: bigint; readonly isStale: boolean }
  | { readonly does: 'release' | 'spend'; readonly which: number }
  | { readonly does: 'terms'; readonly limitNanoUsd: bigint; readonly per: Budget['per'] }
  | { readonly does: 'lose'; readonly losses: readonly Loss[] }
  | { readonly does: 'pass' | 'round' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('reserve' as const),
      amount: fc.bigInt({ min: 1n, max: 40n }),
      isStale: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constantFrom('release' as const, 'spend' as const),
      which: fc.nat(10),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('terms' as const),
      limitNanoUsd: fc.constantFrom(10n, 50n, 100n, 300n),
      per: fc.constantFrom<Budget['per']>('day', 'day', 'week', 'month', 'total'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('lose' as const),
      losses: fc.array(fc.constantFrom<Loss>('none', 'before', 'after'), { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ does: fc.constantFrom('pass' as const, 'round' as const) }) },
)

/** As admission does it: by the current terms, or by older ones that the node then corrects. */
async function admitted(world: World, { leases, held }: Node, amount: bigint, given: Budget): Promise<void> {
  const budget = leases.inForce(given)
  if ((await outcome(() => leases.reserve(budget, START_MS, amount))) !== 'granted') return
  held.push({ budget, amount })
  const total = await committed(world)
  const { limitNanoUsd, per } = world.inForce
  // Its period may have changed while it waited. It then counts in the window that it asked for.
  if (budget.per === per) assert.ok(total <= limitNanoUsd, `${total} of ${limitNanoUsd}`)
}

async function take(world: World, node: Node, step: Step, before: Budget): Promise<unknown> {
  const { memory, clock, identifiers } = world
  switch (step.does) {
    case 'reserve':
      return admitted(world, node, step.amount, step.isStale ? before : world.inForce)
    case 'release':
    case 'spend': {
      const [one] = node.held.splice(step.which % Math.max(1, node.held.length), 1)
      if (one === undefined) return
      const cost = step.does === 'spend' ? one.amount / 2n : 0n
      const entry = { requestId: identifiers.next(), amountNanoUsd: cost, projectLeaseNanoUsd: cost }
      if (cost > 0n) await memory.append(node.id, [anEntry(entry)])
      return node.leases.release(one.budget, START_MS, one.amount - cost)
    }
    case 'terms':
      world.inForce = { ...FIRST, limitNanoUsd: step.limitNanoUsd, per: step.per }
      return
    case 'lose':
      node.link.planned.push(...step.losses)
      return
    case 'pass':
      clock.atMs += 1000
      return node.leases.returnIdle()
    case 'round':
      return yieldLoop()
  }
}

test('however limits and periods change, nobody is admitted beyond the limit in force at that moment', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(1), step), { minLength: 20, maxLength: 60 }),
      fc.nat(2),
      async (steps, rounds) => {
        const world = await aWorld()
        for (const { link } of world.nodes) link.rounds = rounds
        const underWay: Promise<unknown>[] = []
        const wrong: unknown[] = []
        let before = FIRST
        for (const [index, step] of steps) {
          // What was granted before is looked at before the terms change.
          if (step.does === 'terms') await yieldLoop()
          const last = world.inForce
          const done = take(world, world.nodes[index] as Node, step, before)
          if (step.does === 'terms') before = last
          if (step.does === 'reserve') underWay.push(done.catch((error: unknown) => wrong.push(error)))
          else await done
        }
        await Promise.all(underWay)
        assert.deepEqual(wrong, [])
        // A question may still be in progress for a request that found released money meanwhile.
        for (let round = 0; round < 10; round += 1) await yieldLoop()
        for (const { link, leases, held } of world.nodes) {
          link.planned.length = 0
          for (const { budget, amount } of held) leases.release(budget, START_MS, amount)
          await leases.returnAll()
        }
        for (const per of ['day', 'week', 'month', 'total'] as const) {
          const state = world.memory.budgetState(FIRST.id, windowOf(per, START_MS))
          assert.equal(state?.leasedNanoUsd ?? 0n, 0n, `a ${per} is still leased`)
        }
      },
    ),
    runs(1000),
  )
})

for (const [what, change, expected] of [
  ['keeps its period', { limitNanoUsd: 200n }, 'granted'],
  ['gets another period', { per: 'month' }, 'budget_reserved'],
  ['becomes soft, with another period', { per: 'month', hard: false }, 'granted'],
] as const)
  test(`a request that began before its budget ${what} is ${expected}`, async () => {
    const world = await aWorld()
    world.inForce = { ...FIRST, ...change }
    const [{ leases }] = world.nodes
    assert.equal(await outcome(() => leases.reserve(FIRST, START_MS, 10n)), expected)
  })

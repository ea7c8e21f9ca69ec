import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import fc from 'fast-check'
import { windowOf, type Budget } from '#core/money/budget.ts'
import type { Input } from '#core/embedding/input.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import type { RateLimit } from '#core/limits/limit.ts'
import { negotiate, type Offer } from '#core/embedding/negotiate.ts'
import { costOf } from '#core/money/price.ts'
import type { Key } from '#ports/keys.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { runs } from '#test/support/arbitraries.ts'
import { MemoryLedgerStore } from '#test/support/stores/ledger-store.ts'
import { MemoryLimiter } from '#stores/memory/limiter.ts'
import { aDeployment } from '#test/support/deployments.ts'
import type { Loss } from '#test/support/losing-store.ts'
import { aModel, aRequest } from '#test/support/models.ts'
import { MemoryJournal, MemorySpool, MoneyNode } from '#test/support/money-node.ts'
import { admit, type AdmissionRequest, type EmbeddingAdmission as Admission } from './admit.ts'

const START_MS = Date.UTC(2026, 5, 15, 12)
const PROJECT: Budget = { id: 'project:p', limitNanoUsd: 1_000_000n, per: 'day', hard: true }
const OWN: Budget = { id: 'key:p/k', limitNanoUsd: 500_000n, per: 'total', hard: true }
const TOKENS: RateLimit = { id: 'project:p:tokens', project: 'p', unit: 'tokens', perMinute: 1_000_000 }
const REQUESTS: RateLimit = { id: 'key:p/k:requests', project: 'p', unit: 'requests', perMinute: 1000 }
const PRICE = { kind: 'perToken', nanoUsdPerMillionTokens: 3_333_333n } as const

const deployment = aDeployment({ price: PRICE })
const model = aModel({ deployments: [deployment] })
const [offer] = negotiate(aRequest(), model, 'refuse').offers as readonly [Offer]

function texts(...all: readonly string[]): Input {
  return { kind: 'texts', texts: all }
}

interface WorldOptions extends Partial<Key> {
  /** Budgets that have changed since the key was read. */
  readonly inForce?: readonly Budget[]
}

async function aWorld({
  budgets = [PROJECT, OWN],
  limits = [TOKENS, REQUESTS],
  inForce = [],
}: WorldOptions = {}) {
  const clock = { nowMs: () => START_MS, monotonicMs: () => 0 }
  const identifiers = uuidv7Identifiers(clock)
  const memory = new MemoryLedgerStore(clock)
  const [journal, spool] = [new MemoryJournal(), new MemorySpool()]
  const limiter = new MemoryLimiter(clock, () => 1)
  const budgetInForce = (id: string): Budget | undefined => inForce.find((budget) => budget.id === id)
  const parts = {
    ledger: memory,
    budgets: memory,
    clock,
    identifiers,
    limiter,
    journal,
    spool,
    budgetInForce,
  }
  const node = await MoneyNode.start(parts)
  const key: Key = {
    id: 'p/k',
    name: 'k',
    project: 'p',
    models: undefined,
    expiresAtMs: undefined,
    limits,
    budgets,
  }
  const leased = (budget: Budget): bigint =>
    memory.budgetState(budget.id, windowOf(budget.per, START_MS))?.leasedNanoUsd ?? 0n
  return {
    memory,
    node,
    journal,
    spool,
    identifiers,
    leased,
    admitted: async (input: Input, more: Partial<AdmissionRequest> = {}): Promise<Admission> =>
      admit({ requestId: identifiers.next(), key, model, offers: [offer], input, ...more }, node.outside),
    key,
    /** The amounts that could be taken now. */
    async remaining(): Promise<readonly number[]> {
      const takes = [TOKENS, REQUESTS].map((limit) => ({ limit, amount: 1 }))
      const { states } = limiter.take(takes)
      return states.map(({ remaining }) => remaining + 1)
    },
    /** Waits until no call is in progress, the store is reachable, and idle leases were returned. */
    async rest(): Promise<void> {
      node.link.planned.length = 0
      for (let round = 0; round < 20; round += 1) await yieldLoop()
      await node.ledger.settled()
      await node.ledger.drain()
      await node.leases.returnAll()
    },
  }
}

type World = Awaited<ReturnType<typeof aWorld>>
type Outcome =
  | { readonly kind: 'served'; readonly share: number }
  | { readonly kind: 'refused' | 'timedOut' | 'fault' }
interface PlannedCall {
  readonly outcome: Outcome
  readonly rounds: number
  readonly bytes: number
}

interface Done {
  /** Sent calls by attempt, with the tokens of those that were served. */
  readonly calls: Map<
    number,
    { readonly outcome: Outcome; readonly tokens: number; readonly unknown: bigint }
  >
  readonly requestIds: Set<string>
  error: unknown
  /** Tokens served, also after the request had ended: what the rate limit is charged. */
  tokens: number
}

/** A request with concurrent calls, as the journey makes them: the first failure ends it, the others continue. */
async function journey(world: World, planned: readonly PlannedCall[]): Promise<Done> {
  const done: Done = { calls: new Map(), requestIds: new Set(), error: undefined, tokens: 0 }
  const inputs = planned.map(({ bytes }) => texts('x'.repeat(bytes)))
  const whole = texts(...planned.map(({ bytes }) => 'x'.repeat(bytes)))
  try {
    using admission = await world.admitted(whole)
    const calls = planned.map(async ({ outcome, rounds, bytes }, index) => {
      const call = await admission.begin(world.identifiers.next(), offer, inputs[index] as Input)
      done.requestIds.add(call.unknown.requestId)
      const tokens = outcome.kind === 'served' ? Math.floor((bytes + 8) * outcome.share) : 0
      done.calls.set(call.attempt, { outcome, tokens, unknown: call.unknown.amountNanoUsd ?? 0n })
      for (let round = 0; round < rounds; round += 1) await yieldLoop()
      if (outcome.kind === 'served') {
        done.tokens += tokens
        return admission.served(call, { kind: 'measured', tokens })
      }
      if (outcome.kind === 'fault') {
        admission.failed(call, undefined)
        throw new Error('a fault of ours')
      }
      const failure = new UpstreamFailure(outcome.kind, 'planned', { deployment: deployment.id })
      admission.failed(call, failure)
      throw failure
    })
    await Promise.all(calls)
    await admission.settle()
  } catch (error) {
    done.error = error
  }
  return done
}

/** Every sent call is in the ledger with its known outcome, or was forgotten, and no money is held any more. */
async function assertAccounted(world: World, done: Done): Promise<void> {
  await world.rest()
  const kept = new Map(world.memory.entries().map((entry) => [`${entry.attempt}/${entry.kind}`, entry]))
  let spent = 0n
  let entries = 0
  for (const [attempt, { outcome, tokens, unknown }] of done.calls) {
    if (outcome.kind === 'refused') continue
    entries += 1
    const entry = kept.get(`${attempt}/${outcome.kind === 'served' ? 'post' : 'unknown'}`)
    const cost = costOf(PRICE, tokens)
    const amount = outcome.kind === 'served' && cost.kind === 'known' ? cost.nanoUsd : unknown
    assert.equal(entry?.amountNanoUsd, amount)
    assert.ok(amount <= unknown, 'more than was reserved')
    spent += amount
  }
  assert.equal(world.memory.entries().length, entries)
  assert.equal(world.journal.size, 0)
  assert.deepEqual([PROJECT, OWN].map(world.leased), [0n, 0n])
  const window = windowOf('day', START_MS)
  assert.deepEqual(await world.memory.spentNanoUsd([{ budgetId: PROJECT.id, window }]), [spent])
  assert.equal(world.memory.budgetState(PROJECT.id, window)?.spentNanoUsd ?? spent, spent)
}

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({ kind: fc.constant('served' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ kind: fc.constantFrom('refused' as const, 'timedOut' as const, 'fault' as const) }),
)
const calls = fc.array(fc.record({ outcome, rounds: fc.nat(6), bytes: fc.integer({ min: 1, max: 5000 }) }), {
  minLength: 1,
  maxLength: 4,
})
const losses = fc.array(fc.constantFrom<Loss>('none', 'none', 'before', 'after'), { maxLength: 6 })

test('however a request ends, its calls are in the ledger, and nothing stays reserved', async () => {
  const budgets = fc.constantFrom([PROJECT, OWN], [PROJECT], [OWN])
  await fc.assert(
    fc.asyncProperty(calls, losses, budgets, fc.nat(2), async (planned, losses, budgets, rounds) => {
      const world = await aWorld({ budgets })
      world.node.link.rounds = rounds
      world.node.link.planned.push(...losses)
      const done = await journey(world, planned)
      await assertAccounted(world, done)
      assert.ok(done.requestIds.size <= 1)
    }),
    runs(500),
  )
})

for (const loss of ['before', 'after'] as const) {
  test(`a store that goes away at any point of a request, ${loss} its work, leaves nothing reserved`, async () => {
    const planned: PlannedCall[] = [
      { outcome: { kind: 'served', share: 0.5 }, rounds: 1, bytes: 1000 },
      { outcome: { kind: 'served', share: 0.1 }, rounds: 3, bytes: 70_000 },
    ]
    for (let point = 0; point < 8; point += 1) {
      const world = await aWorld()
      for (let count = 0; count < point; count += 1) world.node.link.planned.push('none')
      world.node.link.planned.push(loss, loss)
      await assertAccounted(world, await journey(world, planned))
    }
  })
}

test('a journal that can’t be written sends no call and keeps no money', async () => {
  const world = await aWorld()
  world.journal.isFull = true
  const done = await journey(world, [{ outcome: { kind: 'served', share: 1 }, rounds: 0, bytes: 100 }])
  assert.ok(done.error instanceof Fault && done.error.code === 'ledger_unavailable')
  assert.equal(done.calls.size, 0)
  await assertAccounted(world, done)
})

for (const dies of [false, true])
  test(`where nothing can be written no result leaves, and its call stays open with its money until ${dies ? 'its node dies' : 'it is written'}`, async () => {
    const world = await aWorld()
    const admission = await world.admitted(texts('abc'))
    const call = await admission.begin(world.identifiers.next(), offer, texts('abc'))
    world.node.link.otherwise = 'before'
    world.spool.isFull = true
    admission.served(call, { kind: 'measured', tokens: 3 })
    await assert.rejects(async () => admission.settle(), Fault)
    assert.deepEqual(world.journal.calls(), [call.unknown])
    assert.ok(world.leased(PROJECT) >= (call.unknown.amountNanoUsd ?? 0n))
    world.node.link.otherwise = 'none'
    // The call becomes an unknown, and is paid from the lease that was kept for it.
    if (dies) await world.memory.endNode(world.node.id, world.journal.calls())
    else await world.rest()
    assert.equal(world.leased(PROJECT), 0n)
    const [entry] = world.memory.entries()
    assert.deepEqual([entry?.kind, entry?.tokens], dies ? ['unknown', undefined] : ['post', 3])
  })

test('entries that fail after their request has ended are reported', async () => {
  const world = await aWorld()
  const admission = await world.admitted(texts('abc'))
  const call = await admission.begin(world.identifiers.next(), offer, texts('abc'))
  admission[Symbol.dispose]()
  world.node.link.otherwise = 'before'
  world.spool.isFull = true
  admission.served(call, { kind: 'measured', tokens: 3 })
  await world.node.ledger.settled()
  await yieldLoop()
  assert.deepEqual(world.node.unsettled, [call.unknown.requestId])
})

test('a result leaves only when its record is durable', async () => {
  const world = await aWorld()
  world.node.link.rounds = 3
  for (const loss of ['none', 'before'] as const) {
    const admission = await world.admitted(texts('abc'))
    const call = await admission.begin(world.identifiers.next(), offer, texts('abc'))
    world.node.link.planned.push(loss)
    admission.served(call, { kind: 'measured', tokens: 3 })
    const before = world.memory.entries().length + world.spool.waiting
    await admission.settle()
    assert.equal(world.memory.entries().length + world.spool.waiting, before + 1)
  }
})

test('a request that was admitted has money for all its calls, however it is divided', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(300), { minLength: 1, maxLength: 12 }),
      fc.infiniteStream(fc.boolean()),
      async (lengths, cuts) => {
        const all = lengths.map((length) => 'é'.repeat(length))
        const world = await aWorld()
        const admission = await world.admitted(texts(...all))
        const asked = world.node.link.calls
        const runs: string[][] = [[]]
        for (const text of all) {
          if (runs.at(-1)?.length !== 0 && cuts.next().value) runs.push([])
          runs.at(-1)?.push(text)
        }
        await Promise.all(
          runs.map(async (run) => admission.begin(world.identifiers.next(), offer, texts(...run))),
        )
        assert.equal(world.node.link.calls, asked)
      },
    ),
    runs(100),
  )
})

test('a call that needs more than was reserved asks for the rest, also beside others', async () => {
  const world = await aWorld()
  world.node.link.rounds = 2
  const admission = await world.admitted(texts('x'.repeat(1000)))
  // A prefix makes inputs longer than they came, and an unknown has used up what was reserved.
  const sizes = [3000, 900, 50, 2000]
  const begun = await Promise.all(
    sizes.map(async (size) => admission.begin(world.identifiers.next(), offer, texts('x'.repeat(size)))),
  )
  await world.rest()
  const needed = begun.reduce((sum, { unknown }) => sum + (unknown.amountNanoUsd ?? 0n), 0n)
  assert.ok(world.leased(PROJECT) >= needed)
  assert.ok(world.leased(OWN) >= needed)
  for (const call of begun) admission.served(call, { kind: 'measured', tokens: 1 })
  await admission.settle()
  await world.rest()
  assert.deepEqual([PROJECT, OWN].map(world.leased), [0n, 0n])
})

test('a budget without money refuses before anything is sent, and gives back what another budget lent', async () => {
  const poor: Budget = { ...OWN, limitNanoUsd: 1n }
  const world = await aWorld({ budgets: [PROJECT, poor] })
  await assert.rejects(
    world.admitted(texts('x'.repeat(1000))),
    (error) => error instanceof Fault && error.code === 'budget_exhausted',
  )
  await world.rest()
  assert.equal(world.leased(PROJECT), 0n)
  assert.deepEqual(await world.remaining(), [1_000_000, 999])
})

test('the true number of tokens corrects what was taken for them', async () => {
  await fc.assert(
    fc.asyncProperty(calls, async (planned) => {
      const world = await aWorld()
      const done = await journey(world, planned)
      await world.rest()
      assert.deepEqual(await world.remaining(), [1_000_000 - done.tokens, 999])
    }),
    runs(300),
  )
})

test('a request beyond its rate limit is refused with the time to come back, and reserves nothing', async () => {
  const narrow: RateLimit = { ...TOKENS, perMinute: 100 }
  const world = await aWorld({ limits: [narrow, REQUESTS] })
  const first = await world.admitted(texts('x'.repeat(400)))
  assert.equal(first.rates[0]?.remaining, 0)
  const leased = world.leased(PROJECT)
  await assert.rejects(world.admitted(texts('xxxx')), (error) => {
    assert.ok(error instanceof Fault)
    assert.equal(error.code, 'rate_limit_exceeded')
    assert.equal(error.retryAfterMs, 600)
    return true
  })
  await assert.rejects(
    world.admitted(texts('x'.repeat(404))),
    (error) => error instanceof Fault && error.code === 'request_exceeds_rate_limit',
  )
  assert.equal(world.leased(PROJECT), leased)
})

test('a request without limits and hard budgets is admitted at once', async () => {
  const world = await aWorld({ limits: [], budgets: [{ ...PROJECT, hard: false }] })
  const done = await journey(world, [{ outcome: { kind: 'served', share: 1 }, rounds: 0, bytes: 10 }])
  assert.equal(done.error, undefined)
  await assertAccounted(world, done)
  assert.equal(world.memory.entries()[0]?.projectLeaseNanoUsd, 0n)
})

test('what the other calls of a request use after it has failed is taken from its rate limits', async () => {
  const world = await aWorld()
  const admission = await world.admitted(texts('x'.repeat(400), 'y'.repeat(400)))
  const [first, second] = [
    await admission.begin(world.identifiers.next(), offer, texts('x'.repeat(400))),
    await admission.begin(world.identifiers.next(), offer, texts('y'.repeat(400))),
  ]
  admission.failed(first, new UpstreamFailure('refused', 'planned', { deployment: deployment.id }))
  admission[Symbol.dispose]()
  admission.served(second, { kind: 'measured', tokens: 90 })
  await world.rest()
  assert.deepEqual(await world.remaining(), [1_000_000 - 90, 999])
})

test('of a request that another node took over nothing is written, also of calls that end later', async () => {
  const world = await aWorld()
  const admission = await world.admitted(texts('abc', 'def'))
  const [first, second] = [
    await admission.begin(world.identifiers.next(), offer, texts('abc')),
    await admission.begin(world.identifiers.next(), offer, texts('def')),
  ]
  admission.served(first, { kind: 'measured', tokens: 3 })
  admission.abandon()
  admission.failed(second, undefined)
  await world.rest()
  assert.deepEqual([world.memory.entries(), world.journal.size], [[], 0])
  assert.deepEqual([PROJECT, OWN].map(world.leased), [0n, 0n])
})

test('a key that was read before its budget changed is held to the budget of now', async () => {
  const text = texts('x'.repeat(1000))
  const isExhausted = (error: unknown): boolean => error instanceof Fault && error.code === 'budget_exhausted'
  const lowered = { ...PROJECT, limitNanoUsd: 1n }
  const soft = { ...PROJECT, hard: false }
  await assert.rejects((await aWorld({ budgets: [PROJECT], inForce: [lowered] })).admitted(text), isExhausted)
  await assert.rejects((await aWorld({ budgets: [soft], inForce: [lowered] })).admitted(text), isExhausted)
  const world = await aWorld({ budgets: [lowered], inForce: [soft] })
  await (await world.admitted(text)).settle()
  assert.equal(world.leased(PROJECT), 0n)
  const monthly = await aWorld({ budgets: [PROJECT], inForce: [{ ...PROJECT, per: 'month' }] })
  await monthly.admitted(text)
  assert.equal(monthly.leased(PROJECT), 0n)
  assert.ok(monthly.leased({ ...PROJECT, per: 'month' }) > 0n)
})

test('a call is sent under the key of its moment, or not at all', async () => {
  const world = await aWorld({ budgets: [], limits: [] })
  let now: Key | Fault = world.key
  const keyNow = (): Key => {
    if (now instanceof Fault) throw now
    return now
  }
  const admission = await world.admitted(texts('abc', 'abc', 'abc'), { keyNow })
  const begin = async () => admission.begin(world.identifiers.next(), offer, texts('abc'))
  const first = await begin()
  assert.equal(first.unknown.projectLeaseNanoUsd, 0n)
  // A hard budget is set: the next call is held against it.
  now = { ...world.key, budgets: [PROJECT] }
  const second = await begin()
  assert.equal(second.unknown.projectLeaseNanoUsd, second.unknown.amountNanoUsd)
  now = new Fault('key_revoked', 'gone')
  await assert.rejects(begin(), (error) => error === now)
  // Calls sent before are finished and posted, and their unused money goes back to the budget it came from.
  for (const call of [first, second]) admission.served(call, { kind: 'measured', tokens: 3 })
  await admission.settle()
  await world.rest()
  assert.equal(world.leased(PROJECT), 0n)
  assert.equal(world.memory.entries().length, 2)
})

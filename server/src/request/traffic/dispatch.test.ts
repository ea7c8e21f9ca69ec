import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { setImmediate as drained } from 'node:timers/promises'
import fc from 'fast-check'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { RetryBudget } from '#core/schedule/retry-budget.ts'
import { FairQueue, type Place } from '#core/schedule/fair-queue.ts'
import { Scheduler, type Schedulable } from '#core/schedule/scheduler.ts'
import { runs } from '#test/support/arbitraries.ts'
import { Dispatch } from './dispatch.ts'
import type { Turn, TurnRequest } from './turn.ts'

const QUEUE_WAIT_MS = 2000

/** A world whose clock moves only when the test moves it. */
class World {
  nowMs = 1000
  readonly #timers = new Set<{ readonly atMs: number; readonly ring: () => void }>()
  readonly dispatch: Dispatch

  constructor({ maxQueued = 100 } = {}) {
    this.dispatch = new Dispatch({
      scheduler: new Scheduler({ nodes: () => 1 }),
      clock: { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs },
      random: () => 0,
      ownWaitMs: () => 0,
      limits: { queueWaitMs: QUEUE_WAIT_MS, maxQueued },
      newBudget: () => new RetryBudget(),
      after: (ms, ring) => {
        const timer = { atMs: this.nowMs + Math.max(0, ms), ring }
        this.#timers.add(timer)
        return () => void this.#timers.delete(timer)
      },
    })
  }

  get timers(): number {
    return this.#timers.size
  }

  async pass(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms
    for (;;) {
      const [next] = [...this.#timers].toSorted((left, right) => left.atMs - right.atMs)
      if (!next || next.atMs > untilMs) break
      this.#timers.delete(next)
      this.nowMs = Math.max(this.nowMs, next.atMs)
      next.ring()
      await drained()
    }
    this.nowMs = untilMs
    await drained()
  }

  ask(offers: readonly Schedulable[], project = 'one', changes: Partial<TurnRequest> = {}): Asked {
    return new Asked(() => this.dispatch.turn(offers, this.#asked(project, changes)))
  }

  /** A call that may be repeated immediately; one that would have to queue leaves again. */
  again(offers: readonly Schedulable[]): Turn<Schedulable> | 'in line' | undefined {
    const turn = this.dispatch.again(offers, this.#asked('one', {}))
    if (!(turn instanceof Promise)) return turn
    void turn.then(
      (late) => late.giveBack(),
      () => {},
    )
    return 'in line'
  }

  #asked(project: string, changes: Partial<TurnRequest>): TurnRequest {
    return { model: 'm', project, tokens: 1, images: 0, deadlineMs: this.nowMs + 60_000, ...changes }
  }
}

class Asked {
  static #ended = 0
  turn: Turn<Schedulable> | undefined
  fault: Fault | undefined
  ends = 0
  /** Its place among all that got a turn or a fault. */
  order = 0

  constructor(ask: () => Turn<Schedulable> | Promise<Turn<Schedulable>>) {
    const refused = (error: unknown): void => {
      assert.ok(error instanceof Fault, String(error))
      this.fault = error
      this.#end()
    }
    const begun = (turn: Turn<Schedulable>): void => {
      this.turn = turn
      this.#end()
    }
    try {
      const answer = ask()
      if (answer instanceof Promise) void answer.then(begun, refused)
      else begun(answer)
    } catch (error) {
      refused(error)
    }
  }

  #end(): void {
    this.ends += 1
    this.order = Asked.#ended += 1
  }
}

function anOffer(id: string, concurrency = 1): Schedulable {
  return { deployment: { id, priority: 0, weight: 1, limits: { concurrency } }, emulated: [] }
}

/** Calls take 100 ms, one at a time, and the queue is never empty. */
async function keepBusy(world: World, offers: readonly Schedulable[]): Promise<Asked[]> {
  const line = [world.ask(offers), world.ask(offers, 'two'), world.ask(offers, 'three')]
  for (let call = 0; call < 60; call += 1) {
    await world.pass(100)
    line.shift()?.turn?.end()
    await drained()
    line.push(world.ask(offers, `project ${call}`))
  }
  return line
}

function failure(kind: UpstreamFailure['kind'], retryAfterMs?: number): UpstreamFailure {
  return new UpstreamFailure(kind, 'it failed', { deployment: 'a', charge: 'none', retryAfterMs })
}

test('a turn is given at once while there is room, and in order of arrival when there is again', async () => {
  const world = new World()
  const offers = [anOffer('a', 2)]
  const asked = Array.from({ length: 5 }, () => world.ask(offers))
  assert.deepEqual(
    asked.map(({ turn }) => turn !== undefined),
    [true, true, false, false, false],
  )
  for (const [index, { turn }] of asked.entries()) {
    await world.pass(5)
    assert.equal(asked[index + 2]?.turn, undefined)
    turn?.end()
    await drained()
    assert.equal(asked[index + 2]?.turn !== undefined, index + 2 < 5)
  }
})

test('projects are served in turn, however many of one wait', async () => {
  const world = new World()
  const offers = [anOffer('a')]
  let current = world.ask(offers, 'loud')
  const waiting = new Map<string, Asked>()
  for (let number = 0; number < 10; number += 1) waiting.set(`loud ${number}`, world.ask(offers, 'loud'))
  waiting.set('quiet', world.ask(offers, 'quiet'))
  const order: string[] = []
  while (waiting.size > 0) {
    current.turn?.end()
    await drained()
    const next = [...waiting].find(([, { turn }]) => turn)
    assert.ok(next)
    order.push(next[0])
    waiting.delete(next[0])
    current = next[1]
  }
  assert.deepEqual(order.slice(0, 3), ['loud 0', 'quiet', 'loud 1'])
})

test('a request waits as long as it can be served in time, however short calls are', async () => {
  const world = new World()
  const offers = [anOffer('a')]
  await keepBusy(world, offers)
  // One call takes 100 ms and two wait already.
  const patient = Array.from({ length: 16 }, () => world.ask(offers))
  assert.ok(patient.every(({ fault }) => fault === undefined))
})

test('a request that can’t be expected to be served in time is refused at once, and told when to come back', async () => {
  const world = new World()
  const offers = [anOffer('a')]
  await keepBusy(world, offers)
  const asked = Array.from({ length: 60 }, () => world.ask(offers))
  const refused = asked.filter(({ fault }) => fault)
  assert.ok(refused.length >= 30, `${refused.length} were refused`)
  for (const { fault } of refused) {
    assert.equal(fault?.code, 'deployments_busy')
    assert.ok((fault?.retryAfterMs ?? 0) >= QUEUE_WAIT_MS)
  }
})

test('nobody waits longer than the limit, nor beyond their own deadline', async () => {
  const world = new World()
  const offers = [anOffer('a')]
  world.ask(offers)
  const hasty = world.ask(offers, 'one', { deadlineMs: world.nowMs + 300 })
  const patient = world.ask(offers)
  await world.pass(301)
  assert.equal(hasty.fault?.code, 'deployments_busy')
  assert.equal(patient.ends, 0)
  await world.pass(QUEUE_WAIT_MS)
  assert.equal(patient.fault?.code, 'deployments_busy')
})

const nobodies = [
  {
    name: 'at its rate limit for long',
    error: failure('rateLimited', 30_000),
    code: 'upstream_rate_limited',
  },
  { name: 'rejecting our key', error: failure('rejectedUs'), code: 'no_healthy_deployment' },
]
for (const { name, error, code } of nobodies) {
  test(`a model whose only deployment is ${name} is refused with a time or waited for, never called`, async () => {
    const world = new World()
    const offers = [anOffer('a', 10)]
    world.ask(offers).turn?.end(error)
    const asked = world.ask(offers)
    assert.equal(asked.turn, undefined)
    if (asked.fault) {
      assert.equal(asked.fault.code, code)
      assert.ok((asked.fault.retryAfterMs ?? 0) >= 1000)
    } else {
      // The next one is tried when its time has come.
      await world.pass(QUEUE_WAIT_MS)
      assert.equal(asked.ends, 1)
    }
  })
}

test('a call that would wait until its deadline is refused at once where no deployment is ready before it', async () => {
  for (const [changes, isRefused] of [
    [{ isBegun: true }, true],
    [{ isBackground: true }, true],
    [{ isBegun: true, deadlineMs: 60_000 }, false],
  ] as const) {
    const world = new World()
    const offers = [anOffer('a')]
    world.ask(offers).turn?.end(failure('rateLimited', 30_000))
    const { fault, turn } = world.ask(offers, 'one', { deadlineMs: world.nowMs + 29_000, ...changes })
    assert.deepEqual([turn, fault?.code], [undefined, isRefused ? 'upstream_rate_limited' : undefined])
  }
})

test('who waits for an ejection that ends soon is served by its first probe', async () => {
  const world = new World()
  const offers = [anOffer('a', 10)]
  for (let call = 0; call < 5; call += 1) world.ask(offers).turn?.end(failure('failed'))
  const asked = world.ask(offers)
  assert.equal(asked.ends, 0)
  await world.pass(1100)
  assert.ok(asked.turn)
})

test('a line moves when calls that hang no longer count, though none of them ends', async () => {
  const world = new World()
  const offers: Schedulable[] = ['a', 'b'].map((id) => ({
    deployment: { id, priority: 0, weight: 1 },
    emulated: [],
  }))
  for (let call = 0; call < 20; call += 1) {
    const { turn } = world.ask(offers)
    await world.pass(10)
    turn?.end()
  }
  // No call ends any more.
  const hanging = Array.from({ length: 200 }, () => world.ask(offers))
  const asked = hanging.filter(({ ends }) => ends === 0)
  assert.ok(asked.length > 0)
  await world.pass(1500)
  assert.ok(asked.some(({ turn }) => turn))
  await world.pass(QUEUE_WAIT_MS)
  assert.ok(asked.every(({ ends }) => ends === 1))
})

test('calls are made again from the budget alone, and stand in line where there is no room', () => {
  const world = new World()
  const offers = [anOffer('a', 1000)]
  for (let call = 0; call < 100; call += 1) world.ask(offers).turn?.end()
  let retries = 0
  while (world.again(offers)) retries += 1
  assert.ok(retries >= 10 && retries <= 20, `${retries} of 100 were made again`)
  const full = new World()
  assert.ok(full.again([anOffer('a')]))
  assert.equal(full.again([anOffer('a')]), 'in line')
  assert.equal(full.again([]), undefined)
})

test('a call that has no credit to be made again leaves its place to others', () => {
  const world = new World()
  while (world.again([anOffer('roomy', 1000)]));
  const offers = [anOffer('a')]
  assert.equal(world.again(offers), undefined)
  assert.ok(world.ask(offers).turn)
})

test('a call that no deployment can take again costs no credit', () => {
  const world = new World()
  const [failing, healthy] = [anOffer('failing', 1000), anOffer('healthy', 1000)]
  for (let call = 0; call < 5; call += 1) world.ask([failing]).turn?.end(failure('failed'))
  for (let attempt = 0; attempt < 100; attempt += 1) assert.equal(world.again([failing]), undefined)
  assert.ok(world.again([healthy]))
})

test('a call that failed elsewhere and finds the line full is not made again, and nothing is thrown', () => {
  const world = new World({ maxQueued: 2 })
  const offers = [anOffer('a')]
  for (let call = 0; call < 3; call += 1) world.ask(offers)
  assert.equal(world.again(offers), undefined)
})

test('only calls that were made earn credit for others to be made again', async () => {
  const world = new World()
  const offers = [anOffer('a')]
  const first = world.ask(offers)
  await world.pass(10)
  first.turn?.end()
  world.ask(offers)
  await world.pass(1500)
  for (let call = 0; call < 1000; call += 1) world.ask(offers)
  let retries = 0
  while (world.again([anOffer('roomy', 1000)])) retries += 1
  assert.ok(retries <= 6, `${retries} after two calls`)
})

test('callers whose own time is short can’t take a deployment from the others', async () => {
  const world = new World()
  const offers = [anOffer('a', 10)]
  const late = new UpstreamFailure('timedOut', 'no answer in time', { deployment: 'a' })
  for (let call = 0; call < 20; call += 1) {
    const { turn } = world.ask(offers, 'hasty', { deadlineMs: world.nowMs + 10 })
    await world.pass(10)
    turn?.end(late)
  }
  assert.ok(world.ask(offers).turn, 'it is still in service')
  // Timeouts before the caller's time is up are the deployment's own.
  for (let call = 0; call < 20; call += 1) world.ask(offers).turn?.end(late)
  assert.equal(world.ask(offers).turn, undefined)
})

test('who waits for one deployment does not hold up those who can use another', async () => {
  const world = new World()
  const [x, y] = [anOffer('x'), anOffer('y')]
  const [atX, atY] = [world.ask([x]), world.ask([y])]
  const [forX, forBoth] = [world.ask([x], 'one'), world.ask([x, y], 'two')]
  atY.turn?.end()
  await drained()
  assert.equal(forBoth.turn?.offer.deployment.id, 'y')
  assert.equal(forX.ends, 0)
  atX.turn?.end()
  await drained()
  assert.equal(forX.turn?.offer.deployment.id, 'x')
})

test('what is left of a request that has paid for a part is never refused for a long line', async () => {
  const world = new World()
  const offers = [anOffer('a')]
  await keepBusy(world, offers)
  const begun = Array.from({ length: 10 }, () => world.ask(offers, 'one', { isBegun: true }))
  assert.ok(begun.every(({ fault }) => fault === undefined))
  await world.pass(QUEUE_WAIT_MS + 1)
  assert.ok(begun.every(({ fault }) => fault === undefined))
  await world.pass(60_000)
  assert.ok(begun.every(({ fault }) => fault?.code === 'deployments_busy'))
})

const kinds = fc.constantFrom(
  undefined,
  failure('failed'),
  failure('rateLimited'),
  failure('rateLimited', 700),
  failure('rejectedUs'),
  failure('refused'),
  new Fault('internal_error', 'given back'),
)
const actions = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('ask' as const),
        project: fc.constantFrom('x', 'y', 'z'),
        which: fc.constantFrom('a', 'b', 'ab'),
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat(), error: kinds }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(900) }) },
  ),
  { maxLength: 60 },
)

test('everyone who asks gets one turn or one fault, and no more turns are out than there is room', async () => {
  await fc.assert(
    fc.asyncProperty(actions, fc.integer({ min: 1, max: 3 }), async (steps, concurrency) => {
      const world = new World({ maxQueued: 5 })
      const offers = [anOffer('a', concurrency), anOffer('b', 1)]
      const all: Asked[] = []
      const out = new Set<Turn<Schedulable>>()
      const noted = new Set<Asked>()
      const note = (): void => {
        for (const asked of all) {
          if (!asked.turn || noted.has(asked)) continue
          noted.add(asked)
          out.add(asked.turn)
        }
        assert.ok(out.size <= concurrency + 1, `${out.size} turns were out`)
      }
      for (const step of steps) {
        if (step.do === 'ask')
          all.push(
            world.ask(
              offers.filter(({ deployment }) => step.which.includes(deployment.id)),
              step.project,
            ),
          )
        else if (step.do === 'again') {
          const turn = world.again(offers)
          if (typeof turn === 'object') out.add(turn)
        } else if (step.do === 'pass') await world.pass(step.ms)
        else {
          const turn = [...out][step.which % Math.max(1, out.size)]
          if (turn) out.delete(turn)
          turn?.end(step.error)
        }
        await drained()
        note()
      }
      await world.pass(QUEUE_WAIT_MS + 1)
      note()
      // Calls that failed elsewhere stay in the queue for as long as their caller has time.
      await world.pass(60_000)
      for (const { ends } of all) assert.equal(ends, 1)
      for (const waiting of world.dispatch.waiting().values()) assert.equal(waiting, 0)
      assert.equal(world.timers, 0, 'nothing is left to ring')
    }),
    runs(300),
  )
})

test('a text that a firewall forbids takes no deployment from others; a refused credential does', () => {
  const offers = [anOffer('only', 1000)]
  for (const [status, code, isLeft] of [
    [403, undefined, true],
    [403, 'insufficient_quota', false],
    [401, undefined, false],
    [402, undefined, false],
  ] as const) {
    const world = new World()
    const error = new UpstreamFailure('rejectedUs', 'no', { deployment: 'only', status, code })
    world.ask(offers, 'one').turn?.end(error)
    assert.equal(world.ask(offers, 'other').turn !== undefined, isLeft, `${status} ${code}`)
  }
})

test('sixty texts a second on which the upstream fails take the only deployment from no other project', async () => {
  for (const headStartMs of [0, 5000]) {
    const world = new World({ maxQueued: 4096 })
    const offers = [anOffer('only', 1000)]
    const broken = new UpstreamFailure('failed', 'it fails on this text', { deployment: 'only', status: 500 })
    let waited = 0
    const poison: Asked[] = []
    const honest: Asked[] = []
    for (let ms = 0; ms < headStartMs + 20_000; ms += 16) {
      poison.push(world.ask(offers, 'poison'))
      if (ms >= headStartMs && ms % 496 === 0) {
        const asked = world.ask(offers, 'honest')
        honest.push(asked)
        if (asked.turn === undefined) waited += 1
      }
      await world.pass(16)
      for (const { turn } of poison) turn?.end(broken)
      for (const { turn } of honest) turn?.end()
    }
    await world.pass(QUEUE_WAIT_MS)
    const refused = honest.filter(({ turn }) => turn === undefined).length
    assert.equal(refused, 0, `${refused} of ${honest.length} honest calls were refused`)
    // Before the first call of another project, it is not known that only these texts fail.
    assert.ok(waited <= (headStartMs === 0 ? 0 : 4), `${waited} of ${honest.length} honest calls had to wait`)
  }
})

test('a caller that leaves gives up its place at once, and the next one moves up', async () => {
  const world = new World()
  const offers = [anOffer('a')]
  const caller = Object.assign(new EventEmitter(), { destroyed: false })
  const first = world.ask(offers)
  const leaving = world.ask(offers, 'one', { caller })
  const next = world.ask(offers)
  caller.destroyed = true
  caller.emit('close')
  await drained()
  assert.equal(leaving.fault?.code, 'client_closed_request')
  first.turn?.end()
  await drained()
  assert.ok(next.turn)
  assert.equal(leaving.ends, 1)
})

test('a caller that got its turn, or was refused, is not listened to any more', async () => {
  const world = new World()
  const offers = [anOffer('a')]
  const callers = [0, 1].map(() => Object.assign(new EventEmitter(), { destroyed: false }))
  const first = world.ask(offers)
  const [served, refused] = callers.map((caller) => world.ask(offers, 'one', { caller }))
  assert.deepEqual(
    callers.map((caller) => caller.listenerCount('close')),
    [1, 1],
  )
  first.turn?.end()
  await drained()
  assert.ok(served?.turn)
  await world.pass(QUEUE_WAIT_MS)
  assert.equal(refused?.fault?.code, 'deployments_busy')
  assert.deepEqual(
    callers.map((caller) => caller.listenerCount('close')),
    [0, 0],
  )
})

const BACKGROUND = { isBackground: true, deadlineMs: Number.MAX_SAFE_INTEGER }

/** Offers that do not learn how many calls fit. */
function aWideOffer(id: string, limits: Schedulable['deployment']['limits'], priority = 0): Schedulable {
  return {
    deployment: { id, priority, weight: 1, limits: { learnsConcurrency: false, ...limits } },
    emulated: [],
  }
}

test('work that nobody waits for leaves places to those who come next', async () => {
  const world = new World()
  const offers = [aWideOffer('a', { concurrency: 40 })]
  const running = (bulk: readonly { turn?: unknown }[]): number => bulk.filter(({ turn }) => turn).length
  world.ask(offers, 'people').turn?.end()
  const bulk = Array.from({ length: 50 }, () => world.ask(offers, 'bulk', BACKGROUND))
  assert.equal(running(bulk), 38)
  const people = Array.from({ length: 2 }, () => world.ask(offers, 'people'))
  assert.ok(people.every(({ turn }) => turn))
  for (const { turn } of people) turn?.end()
  bulk[0]?.turn?.end()
  await drained()
  assert.equal(running(bulk), 39)
})

test('the busier a deployment is with people, the less is kept free of work that nobody waits for', async () => {
  const world = new World()
  const offers = [aWideOffer('a', { concurrency: 40 })]
  for (let person = 0; person < 31; person += 1) world.ask(offers, 'people')
  const bulk = Array.from({ length: 50 }, () => world.ask(offers, 'bulk', BACKGROUND))
  assert.equal(bulk.filter(({ turn }) => turn).length, 9)
  const few = [aWideOffer('b', { concurrency: 4 })]
  const small = Array.from({ length: 8 }, () => world.ask(few, 'bulk', { ...BACKGROUND, model: 'n' }))
  assert.equal(small.filter(({ turn }) => turn).length, 3)
})

test('a waiting person goes before all work that nobody waits for, however long that has waited', async () => {
  const world = new World()
  const offers = [anOffer('a')]
  const first = world.ask(offers, 'bulk', BACKGROUND)
  const bulk = Array.from({ length: 3 }, () => world.ask(offers, 'bulk', BACKGROUND))
  await world.pass(1000)
  const person = world.ask(offers, 'people')
  first.turn?.end()
  await drained()
  assert.deepEqual([person.turn !== undefined, bulk.some(({ turn }) => turn)], [true, false])
  person.turn?.end()
  await drained()
  assert.equal(bulk.filter(({ turn }) => turn).length, 1)
})

test('work that nobody waits for is never refused for the length of its wait, and gets its turn in the end', async () => {
  const world = new World()
  const offers = [anOffer('a')]
  const person = world.ask(offers)
  const bulk = world.ask(offers, 'bulk', BACKGROUND)
  await world.pass(60_000)
  assert.deepEqual([bulk.turn, bulk.fault], [undefined, undefined])
  person.turn?.end()
  await drained()
  assert.ok(bulk.turn)
  bulk.turn.end()
  assert.equal(world.timers, 0)
})

test('work that nobody waits for takes from the first four fifths of a rate, and rests twice as long after a limit', async () => {
  const world = new World()
  const offers = [aWideOffer('a', { requestsPerMinute: 10 })]
  const bulk = Array.from({ length: 10 }, () => world.ask(offers, 'bulk', BACKGROUND))
  assert.equal(bulk.filter(({ turn }) => turn).length, 8)
  assert.ok(world.ask(offers, 'people').turn)
  const limited = [aWideOffer('b', {})]
  world.ask(limited).turn?.end(failure('rateLimited', 1000))
  const later = world.ask(limited, 'bulk', { ...BACKGROUND, model: 'n' })
  await world.pass(1000)
  assert.ok(world.ask(limited, 'people', { model: 'n' }).turn)
  assert.equal(later.turn, undefined)
  await world.pass(1100)
  assert.ok(later.turn)
})

test('work that nobody waits for does not go to a later tier while the first one is only full', async () => {
  const world = new World()
  const offers = [aWideOffer('a', { concurrency: 1 }), aWideOffer('dear', {}, 1)]
  assert.equal(world.ask(offers, 'bulk', BACKGROUND).turn?.offer.deployment.id, 'a')
  assert.equal(world.ask(offers, 'bulk', BACKGROUND).turn, undefined)
  assert.equal(world.ask(offers, 'people').turn?.offer.deployment.id, 'dear')
})

const combinations = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('ask' as const),
        project: fc.constantFrom('x', 'y', 'z'),
        which: fc.subarray(['a', 'b', 'c'], { minLength: 1 }),
        /** A deployment whose name the configuration changes: calls of before still wait for the old one. */
        suffix: fc.constantFrom('', '', '-renamed'),
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), which: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(900) }) },
  ),
  { minLength: 20, maxLength: 80 },
)

test('a queue serves as if it had always been there, and there is none in which no call waits', async () => {
  const often = runs(300)
  let queued = 0
  await fc.assert(
    fc.asyncProperty(combinations, fc.integer({ min: 0, max: 6 }), async (steps, maxQueued) => {
      const world = new World({ maxQueued })
      /** Queues that are never removed, by their deployments. */
      const plain = new Map<string, FairQueue<Asked>>()
      const waiting = new Map<
        Asked,
        { place: Place<Asked>; queue: FairQueue<Asked>; sinceMs: number; caller: EventEmitter }
      >()
      const out = new Set<Asked>()
      const settle = async (): Promise<void> => {
        await drained()
        const ended = [...waiting.keys()].filter(({ ends }) => ends > 0)
        for (const asked of ended.toSorted((left, right) => left.order - right.order)) {
          const { place, queue, sinceMs } = waiting.get(asked)!
          waiting.delete(asked)
          if (asked.turn === undefined) queue.leave(place)
          else {
            out.add(asked)
            assert.equal(queue.take(sinceMs + asked.turn.waitedMs)?.entry, asked)
          }
        }
        const inUse = [...plain.values()].filter(({ size }) => size > 0).length
        assert.equal(world.dispatch.queues, inUse)
      }
      for (const step of steps) {
        if (step.do === 'ask') {
          const ids = step.which.map((id) => id + step.suffix)
          const queue =
            plain.get(ids.join()) ?? new FairQueue<Asked>({ maxEntries: maxQueued, maxWaitMs: QUEUE_WAIT_MS })
          plain.set(ids.join(), queue)
          const caller = Object.assign(new EventEmitter(), { destroyed: false })
          const asked = world.ask(
            ids.map((id) => anOffer(id)),
            step.project,
            { caller },
          )
          if (asked.turn !== undefined) out.add(asked)
          else {
            const joined = queue.join(step.project, asked, world.nowMs)
            assert.equal(joined.kind === 'refused', asked.fault !== undefined)
            if (joined.kind === 'waiting') {
              waiting.set(asked, { place: joined.place, queue, sinceMs: world.nowMs, caller })
              queued += 1
            }
          }
        } else if (step.do === 'end') {
          const asked = [...out][step.which % Math.max(1, out.size)]
          if (asked) out.delete(asked)
          asked?.turn?.end()
        } else if (step.do === 'leave')
          [...waiting.values()][step.which % Math.max(1, waiting.size)]?.caller.emit('close')
        else await world.pass(step.ms)
        await settle()
      }
      await world.pass(60_000)
      await settle()
      assert.equal(world.dispatch.queues, 0)
      assert.equal(world.timers, 0)
    }),
    often,
  )
  assert.ok(queued > often.numRuns, `${queued} calls waited`)
})

test('calls that wait behind others leave no queue behind, whoever ends it', async () => {
  const world = new World()
  const [a, b] = [anOffer('a'), anOffer('b')]
  const [first, second] = [world.ask([a]), world.ask([b])]
  const caller = Object.assign(new EventEmitter(), { destroyed: false })
  world.ask([b])
  const background = world.ask([a], 'bulk', { ...BACKGROUND, caller })
  assert.equal(world.dispatch.queues, 2)
  // An interactive call waits, so no background queue is served now.
  caller.emit('close')
  await drained()
  assert.equal(background.fault?.code, 'client_closed_request')
  assert.equal(world.dispatch.queues, 1)
  first.turn?.end()
  second.turn?.end()
  await drained()
  assert.equal(world.dispatch.queues, 0)
  assert.equal(world.timers, 0)
})

test('a burst after a pause is refused at the pace that was measured before it', async () => {
  const world = new World()
  const offers = [anOffer('a')]
  const waiting = await keepBusy(world, offers)
  while (waiting.length > 0) {
    await world.pass(100)
    waiting.shift()?.turn?.end()
    await drained()
  }
  assert.equal(world.dispatch.queues, 0)
  await world.pass(5000)
  const burst = Array.from({ length: 60 }, () => world.ask(offers))
  const refused = burst.filter(({ fault }) => fault !== undefined).length
  // Ten per second, for at most two seconds.
  assert.ok(refused > 30, `${refused} of 60 were refused`)
})

test('looking for a queue makes none', async () => {
  const world = new World()
  const offers = ['a', 'b', 'c'].map((id) => anOffer(id))
  for (let turn = world.again(offers); typeof turn === 'object'; turn = world.again(offers)) turn.giveBack()
  const turns = offers.map((offer) => world.ask([offer]).turn)
  const waits = world.ask(offers)
  for (const offer of offers) {
    const asked = { model: 'm', project: 'one', tokens: 1, images: 0, deadlineMs: world.nowMs + 1000 }
    assert.equal(world.dispatch.turnNow([offer], asked), undefined)
    // There is no credit left for a second call.
    assert.equal(world.again([offer]), undefined)
  }
  assert.equal(world.dispatch.queues, 1)
  for (const turn of turns) turn?.end()
  await drained()
  assert.ok(waits.turn)
  assert.equal(world.dispatch.queues, 0)
})

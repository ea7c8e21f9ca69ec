import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { load, type Load, type Second } from '#test/simulation/one-upstream.ts'
import { runs } from '#test/support/arbitraries.ts'
import { AdaptiveLimit } from './adaptive-limit.ts'
import { Latency } from './latency.ts'

const SEEDS = [1, 2, 3]

function mean(seconds: readonly Second[], value: (second: Second) => number): number {
  return seconds.reduce((sum, second) => sum + value(second), 0) / seconds.length
}

/** All seconds from the fourth on, of some seeds. */
function settled(given: Omit<Load, 'seed' | 'forMs'>): readonly Second[] {
  return SEEDS.flatMap((seed) => load({ ...given, seed, forMs: 33_000 }).slice(3))
}

const overloads = [
  { name: 'steady', slots: 20, serviceMs: 50, spread: 0, callsPerSecond: 800 },
  { name: 'noisy', slots: 20, serviceMs: 50, spread: 0.3, callsPerSecond: 800 },
  { name: 'five times too many', slots: 20, serviceMs: 50, spread: 0.2, callsPerSecond: 2000 },
  { name: 'wide', slots: 60, serviceMs: 50, spread: 0.2, callsPerSecond: 2400 },
]

for (const { name, ...given } of overloads) {
  test(`an overloaded upstream gets what it can serve and hardly more (${name})`, () => {
    const seconds = settled(given)
    // The mean of a scattered value is above its median.
    const meanServiceMs = given.serviceMs * Math.exp(given.spread ** 2 / 2)
    const capacity = (given.slots * 1000) / meanServiceMs
    const goodput = mean(seconds, ({ served }) => served) / capacity
    const slowdown = mean(seconds, ({ meanMs }) => meanMs) / meanServiceMs
    const limit = mean(seconds, ({ limit }) => limit)
    assert.ok(goodput >= 0.95, `goodput ${goodput}`)
    assert.ok(slowdown <= 1.5, `${slowdown} times as slow`)
    assert.ok(limit >= given.slots * 0.9 && limit <= given.slots * 1.6, `a mean limit of ${limit}`)
  })
}

const healthy = [
  { name: 'noisy latency', serviceMs: 50, spread: 0.6, callsPerSecond: 1000 },
  { name: 'short and long inputs', serviceMs: 50, spread: 0.3, callsPerSecond: 400, longShare: 0.3 },
  { name: 'a small load', serviceMs: 200, spread: 0.5, callsPerSecond: 30 },
  {
    // Each change is examined once, at the cost of about half a second of calls: the work of a queue.
    name: 'five times slower for reasons of its own, every other ten seconds',
    atMost: 0.03,
    serviceMs: 50,
    spread: 0.3,
    callsPerSecond: 200,
    slownessAt: (nowMs: number) => (nowMs % 20_000 > 10_000 ? 5 : 1),
  },
]

for (const { name, atMost = 0.01, ...given } of healthy) {
  test(`an upstream with room is not throttled (${name})`, () => {
    const seconds = settled({ ...given, slots: undefined })
    const turnedAway = mean(seconds, ({ turnedAway }) => turnedAway) / given.callsPerSecond
    assert.ok(turnedAway <= atMost, `${turnedAway} were turned away`)
  })
}

test('an upstream of two slots is found out within seconds, not after sixty calls wait in it', () => {
  for (const seed of SEEDS) {
    const seconds = load({ slots: 2, serviceMs: 500, callsPerSecond: 10, forMs: 40_000, seed, spread: 0.2 })
    const later = seconds.slice(10)
    assert.ok(mean(later, ({ limit }) => limit) <= 4)
    assert.ok(mean(later, ({ served }) => served) >= 0.85 * 4)
  }
})

test("the operator's cap holds from the first call on", () => {
  for (const concurrency of [1, 3, 30]) {
    const seconds = load({
      slots: 100,
      serviceMs: 50,
      callsPerSecond: 2000,
      forMs: 5000,
      seed: 1,
      concurrency,
    })
    for (const { most } of seconds) assert.ok(most <= concurrency)
    assert.equal(Math.max(...seconds.map(({ most }) => most)), concurrency)
  }
})

test('a limit that is used up grows while only the node is slow, up to where it once stood', () => {
  const adaptive = new AdaptiveLimit(new Latency())
  let nowMs = 0
  const unheard = (calls: number): void => {
    for (let call = 0; call < calls; call += 1) {
      const limit = adaptive.limit(undefined)
      nowMs += 1
      adaptive.endedUnheard({ size: 0, startedMs: nowMs, inFlight: limit, limit }, nowMs)
    }
  }
  unheard(5000)
  assert.equal(adaptive.limit(undefined), 256)
  // The upstream itself reported an overload: that decision stays.
  adaptive.overloaded(nowMs, 20, nowMs)
  assert.equal(adaptive.limit(undefined), 14)
  adaptive.endedUnheard({ size: 0, startedMs: nowMs + 1, inFlight: 5, limit: 14 }, nowMs + 1)
  assert.equal(adaptive.limit(undefined), 14, 'nobody wanted more')
  assert.equal(adaptive.limit(undefined, 40), 40)
  assert.equal(adaptive.limit(30, 40), 30)
})

/** A limit whose deployment usually answers in 100 ms, call by call. */
class Trace {
  readonly #adaptive = new AdaptiveLimit(new Latency())
  readonly #cap: number | undefined
  readonly #nowMs = 0

  constructor(cap?: number) {
    this.#cap = cap
    this.end({ calls: 5, inFlight: 1 })
    this.#adaptive.restart(this.#nowMs)
  }

  get limit(): number {
    return this.#adaptive.limit(this.#cap)
  }

  get isTrying(): boolean {
    return this.#adaptive.limitBefore !== undefined
  }

  recover(): void {
    this.#adaptive.recovered(this.#nowMs)
  }

  /** Calls that were sent and ended now; beside each as many as are allowed, unless `inFlight` says otherwise. */
  end({
    calls = 1,
    durationMs = 100,
    inFlight,
  }: { calls?: number; durationMs?: number; inFlight?: number } = {}): number {
    for (let call = 0; call < calls; call += 1) {
      const [limit, startedMs] = [this.limit, this.#nowMs]
      const ended = { size: 0, startedMs, durationMs, inFlight: inFlight ?? limit, limit }
      this.#adaptive.ended(ended, this.#nowMs, this.#cap)
    }
    return this.limit
  }

  /** Slow calls until a step down is tried or its trial ends: how many there were. */
  untilTried(isTrying: boolean, durationMs: number): number {
    for (let calls = 1; calls < 1000; calls += 1) {
      this.end({ durationMs })
      if (this.isTrying === isTrying) return calls
    }
    throw new Error('nothing was tried')
  }
}

test('after an ejection the limit begins with eight calls, and two calls in time add one', () => {
  const trace = new Trace()
  trace.recover()
  assert.equal(trace.limit, 8)
  assert.deepEqual(
    [1, 1, 1, 1].map(() => trace.end()),
    [8, 9, 9, 10],
  )
})

for (const { usedUp, limit } of [
  { usedUp: 49, limit: 64 + 24 },
  { usedUp: 50, limit: Math.floor((64 + 25) * 1.1 + 1) },
])
  test(`a window of 100 calls of which ${usedUp} used the limit up leaves it at ${limit}`, () => {
    const trace = new Trace()
    trace.end({ calls: 100 - usedUp, inFlight: 1 })
    assert.equal(trace.end({ calls: usedUp }), limit)
  })

test('a limit that grows window after window grows by a tenth four times, and then by half', () => {
  const trace = new Trace()
  trace.end({ calls: 400 })
  assert.equal(trace.limit, 298)
  assert.equal(trace.end({ calls: 100 }), 448)
})

for (const { slower, limit, trialCalls } of [
  { slower: 1.5, limit: 46, trialCalls: 100 },
  { slower: 3, limit: 23, trialCalls: 46 },
  { slower: 4, limit: 21, trialCalls: 42 },
])
  test(`calls ${slower} times as slow step a limit of 64 down to ${limit}, for ${trialCalls} calls, and back if they stay slow`, () => {
    const trace = new Trace(64)
    assert.equal(trace.untilTried(true, 100 * slower), 100)
    assert.equal(trace.limit, limit)
    assert.equal(trace.untilTried(false, 100 * slower), trialCalls)
    assert.equal(trace.limit, 64)
  })

test('while latency follows the limit is stepped down further, to two calls and no further', () => {
  const trace = new Trace(64)
  trace.untilTried(true, 300)
  const limits: number[] = []
  while (trace.isTrying && limits.length < 50) {
    const { limit } = trace
    limits.push(limit)
    for (let calls = 0; trace.isTrying && trace.limit === limit && calls < 200; calls += 1)
      trace.end({ durationMs: (300 * limit) / 64 })
  }
  assert.deepEqual([limits, trace.limit], [[23, 17, 12, 9, 6, 4, 3, 2], 2])
})

test('the limit stays between 2 and 1024 and within the cap, whatever happens', () => {
  const event = fc.record({
    kind: fc.constantFrom('ended' as const, 'overloaded' as const, 'recovered' as const),
    afterMs: fc.nat(3000),
    durationMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    inFlight: fc.integer({ min: 1, max: 2000 }),
    times: fc.integer({ min: 1, max: 120 }),
  })
  const caps = fc.option(fc.integer({ min: 1, max: 3000 }), { nil: undefined })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), caps, (events, cap) => {
      const adaptive = new AdaptiveLimit(new Latency())
      let nowMs = 0
      for (const { kind, afterMs, durationMs, inFlight, times } of events) {
        nowMs += afterMs
        const startedMs = nowMs
        for (let time = 0; time < times; time += 1) {
          const limit = adaptive.limit(cap)
          if (kind === 'ended')
            adaptive.ended({ size: 0, startedMs, durationMs, inFlight, limit }, nowMs, cap)
          else if (kind === 'overloaded') adaptive.overloaded(startedMs, inFlight, nowMs)
          else adaptive.recovered(nowMs)
          const after = adaptive.limit(cap)
          assert.ok(Number.isInteger(after) && after >= Math.min(2, cap ?? 2))
          assert.ok(after <= Math.min(1024, cap ?? 1024))
        }
      }
    }),
    runs(500),
  )
})

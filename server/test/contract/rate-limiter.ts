/** What every `RateLimiter` promises, wherever it counts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { correct, takeAll, UNTOUCHED } from '#core/limits/limit.ts'
import type { RateDebt, RateLimit } from '#core/limits/limit.ts'
import type { RateLimiter } from '#ports/limiter.ts'
import { runs } from '#test/support/arbitraries.ts'

export interface RateLimiterUnderTest {
  readonly limiter: RateLimiter
  /** Its clock, which the test controls. */
  readonly clock: { nowMicroseconds: number }
}

let limits = 0

/** A limit that was never used before. */
export function aLimit(perMinute: number, project = 'search'): RateLimit {
  limits += 1
  return { id: `key:${limits}:requests`, project, unit: 'requests', perMinute }
}

export function rateLimiterSuite(name: string, open: () => Promise<RateLimiterUnderTest>): void {
  test(`${name}: a minute’s worth passes at once, then as much as the time pays off`, async () => {
    const { limiter, clock } = await open()
    const limit = aLimit(7)
    for (let remaining = 6; remaining >= 0; remaining -= 1) {
      const { allowed, states } = await limiter.take([{ limit, amount: 1 }])
      assert.deepEqual([allowed, states[0]?.remaining, states[0]?.retryAfterMs], [true, remaining, 0])
    }
    const refused = await limiter.take([{ limit, amount: 1 }])
    assert.deepEqual(refused, {
      allowed: false,
      states: [{ limit, remaining: 0, resetMs: 60_000, retryAfterMs: 8572 }],
    })
    clock.nowMicroseconds += 8_571_428
    assert.equal((await limiter.take([{ limit, amount: 1 }])).allowed, false)
    clock.nowMicroseconds += 1
    assert.equal((await limiter.take([{ limit, amount: 1 }])).allowed, true)
  })

  test(`${name}: a request that one limit refuses takes nothing from the others`, async () => {
    const { limiter } = await open()
    const [wide, narrow] = [aLimit(100), aLimit(1)]
    const takes = [
      { limit: wide, amount: 10 },
      { limit: narrow, amount: 1 },
    ]
    assert.equal((await limiter.take(takes)).allowed, true)
    for (let again = 0; again < 5; again += 1) {
      const { allowed, states } = await limiter.take(takes)
      assert.equal(allowed, false)
      assert.deepEqual(
        states.map(({ remaining, retryAfterMs }) => [remaining, retryAfterMs]),
        [
          [90, 0],
          [0, 60_000],
        ],
      )
    }
  })

  test(`${name}: more than a minute’s worth is refused without a time to come back`, async () => {
    const { limiter } = await open()
    const limit = aLimit(10)
    const { allowed, states } = await limiter.take([{ limit, amount: 11 }])
    assert.deepEqual([allowed, states[0]?.remaining, states[0]?.retryAfterMs], [false, 10, undefined])
  })

  test(`${name}: a request without limits passes`, async () => {
    const { limiter } = await open()
    assert.deepEqual(await limiter.take([]), { allowed: true, states: [] })
  })

  test(`${name}: limits do not touch one another, whatever their names`, async () => {
    const { limiter } = await open()
    const twins = ['}', '{', '{}', ':', ' ', 'é\n"\\', ''].map((id): RateLimit => ({
      ...aLimit(1),
      id: `key:${id}:requests`,
      project: id,
    }))
    for (const limit of twins) assert.ok((await limiter.take([{ limit, amount: 1 }])).allowed, limit.id)
    for (const limit of twins) assert.ok(!(await limiter.take([{ limit, amount: 1 }])).allowed, limit.id)
  })

  test(`${name}: requests of one moment are decided in their order, each on its own`, async () => {
    const { limiter } = await open()
    const [shared, small] = [aLimit(1000), aLimit(3)]
    const requests = Array.from({ length: 1300 }, (_, index) =>
      index % 100 === 0 ? [small, shared] : [shared],
    )
    const decisions = await Promise.all(
      requests.map(async (limits) => limiter.take(limits.map((limit) => ({ limit, amount: 1 })))),
    )
    // Three of the thirteen that need the small limit pass, and the others leave the shared one alone.
    const allowed = decisions.map(({ allowed }) => allowed)
    assert.equal(allowed.filter(Boolean).length, 1000)
    assert.deepEqual(
      allowed.flatMap((allowed, index) => (index % 100 === 0 && allowed ? [index] : [])),
      [0, 100, 200],
    )
    assert.equal(allowed.indexOf(false), 300)
    assert.equal(allowed.lastIndexOf(true), 1007)
  })

  test(`${name}: an estimate can be corrected both ways, also beyond the limit`, async () => {
    const { limiter, clock } = await open()
    const limit = aLimit(600)
    await limiter.take([{ limit, amount: 500 }])
    limiter.correct(limit, -300)
    limiter.correct(limit, 100)
    const less = await limiter.take([{ limit, amount: 1 }])
    assert.equal(less.states[0]?.remaining, 299)
    limiter.correct(limit, 899)
    const more = await limiter.take([{ limit, amount: 1 }])
    assert.deepEqual([more.allowed, more.states[0]?.retryAfterMs], [false, 60_100])
    clock.nowMicroseconds += 120_000_000
    limiter.correct(limit, -1000)
    const full = await limiter.take([{ limit, amount: 600 }])
    assert.equal(full.allowed, true)
  })

  test(`${name}: what was taken is remembered when the limit is changed`, async () => {
    const { limiter } = await open()
    const limit = aLimit(10)
    await limiter.take([{ limit, amount: 10 }])
    const wider = { ...limit, perMinute: 15 }
    assert.equal((await limiter.take([{ limit: wider, amount: 6 }])).allowed, false)
    assert.equal((await limiter.take([{ limit: wider, amount: 5 }])).allowed, true)
  })

  test(`${name}: every decision is the one that the arithmetic makes`, async () => {
    const { limiter, clock } = await open()
    await fc.assert(
      fc.asyncProperty(sequence, async ({ perMinutes, steps }) => {
        const limits = perMinutes.map((perMinute) => aLimit(perMinute))
        // All are known from the start: one that comes later evicts what is paid off, and that would count again when the
        // clock is set back.
        const first = limits.map((limit) => ({ limit, amount: 1 }))
        await limiter.take(first)
        const begun = takeAll(
          limits.map(() => UNTOUCHED),
          clock.nowMicroseconds,
          first,
        )
        const debts: RateDebt[] = [...begun.debts]
        for (const { afterMicroseconds, corrections, requests } of steps) {
          clock.nowMicroseconds += afterMicroseconds
          for (const { which, part } of corrections) {
            const limit = limits[which] as RateLimit
            const difference = Math.round(part * limit.perMinute)
            limiter.correct(limit, difference)
            debts[which] = correct(debts[which] as RateDebt, clock.nowMicroseconds, limit, difference)
          }
          const takes = requests.map((parts) =>
            parts.flatMap((part, index) => {
              const limit = limits[index]
              if (limit === undefined || part === undefined) return []
              return [{ limit, amount: Math.max(1, Math.round(part * limit.perMinute)) }]
            }),
          )
          const decisions = await Promise.all(takes.map(async (takes) => limiter.take(takes)))
          for (const [position, request] of takes.entries()) {
            const indexes = request.map(({ limit }) => limits.indexOf(limit))
            const expected = takeAll(
              indexes.map((index) => debts[index] as RateDebt),
              clock.nowMicroseconds,
              request,
            )
            assert.deepEqual(decisions[position], expected.decision)
            for (const [place, index] of indexes.entries()) debts[index] = expected.debts[place] as RateDebt
          }
        }
      }),
      runs(400),
    )
  })
}

const part = fc.option(fc.double({ min: 0, max: 0.7, noNaN: true }), { nil: undefined })

const sequence = fc.record({
  perMinutes: fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 150_000_000 })), {
    minLength: 3,
    maxLength: 3,
  }),
  steps: fc.array(
    fc.record({
      // Now and then the clock is set back.
      afterMicroseconds: fc.oneof(
        fc.nat(5),
        fc.nat(2_000_000),
        fc.nat(90_000_000),
        fc.integer({ min: -100_000_000, max: 0 }),
      ),
      corrections: fc.uniqueArray(
        fc.record({ which: fc.nat(2), part: fc.double({ min: -1, max: 1.5, noNaN: true }) }),
        { maxLength: 3, selector: ({ which }) => which },
      ),
      // The takes of each request from the three limits, at least one; corrections are mixed in.
      requests: fc.array(
        fc.tuple(part, part, part).filter((parts) => parts.some((part) => part !== undefined)),
        { minLength: 1, maxLength: 4 },
      ),
    }),
    { minLength: 1, maxLength: 12 },
  ),
})

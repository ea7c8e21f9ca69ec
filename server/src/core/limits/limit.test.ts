import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { correct, isUntouched, takeAll, UNTOUCHED } from './limit.ts'
import type { RateDebt, RateLimit, RateState } from './limit.ts'

const MINUTE = 60_000_000
/** A Unix time of 2026 in microseconds: magnitudes as they come from a real clock. */
const START = 1_794_700_000_123_457
const RUNS = runs(5000)

function aLimit(perMinute: number, id = 'one'): RateLimit {
  return { id, project: 'search', unit: 'tokens', perMinute }
}

function takeOne(
  debt: RateDebt,
  now: number,
  limit: RateLimit,
  amount: number,
  share = 1,
): { readonly allowed: boolean; readonly state: RateState; readonly debt: RateDebt } {
  const { decision, debts } = takeAll([debt], now, [{ limit, amount }], share)
  return {
    allowed: decision.allowed,
    state: decision.states[0] as RateState,
    debt: debts[0] as RateDebt,
  }
}

/** Most do not divide a minute of microseconds. */
const perMinute = fc.oneof(
  fc.integer({ min: 1, max: 100 }),
  fc.integer({ min: 1, max: 150_000_000 }),
  fc.constantFrom(1, 7, 600, 60_007, 5_000_000),
)
const share = fc.constantFrom(1, 1, 1 / 2, 1 / 3, 1 / 7)

interface Step {
  readonly afterMicroseconds: number
  /** As a share of one minute's amount. */
  readonly part: number
}

const steps = fc.array(
  fc.record({
    afterMicroseconds: fc.oneof(fc.nat(3), fc.nat(1_000_000), fc.nat(2 * MINUTE)),
    part: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1.1, noNaN: true })),
  }),
  { maxLength: 30 },
)

function amountOf({ part }: Step, perMinute: number): number {
  return Math.max(1, Math.round(part * perMinute))
}

/** A limit somewhere in its life. */
function lived(limit: RateLimit, steps: readonly Step[], share = 1): { debt: RateDebt; now: number } {
  let debt = UNTOUCHED
  let now = START
  for (const step of steps) {
    now += step.afterMicroseconds
    debt = takeOne(debt, now, limit, amountOf(step, limit.perMinute), share).debt
  }
  return { debt, now }
}

test('no interval sees more than a minute’s worth plus what its length pays off, to the last grain', () => {
  fc.assert(
    fc.property(perMinute, steps, (perMinute, steps) => {
      const limit = aLimit(perMinute)
      let debt = UNTOUCHED
      let now = START
      const admitted: { readonly at: number; readonly amount: number }[] = []
      for (const step of steps) {
        now += step.afterMicroseconds
        const amount = amountOf(step, perMinute)
        const taken = takeOne(debt, now, limit, amount)
        debt = taken.debt
        if (taken.allowed) admitted.push({ at: now, amount })
      }
      for (const [first, { at: from }] of admitted.entries()) {
        let sum = 0n
        for (const { at, amount } of admitted.slice(first)) {
          sum += BigInt(amount)
          assert.ok(sum * BigInt(MINUTE) <= BigInt(perMinute) * BigInt(MINUTE + at - from))
        }
      }
    }),
    RUNS,
  )
})

test('a minute’s worth passes at once, unit by unit, and not one more', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3000 }), (perMinute) => {
      const limit = aLimit(perMinute)
      let debt = UNTOUCHED
      for (let taken = 0; taken < perMinute; taken += 1) {
        const next = takeOne(debt, START, limit, 1)
        assert.ok(next.allowed, `${taken} of ${perMinute}`)
        debt = next.debt
      }
      assert.ok(!takeOne(debt, START, limit, 1).allowed)
    }),
    runs(200),
  )
})

test('a busy limit admits its whole rate: nothing is lost to rounding', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 700 }), fc.integer({ min: 1, max: 999 }), (perMinute, everyMs) => {
      const limit = aLimit(perMinute)
      let { debt } = takeOne(UNTOUCHED, START, limit, perMinute)
      let admitted = 0
      for (let ms = everyMs; ms <= 60_000; ms += everyMs) {
        // As many as fit at each look.
        for (;;) {
          const next = takeOne(debt, START + ms * 1000, limit, 1)
          debt = next.debt
          if (!next.allowed) break
          admitted += 1
        }
      }
      const lastMs = Math.floor(60_000 / everyMs) * everyMs
      assert.equal(admitted, Math.floor((perMinute * lastMs) / 60_000))
    }),
    runs(200),
  )
})

test('remaining is exact: that amount passes, one more does not', () => {
  fc.assert(
    fc.property(perMinute, steps, (perMinute, steps) => {
      const limit = aLimit(perMinute)
      const { debt, now } = lived(limit, steps)
      const { state } = takeOne(debt, now, limit, perMinute + 1)
      assert.ok(takeOne(debt, now, limit, state.remaining).allowed)
      assert.ok(!takeOne(debt, now, limit, state.remaining + 1).allowed)
      const after = takeOne(debt, now, limit, state.remaining)
      assert.equal(after.state.remaining, 0)
    }),
    RUNS,
  )
})

test('retryAfterMs is honest: refused a millisecond before, allowed at it', () => {
  fc.assert(
    fc.property(
      perMinute,
      steps,
      fc.double({ min: 0, max: 1, noNaN: true }),
      share,
      (perMinute, steps, part, share) => {
        const limit = aLimit(perMinute)
        const { debt, now } = lived(limit, steps, share)
        const amount = amountOf({ afterMicroseconds: 0, part }, perMinute)
        const { allowed, state } = takeOne(debt, now, limit, amount, share)
        assert.equal(state.retryAfterMs === 0, allowed)
        assert.ok(state.retryAfterMs !== undefined)
        if (allowed) return
        assert.ok(takeOne(debt, now + state.retryAfterMs * 1000, limit, amount, share).allowed)
        assert.ok(!takeOne(debt, now + (state.retryAfterMs - 1) * 1000, limit, amount, share).allowed)
      },
    ),
    RUNS,
  )
})

test('resetMs is honest: untouched at it, not a millisecond before', () => {
  fc.assert(
    fc.property(perMinute, steps, share, (perMinute, steps, share) => {
      const limit = aLimit(perMinute)
      const { debt, now } = lived(limit, steps, share)
      const { resetMs } = takeOne(debt, now, limit, perMinute + 1, share).state
      assert.ok(isUntouched(debt, now + resetMs * 1000, limit, share))
      if (resetMs > 0) assert.ok(!isUntouched(debt, now + (resetMs - 1) * 1000, limit, share))
    }),
    RUNS,
  )
})

test('more than a minute’s worth never passes, and no time is promised for it', () => {
  fc.assert(
    fc.property(perMinute, share, fc.nat(1000), (perMinute, share, more) => {
      const { allowed, state } = takeOne(UNTOUCHED, START, aLimit(perMinute), perMinute + 1 + more, share)
      assert.ok(!allowed)
      assert.equal(state.retryAfterMs, undefined)
    }),
    RUNS,
  )
})

test('a request takes from all of its limits or from none', () => {
  const limits = fc.array(fc.tuple(perMinute, steps, fc.double({ min: 0, max: 1.1, noNaN: true })), {
    minLength: 1,
    maxLength: 5,
  })
  fc.assert(
    fc.property(limits, (limits) => {
      const now = START + 70 * MINUTE
      const takes = limits.map(([perMinute, , part], index) => ({
        limit: aLimit(perMinute, String(index)),
        amount: amountOf({ afterMicroseconds: 0, part }, perMinute),
      }))
      const debts = takes.map(({ limit }, index) => lived(limit, limits[index]?.[1] ?? []).debt)
      const alone = takes.map(({ limit, amount }, index) =>
        takeOne(debts[index] as RateDebt, now, limit, amount),
      )
      const { decision, debts: after } = takeAll(debts, now, takes)
      assert.equal(
        decision.allowed,
        alone.every(({ allowed }) => allowed),
      )
      for (const [index, { limit, amount }] of takes.entries()) {
        const before = debts[index] as RateDebt
        assert.deepEqual(after[index], decision.allowed ? correct(before, now, limit, amount) : before)
        // The limit that refuses says when; the others would have allowed it.
        assert.equal(decision.states[index]?.retryAfterMs, alone[index]?.state.retryAfterMs)
      }
    }),
    RUNS,
  )
})

test('taking an estimate and correcting it is the same as taking the truth', () => {
  fc.assert(
    fc.property(
      perMinute,
      steps,
      fc.nat(1_000_000),
      fc.nat(1_000_000),
      (perMinute, steps, estimate, truth) => {
        const limit = aLimit(perMinute)
        const { debt, now } = lived(limit, steps)
        const corrected = correct(correct(debt, now, limit, estimate), now, limit, truth - estimate)
        assert.deepEqual(corrected, correct(debt, now, limit, truth))
      },
    ),
    RUNS,
  )
})

test('giving back never leaves more than a minute’s worth', () => {
  const limit = aLimit(600)
  const { debt } = takeOne(UNTOUCHED, START, limit, 10)
  const after = correct(debt, START, limit, -1000)
  assert.ok(isUntouched(after, START, limit))
  assert.equal(takeOne(after, START, limit, 1).state.remaining, 599)
})

test('what was taken beyond the limit is waited for', () => {
  const limit = aLimit(600)
  const overdrawn = correct(UNTOUCHED, START, limit, 1500)
  const { allowed, state } = takeOne(overdrawn, START, limit, 1)
  assert.deepEqual([allowed, state.remaining, state.resetMs, state.retryAfterMs], [false, 0, 150_000, 90_100])
})

test('a clock that is set back locks no caller out for longer than the debt itself', () => {
  fc.assert(
    fc.property(perMinute, fc.integer({ min: 1, max: 48 * 60 * MINUTE }), (perMinute, back) => {
      const limit = aLimit(perMinute)
      const full = takeOne(UNTOUCHED, START, limit, perMinute)
      const refused = takeOne(full.debt, START - back, limit, 1)
      assert.ok(!refused.allowed)
      assert.ok(takeOne(refused.debt, START - back + MINUTE, limit, perMinute).allowed)
    }),
    RUNS,
  )
})

test('shares of all nodes together are the limit, within half a unit a node', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 64 }), (perMinute, nodes) => {
      const { state } = takeOne(UNTOUCHED, START, aLimit(perMinute), perMinute + 1, 1 / nodes)
      assert.ok(state.remaining >= 1)
      if (perMinute >= nodes) assert.ok(Math.abs(state.remaining * nodes - perMinute) <= nodes / 2)
    }),
    RUNS,
  )
})

test('a take larger than a node’s share passes once and is paid off at the rate of the share', () => {
  const limit = aLimit(600)
  const first = takeOne(UNTOUCHED, START, limit, 500, 1 / 3)
  assert.ok(first.allowed)
  assert.deepEqual([first.state.remaining, first.state.resetMs], [0, 150_000])
  const second = takeOne(first.debt, START, limit, 500, 1 / 3)
  assert.deepEqual([second.allowed, second.state.retryAfterMs], [false, 150_000])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { sizeName, type CallSize } from './call-size.ts'
import { PROBE_SHARE, ProbeBudget, type SizeProbed } from './probe-budget.ts'
import { probeTokens } from './probe-calls.ts'

const EVERY_MS = 20_000
const SECOND_MS = 1000

/** Seconds of traffic: each is a list of calls. Returns the probes that it pays for, with the second of each. */
function probesOf(seconds: Iterable<readonly CallSize[]>, cost: (size: CallSize) => number = probeTokens) {
  const budget = new ProbeBudget()
  const probedMs = new Map<string, number>()
  const probes: { readonly atMs: number; readonly size: CallSize; readonly isNew: boolean }[] = []
  let [nowMs, tokens, spent] = [0, 0, 0]
  for (const calls of seconds) {
    for (const call of calls) budget.earn(call.tokens, call, nowMs)
    tokens += calls.reduce((sum, call) => sum + call.tokens, 0)
    const probed = (name: string): SizeProbed => {
      const agoMs = nowMs - (probedMs.get(name) ?? -Infinity)
      return { isNew: agoMs === Infinity, isDue: agoMs >= EVERY_MS, agoMs }
    }
    const size = budget.choose(probed, nowMs)
    if (size !== undefined) {
      probes.push({ atMs: nowMs, size, isNew: !probedMs.has(sizeName(size)) })
      probedMs.set(sizeName(size), nowMs)
      budget.spend(cost(size), size)
      spent += cost(size)
    }
    nowMs += SECOND_MS
  }
  return { probes, tokens, spent }
}

const call = fc
  .record({ inputs: fc.constantFrom(1, 2, 7, 32, 64, 500), each: fc.constantFrom(3, 20, 300) })
  .map(({ inputs, each }) => ({ inputs, tokens: inputs * each }))

test('whatever the traffic, probes of its sizes have at most half a percent of its tokens', () => {
  const traffic = fc.array(fc.tuple(call, fc.integer({ min: 0, max: 400 })), { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(traffic, (seconds) => {
      const { tokens, spent } = probesOf(
        seconds.map(([size, count]) => Array.from({ length: count }, () => size)),
      )
      assert.ok(spent <= tokens * PROBE_SHARE, `${spent} of ${tokens}`)
    }),
    runs(200),
  )
})

test('a probe that costs more than was expected is saved up for before the next one', () => {
  const large = { inputs: 64, tokens: 2048 }
  const seconds = Array.from({ length: 600 }, () => Array.from({ length: 30 }, () => large))
  const { spent, tokens, probes } = probesOf(seconds, (size) => 3 * probeTokens(size))
  assert.ok(probes.length > 3)
  assert.ok(spent <= tokens * PROBE_SHARE + 2 * probeTokens(large))
})

test('from ten large calls a second on, each 20 seconds pay for a probe of their size; below, 200 calls pay for one', () => {
  const large = { inputs: 64, tokens: 2048 }
  for (const [perSecond, everyMs] of [
    [100, 20_000],
    [10, 20_000],
    // A little cheaper than 200 calls: the probe texts are short.
    [1, 198_000],
  ] as const) {
    const seconds = Array.from({ length: 1000 }, () => Array.from({ length: perSecond }, () => large))
    const { probes } = probesOf(seconds)
    const pauses = probes.slice(1).map(({ atMs }, index) => atMs - (probes[index]?.atMs ?? 0))
    for (const pauseMs of pauses)
      assert.ok(Math.abs(pauseMs - everyMs) <= SECOND_MS, `${perSecond}: ${pauseMs}`)
    assert.ok((probes[0]?.atMs ?? Infinity) <= everyMs, `${perSecond}`)
  }
})

test('a size that was not seen before is probed first, at once where enough was saved', () => {
  const small = { inputs: 1, tokens: 400 }
  const large = { inputs: 64, tokens: 2048 }
  const seconds = Array.from({ length: 200 }, (_, second) =>
    second < 100 ? Array.from({ length: 50 }, () => small) : [small, large],
  )
  const { probes } = probesOf(seconds)
  assert.deepEqual(probes.find(({ size }) => size.inputs === 64)?.atMs, 100_000)
})

test('frequent small calls do not use up what large ones have earned', () => {
  const seconds = Array.from({ length: 4000 }, () => [
    ...Array.from({ length: 100 }, () => ({ inputs: 1, tokens: 20 })),
    ...Array.from({ length: 5 }, () => ({ inputs: 4, tokens: 80 })),
    { inputs: 64, tokens: 2048 },
  ])
  const { probes } = probesOf(seconds)
  const large = probes.filter(({ size }) => size.inputs === 64)
  assert.ok(large.length >= 18 && large.length <= 22, `${large.length}`)
  assert.ok(probes.filter(({ size }) => size.inputs === 1).length > 50)
})

test('a probe has the largest call of its size since the last one, and no size is probed that callers left long ago', () => {
  const budget = new ProbeBudget()
  const never = (): SizeProbed => ({ isNew: true, isDue: true, agoMs: Infinity })
  for (const [inputs, tokens] of [
    [64, 2100],
    [127, 2048],
    [70, 4000],
  ] as const)
    budget.earn(tokens, { inputs, tokens }, 0)
  budget.earn(10_000_000, undefined, 0)
  assert.deepEqual(budget.choose(never, 0), { inputs: 127, tokens: 4000 })
  budget.spend(3000, { inputs: 127, tokens: 4000 })
  assert.equal(budget.choose(never, 0), undefined)
  budget.earn(2100, { inputs: 64, tokens: 2100 }, 1000)
  assert.deepEqual(budget.choose(never, 1000 + 10 * 60_000), { inputs: 64, tokens: 2100 })
  assert.equal(budget.choose(never, 1001 + 10 * 60_000), undefined)
})

test('what a busy night has earned does not pay for a quiet day', () => {
  const large = { inputs: 64, tokens: 200_000 }
  const budget = new ProbeBudget()
  budget.earn(1e12, undefined, 0)
  let probes = 0
  for (; probes < 10; probes += 1) {
    budget.earn(200_000, large, probes)
    const size = budget.choose(() => ({ isNew: true, isDue: true, agoMs: Infinity }), probes)
    if (size === undefined) break
    budget.spend(probeTokens(size), size)
  }
  assert.equal(probes, 1)
})

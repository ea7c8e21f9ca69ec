import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { tokensOf } from '../../../../lab/fake-provider/vectors.ts'
import { fillText, probeCalls, probeTokens } from './probe-calls.ts'
import { PROBE_TEXTS } from './probe-texts.ts'

const size = fc.record({
  inputs: fc.integer({ min: 1, max: 300 }),
  tokens: fc.integer({ min: 1, max: 20_000 }),
})
const turn = fc.nat(5000)
const tokensIn = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + tokensOf(text), 0)

test('every probe has each text exactly once, letter by letter, in calls with exactly as many inputs as the traffic', () => {
  fc.assert(
    fc.property(size, turn, (asked, at) => {
      const calls = probeCalls(asked, at)
      const places = calls.flatMap((call) => [...call.places].map(([text, place]) => ({ call, text, place })))
      assert.deepEqual(places.map(({ text }) => text).toSorted(), [...PROBE_TEXTS.keys()])
      for (const { call, text, place } of places) assert.equal(call.texts[place], PROBE_TEXTS[text])
      for (const { texts } of calls) assert.equal(texts.length, asked.inputs)
    }),
    runs(300),
  )
})

test('of a call with several inputs at least half are as long as the traffic’s, and its cost is about what was said', () => {
  fc.assert(
    fc.property(size, turn, (asked, at) => {
      const calls = probeCalls(asked, at)
      const mean = Math.ceil(asked.tokens / asked.inputs)
      for (const { texts, places } of calls) {
        const fillers = texts.filter((_, place) => ![...places.values()].includes(place))
        if (asked.inputs > 1) assert.ok(fillers.length * 2 >= asked.inputs)
        for (const text of fillers) assert.ok(Math.abs(tokensOf(text) - mean) <= 1)
      }
      const used = tokensIn(calls.flatMap(({ texts }) => texts))
      assert.ok(Math.abs(used - probeTokens(asked)) <= 40 + 0.1 * used, `${used}, ${probeTokens(asked)}`)
    }),
    runs(300),
  )
})

test('a probe of a large call costs no more than the call, whatever its texts have', () => {
  for (const [inputs, each] of [
    [64, 32],
    [64, 500],
    [256, 40],
    [2048, 100],
  ] as const)
    assert.ok(probeTokens({ inputs, tokens: inputs * each }) <= inputs * each)
})

test('each text comes to the first place, to the last and to those between, as probes follow one another', () => {
  const asked = { inputs: 20, tokens: 400 }
  for (const text of PROBE_TEXTS.keys()) {
    const seen = new Set(
      Array.from({ length: 160 }, (_, at) => probeCalls(asked, at)[0]?.places.get(text) ?? -1),
    )
    assert.equal(seen.size, asked.inputs, `text ${text}`)
  }
})

test('what fills a call is made by a fixed rule: no upstream gets anything that callers wrote', () => {
  assert.equal(fillText(4, 0), fillText(4, 0))
  assert.notEqual(fillText(4, 0), fillText(4, 1))
  assert.equal(fillText(3, 1).split(' ').length, 3)
})

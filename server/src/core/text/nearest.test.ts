import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { nearest } from './nearest.ts'

const models = ['text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-ada-002', 'demo-embed']

for (const [typed, meant] of [
  ['text-embeding-3-small', 'text-embedding-3-small'],
  ['text-embedding-3-smal', 'text-embedding-3-small'],
  ['text-embedding-3-Large', 'text-embedding-3-large'],
  ['demo_embed', 'demo-embed'],
  ['DemoEmbed', 'demo-embed'],
  ['demo-embde', 'demo-embed'],
  ['embed', undefined],
  ['gpt-4o', undefined],
  ['', undefined],
] as const) {
  test(`'${typed}' is taken for ${meant ?? 'nothing'}`, () => assert.equal(nearest(typed, models), meant))
}

test('one slip of the finger always finds the model that was meant', () => {
  const slip = fc.record({
    model: fc.constantFrom(...models),
    at: fc.nat(30),
    letter: fc.constantFrom('', 'x', '-'),
  })
  fc.assert(
    fc.property(slip, ({ model, at, letter }) => {
      const typed = model.slice(0, at % model.length) + letter + model.slice((at % model.length) + 1)
      assert.equal(nearest(typed, models), model)
    }),
    runs(2000),
  )
})

test('in a short word one slip is one too: a wrong letter, or two swapped ones', () => {
  const levels = ['info', 'warn', 'off']
  assert.deepEqual(
    ['inof', 'wern', 'of', 'x', 'debug'].map((typed) => nearest(typed, levels)),
    ['info', 'warn', 'off', undefined, undefined],
  )
})

test('a name of any length is compared in no time', () => {
  const startedMs = process.cpuUsage().user / 1000
  assert.equal(
    nearest(
      'x'.repeat(8_000_000),
      Array.from({ length: 50 }, () => 'y'.repeat(200)),
    ),
    undefined,
  )
  // A letter-by-letter comparison would take minutes.
  assert.ok(process.cpuUsage().user / 1000 - startedMs < 5000)
})

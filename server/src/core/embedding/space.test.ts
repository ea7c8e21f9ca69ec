import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { answeringSpace, declaredSpace, joinGenerations, readSpace, spaceOf } from './space.ts'

const LARGE = { model: 'large', generation: 1 }
const SMALL = { model: 'small', generation: 1 }

test('a declared space has one name for all its models at one width, and it is not that of a model of this name', () => {
  const declared = { name: 'makers', generation: joinGenerations([LARGE, SMALL]) }
  const names = [LARGE, SMALL].map((model) => answeringSpace({ ...model, declared }, 1024))
  assert.equal(names[0], names[1])
  assert.match(names[0] ?? '', /^makers@1024:[0-9a-f]{8}$/)
  assert.notEqual(names[0], spaceOf('makers', 1024))
  assert.notEqual(readSpace(names[0] ?? '')?.float, declaredSpace(declared, 512))
  assert.equal(answeringSpace(LARGE, 1024), spaceOf('large', 1024))
})

test('the generation of a declared space changes with that of each of its models, and never comes back', () => {
  const of = (large: number, small: number): string =>
    joinGenerations([
      { ...LARGE, generation: large },
      { ...SMALL, generation: small },
    ])
  const counts = [1, 2, 3, 11, 12]
  const all = counts.flatMap((large) => counts.map((small) => of(large, small)))
  assert.equal(new Set(all).size, all.length)
})

test('neither the order of the models nor one of the first generation changes the name', () => {
  const models = fc.uniqueArray(
    fc.record({ model: fc.stringMatching(/^[a-z#0-9]{1,4}$/), generation: fc.integer({ min: 1, max: 3 }) }),
    { selector: ({ model }) => model, maxLength: 5 },
  )
  fc.assert(
    fc.property(models, (some) => {
      const joined = joinGenerations(some)
      assert.equal(joinGenerations(some.toReversed()), joined)
      assert.equal(joinGenerations([...some, { model: 'added', generation: 1 }]), joined)
      assert.notEqual(joinGenerations([...some, { model: 'added', generation: 2 }]), joined)
    }),
  )
})

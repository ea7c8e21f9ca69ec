import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Substitutions } from './substitutions.ts'

function world() {
  const state = { ms: 0 }
  const counted: string[] = []
  const logged: string[] = []
  const substitutions = new Substitutions({
    clock: { monotonicMs: () => state.ms },
    count: ({ answered }) => void counted.push(answered),
    log: ({ answered }) => void logged.push(answered),
  })
  const note = (answered: string, deployment = 'm/one') =>
    substitutions.note({ deployment, asked: 'quality', answered })
  return { state, counted, logged, note }
}

test('every answer of another model is counted, and each pair is logged once an hour', () => {
  const { state, counted, logged, note } = world()
  for (let answers = 0; answers < 5; answers += 1) note('cheap')
  note('cheap', 'm/two')
  assert.deepEqual([counted.length, logged], [6, ['cheap', 'cheap']])
  state.ms += 3_599_999
  note('cheap')
  assert.equal(logged.length, 2)
  state.ms += 1
  note('cheap')
  assert.equal(logged.length, 3)
})

test('an upstream with ever new names fills no label and no log: the eleventh is other', () => {
  const { counted, note } = world()
  for (let name = 0; name < 30; name += 1) note(`model-${name}`)
  note('model-3')
  assert.deepEqual(new Set(counted).size, 11)
  assert.equal(counted.filter((name) => name === 'other').length, 20)
  assert.equal(counted.at(-1), 'model-3')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CountedSubstitution } from '#ports/model-ends.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { Substitutions } from './substitutions.ts'

function world() {
  const state = { ms: Date.UTC(2026, 10, 18), failure: undefined as Error | undefined }
  const counted: string[] = []
  const logged: string[] = []
  const kept: CountedSubstitution[] = []
  const substitutions = new Substitutions({
    clock: { nowMs: () => state.ms, monotonicMs: () => state.ms },
    count: ({ answered }) => void counted.push(answered),
    log: ({ answered }) => void logged.push(answered),
  })
  const note = (answered: string, deployment = 'm/one') =>
    substitutions.note({ deployment, asked: 'quality', answered })
  const flush = () =>
    substitutions.flush({
      async addSubstitutions(rows) {
        if (state.failure !== undefined) throw state.failure
        kept.push(...rows)
      },
    })
  return { state, counted, logged, kept, note, flush }
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

test('an upstream with ever new names fills no table: the eleventh is other', () => {
  const { counted, note } = world()
  for (let name = 0; name < 30; name += 1) note(`model-${name}`)
  note('model-3')
  assert.deepEqual(new Set(counted).size, 11)
  assert.equal(counted.filter((name) => name === 'other').length, 20)
  assert.equal(counted.at(-1), 'model-3')
})

test('counts that could not be kept are kept later, with those that came meanwhile', async () => {
  const { state, kept, note, flush } = world()
  await flush()
  assert.equal(kept.length, 0)
  note('cheap')
  state.failure = new StoreUnreachable('connection refused')
  await assert.rejects(flush(), StoreUnreachable)
  state.ms += 1000
  note('cheap')
  note('dear')
  state.failure = undefined
  await flush()
  const pair = { deployment: 'm/one', asked: 'quality' }
  const [first, last] = ['2026-11-18T00:00:00.000Z', '2026-11-18T00:00:01.000Z']
  assert.deepEqual(
    kept.toSorted((a, b) => b.answers - a.answers),
    [
      { ...pair, answered: 'cheap', answers: 2, firstAt: first, lastAt: last },
      { ...pair, answered: 'dear', answers: 1, firstAt: last, lastAt: last },
    ],
  )
  await flush()
  assert.equal(kept.length, 2)
})

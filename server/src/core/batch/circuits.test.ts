import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../fault/fault.ts'
import { Circuits } from './circuits.ts'

const fault = new Fault('upstream_failed', 'down')

test('while there is trouble no attempt is made; after the pause there is one at a time, and the next pause is longer', () => {
  const circuits = new Circuits()
  assert.equal(circuits.enter('a', 0), 'go')
  assert.equal(circuits.failed('a', fault, 0), 15_000)
  assert.deepEqual([circuits.enter('a', 14_999), circuits.enter('b', 14_999)], [fault, 'go'])
  assert.deepEqual([circuits.enter('a', 15_000), circuits.enter('a', 15_000)], ['probe', fault])
  assert.equal(circuits.waitMs('a', 15_000), 15_000)
  assert.equal(circuits.failed('a', fault, 16_000), 30_000)
  assert.equal(circuits.enter('a', 45_999), fault)
  assert.equal(circuits.enter('a', 46_000), 'probe')
})

test('when the pause of the batch is over, the attempt is due, but not beside another one', () => {
  const circuits = new Circuits()
  circuits.failed('a', fault, 0)
  assert.deepEqual([circuits.enter('a', 1, true), circuits.enter('a', 1, true)], ['probe', fault])
})

test('calls that were in progress when the trouble began do not make the pause longer', () => {
  const circuits = new Circuits()
  circuits.failed('a', fault, 0)
  for (let call = 0; call < 48; call += 1) assert.equal(circuits.failed('a', fault, 5000), 10_000)
  assert.equal(circuits.enter('a', 15_000), 'probe')
})

test('a success ends the trouble, and an attempt without a result leaves room for the next', () => {
  const circuits = new Circuits()
  circuits.failed('a', fault, 0)
  assert.equal(circuits.enter('a', 20_000), 'probe')
  circuits.left('a')
  assert.equal(circuits.enter('a', 20_000), 'probe')
  circuits.succeeded('a')
  assert.equal(circuits.enter('a', 20_000), 'go')
  assert.equal(circuits.failed('a', fault, 20_000), 15_000)
})

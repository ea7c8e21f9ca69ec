import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge, type Received } from './verdict.ts'

const event = (title: string, type: string, id = `${title} ${type}`): Received => ({
  id,
  type,
  incident: title,
  title,
  grouped: 1,
})

test('what is missing, doubled or in the wrong order is found', () => {
  const received = [
    event('a', 'alert.started'),
    event('a', 'alert.ended'),
    event('a', 'alert.ended'),
    event('b', 'alert.ended'),
    event('b', 'alert.started'),
    event('c', 'alert.started'),
  ]
  assert.deepEqual(judge(received, ['a', 'b', 'c']), {
    starts: 3,
    ends: 2,
    twice: 1,
    missing: ['c'],
    disordered: ['b'],
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ServerEventReader } from './server-events.ts'

const STREAM = 'event: a\ndata: {"b":1}\n\n: alive\n\nevent: c\r\ndata: one\r\ndata: two\r\n\r\n'
const EVENTS = [
  { name: 'a', data: '{"b":1}' },
  { name: 'c', data: 'one\ntwo' },
]

test('events are the same wherever the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(STREAM.length), { maxLength: 8 }), (cuts) => {
      const reader = new ServerEventReader()
      const borders = [0, ...cuts.toSorted((a, b) => a - b), STREAM.length]
      const events = borders.flatMap((from, index) =>
        reader.read(STREAM.slice(from, borders[index + 1] ?? from)),
      )
      assert.deepEqual(events, EVENTS)
    }),
  )
})

test('an event that was not ended is not given', () => {
  assert.deepEqual(new ServerEventReader().read('data: half'), [])
})

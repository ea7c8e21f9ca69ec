import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { reading } from './reading.ts'

const unchanged = (error: unknown): unknown => error

test('a blob that nobody begins to read is given up, and a late reader is told', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const stream = Readable.from([Buffer.from('bytes')])
  const bytes = reading(stream, unchanged)
  t.mock.timers.tick(59_000)
  assert.equal(stream.destroyed, false)
  t.mock.timers.tick(2000)
  assert.equal(stream.destroyed, true)
  await assert.rejects(async () => {
    for await (const piece of bytes) assert.fail(`got ${piece.length} bytes`)
  }, /nobody began to read/)
})

test('a stream that stops is given up; a reader that takes its time is not', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const stream = new Readable({ read: () => {} })
  const translated = new Error('translated')
  const iterator = reading(stream, () => translated, 1000)[Symbol.asyncIterator]()
  stream.push('one')
  assert.equal(String((await iterator.next()).value), 'one')
  t.mock.timers.tick(100_000)
  stream.push('two')
  assert.equal(String((await iterator.next()).value), 'two')
  const next = iterator.next()
  await new Promise((resolve) => setImmediate(resolve))
  t.mock.timers.tick(1001)
  await assert.rejects(next, translated)
})

test('a reader who stops closes the stream', async () => {
  const stream = new Readable({ read: () => {} })
  stream.push('one')
  for await (const piece of reading(stream, unchanged)) if (piece.length > 0) break
  assert.equal(stream.destroyed, true)
})

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { reading } from './reading.ts'

const unchanged = (error: unknown): unknown => error

test('a blob that no reader begins is closed, and a late reader gets an error', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const stream = Readable.from([Buffer.from('bytes')])
  const bytes = reading(stream, unchanged)
  t.mock.timers.tick(59_000)
  assert.equal(stream.destroyed, false)
  t.mock.timers.tick(2000)
  assert.equal(stream.destroyed, true)
  await assert.rejects(async () => {
    for await (const part of bytes) assert.fail(`got ${part.length} bytes`)
  }, /began to read/)
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
  for await (const part of reading(stream, unchanged)) if (part.length > 0) break
  assert.equal(stream.destroyed, true)
})

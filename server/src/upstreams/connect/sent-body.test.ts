import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import { sharedYield } from '#runtime/event-loop.ts'
import { SentBody } from './sent-body.ts'

test('a chunk of any size is handed over in pieces of 64 KB', async () => {
  const chunk = randomBytes(1_000_000)
  const body = {
    size: chunk.length,
    async *open() {
      yield chunk
    },
  }
  const pieces = await Array.fromAsync(new SentBody(body, sharedYield(16)))
  assert.ok(Buffer.concat(pieces).equals(chunk))
  assert.deepEqual(new Set(pieces.slice(0, -1).map(({ length }) => length)), new Set([65_536]))
})

test('of a hundred bodies no more than a megabyte is handed over in one round of the event loop, and each gets its share', async () => {
  const yieldOnSending = sharedYield(16)
  const pieces = Array.from({ length: 100 }, () => 0)
  let inThisRound = 0
  const body = {
    size: 20 * 65_536,
    async *open() {
      for (let piece = 0; piece < 20; piece += 1) yield new Uint8Array(65_536)
    },
  }
  const sent = Promise.all(
    pieces.map(async (_, index) => {
      for await (const { length } of new SentBody(body, yieldOnSending)) {
        inThisRound += length
        pieces[index] = (pieces[index] ?? 0) + 1
      }
    }),
  )
  for (;;) {
    inThisRound = 0
    await yieldLoop()
    assert.ok(inThisRound <= 1024 * 1024, `${inThisRound} bytes`)
    assert.ok(Math.max(...pieces) - Math.min(...pieces) <= 1)
    if (pieces.every((count) => count === 20)) break
  }
  await sent
})

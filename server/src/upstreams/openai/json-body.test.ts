import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { chunkedBytes, streamed } from '#test/support/streamed.ts'
import { BodyUnread } from '../connect/sent-body.ts'
import { joinedBody } from './json-body.ts'

test('bytes in any chunks become the base64 of the whole, and the body is as long as it says', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), chunkedBytes), { maxLength: 6 }),
      async (parts) => {
        const body = joinedBody(parts.map((part) => (typeof part === 'string' ? part : streamed(part))))
        const bytes = Buffer.concat(await Array.fromAsync(body.open()))
        assert.equal(bytes.length, body.size)
        const expected = parts.map((part) =>
          typeof part === 'string' ? part : Buffer.concat(part).toString('base64'),
        )
        assert.ok(bytes.equals(Buffer.from(expected.join(''))))
      },
    ),
    runs(500),
  )
})

test('a picture that lies in memory whole is made base64 in steps', async () => {
  const body = joinedBody([streamed([Buffer.alloc(5_000_000, 7)])])
  const chunks = await Array.fromAsync(body.open())
  assert.ok(Math.max(...chunks.map(({ length }) => length)) <= 65_536)
})

test('a chunk that its owner changes afterwards does not change what was read of it', async () => {
  const shared = Buffer.from('abcd')
  const source = {
    size: 8,
    async *open() {
      yield shared
      shared.write('wxyz')
      yield shared
    },
  }
  const bytes = Buffer.concat(await Array.fromAsync(joinedBody([source]).open()))
  assert.equal(bytes.toString(), Buffer.from('abcdwxyz').toString('base64'))
})

test('a file that is not as long as it says is not sent to its end', async () => {
  for (const size of [2, 4]) {
    const body = joinedBody(['"', { ...streamed([Buffer.from('abc')]), size }, '"'])
    await assert.rejects(Array.fromAsync(body.open()), BodyUnread)
  }
})

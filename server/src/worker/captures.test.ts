import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_CAPTURED_BYTES, type CapturedInput, type CapturedRequest } from '#ports/captures.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { Captures } from './captures.ts'

const MEGABYTE = 1024 * 1024
const inputOf = (bytes: number): CapturedInput => ({
  route: 'embeddings',
  path: undefined,
  headers: {},
  body: Buffer.alloc(bytes, 1),
})

function opened(append: (requests: readonly CapturedRequest[]) => Promise<void>) {
  const counts = { dropped: 0, refused: 0 }
  const captures = new Captures({
    captures: () => true,
    store: { append },
    clock: { nowMs: () => 7 },
    events: {
      dropped: (requests) => void (counts.dropped += requests),
      refused: (requests) => void (counts.refused += requests),
    },
  })
  return { captures, counts }
}

test('what is held is written once its request has ended, with bytes of its own', async () => {
  const written: CapturedRequest[] = []
  const { captures } = opened(async (page) => void written.push(...page))
  const input = inputOf(3)
  const held = captures.hold('search', input)
  input.body.fill(9)
  held?.keep({ requestId: 'r', hasFailed: true })
  captures.hold('search', inputOf(1))
  await captures.close()
  assert.deepEqual(written, [
    { requestId: 'r', project: 'search', hasFailed: true, capturedAtMs: 7, input: inputOf(3) },
  ])
})

test('a body beyond the bound is not held, and memory is bounded until the store has taken it', async () => {
  const { captures, counts } = opened(async () => {})
  assert.equal(captures.hold('search', inputOf(MAX_CAPTURED_BYTES + 1)), undefined)
  assert.equal(counts.dropped, 0)
  const held = Array.from({ length: 8 }, () => captures.hold('search', inputOf(4 * MEGABYTE)))
  assert.ok(held.every((one) => one !== undefined))
  assert.equal(captures.hold('search', inputOf(1)), undefined)
  assert.equal(counts.dropped, 1)
  for (const [index, one] of held.entries()) one?.keep({ requestId: `${index}`, hasFailed: false })
  await captures.close()
  assert.ok(captures.hold('search', inputOf(4 * MEGABYTE)))
})

test('pages are bounded, and what the store does not take is counted and forgotten', async () => {
  const pages: number[] = []
  const errors = [new StoreUnreachable('away'), new Error('odd')]
  const { captures, counts } = opened(async (page) => {
    pages.push(page.length)
    const error = errors.shift()
    if (error) throw error
  })
  for (let index = 0; index < 5; index += 1)
    captures.hold('search', inputOf(3 * MEGABYTE))?.keep({ requestId: `${index}`, hasFailed: false })
  await captures.close()
  assert.deepEqual(pages, [2, 2, 1])
  assert.deepEqual(counts, { dropped: 2, refused: 2 })
})

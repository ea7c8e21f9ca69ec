import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import type { GivenBytes, GivenPicture, ImageCall } from '#ports/image-upstream.ts'
import { imageCallOf } from '#test/support/ai-sdk-images.ts'
import { upstreamFailureOf } from '#test/support/upstream-failure.ts'
import { buffersOf, loaded } from './image-edit.ts'

function callWith(
  pictures: readonly GivenPicture[],
  mask?: GivenPicture,
  overrides: Partial<ImageCall> = {},
): ImageCall {
  const edit = { pictures, mask, markup: undefined, fidelity: undefined, body: 'multipart' } as const
  return imageCallOf('fal', 'fal-ai/flux-pro/v1/fill', 'http://127.0.0.1:1', { edit, ...overrides })
}

const bytes = Uint8Array.from({ length: 5000 }, (_, at) => at)
const fileOf = (size: number, open: GivenBytes['open']): GivenBytes => ({
  kind: 'bytes',
  format: 'png',
  size,
  open,
})
async function* whole(): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 4000)
  yield bytes.subarray(4000)
}
async function* half(): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 2500)
  throw new Error('gone')
}
async function* slow(): AsyncGenerator<Uint8Array> {
  await setTimeout(60)
  yield bytes
}
const gone = (): never => {
  throw new Error('gone')
}

describe('a file that can not be read is a failure that nobody was paid for', () => {
  const cases: [title: string, file: GivenBytes][] = [
    ['shorter than was told', fileOf(5001, whole)],
    ['longer than was told', fileOf(4999, whole)],
    ['gone half way', fileOf(5000, half)],
    ['gone', fileOf(5000, gone)],
  ]
  for (const [title, file] of cases) {
    it(title, async () => {
      const whichever = [callWith([file]), callWith([fileOf(5000, whole)], file)]
      for (const call of whichever) {
        const failure = await upstreamFailureOf(loaded(call))
        assert.deepEqual([failure.kind, failure.mayBeCharged], ['failed', false])
      }
    })
  }

  it('too slow: the time that it takes is the call’s own', async () => {
    const failure = await upstreamFailureOf(
      loaded(callWith([fileOf(5000, slow)], undefined, { timeoutMs: 30 })),
    )
    assert.deepEqual([failure.kind, failure.mayBeCharged], ['timedOut', false])
    const { timeoutMs } = await loaded(callWith([fileOf(5000, slow)], undefined, { timeoutMs: 20_000 }))
    assert.ok(timeoutMs < 19_950, `${timeoutMs}`)
  })
})

it('a call that was handed in already needs no files, and is not refused for them', async () => {
  const call = callWith([fileOf(5000, gone), fileOf(5000, gone)], undefined, { submitted: '{}' })
  assert.equal((await loaded(call)).edit, undefined)
})

it('a picture is the same however it is cut into chunks', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }), async (chunks) => {
      const all = Uint8Array.from(chunks.flatMap((chunk) => [...chunk]))
      const file = fileOf(all.length, async function* () {
        yield* chunks
      })
      const { edit } = await loaded(callWith([file], file))
      const picture = { kind: 'bytes', format: 'png', bytes: all } as const
      assert.deepEqual(edit, { pictures: [picture], mask: picture })
      assert.deepEqual(
        buffersOf(edit).map((buffer) => new Uint8Array(buffer)),
        [all, all],
      )
    }),
  ))

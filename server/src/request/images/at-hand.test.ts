import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairShare } from '#core/schedule/fair-share.ts'
import type { MadePicture } from '#ports/image-upstream.ts'
import { PicturesAtHand } from './at-hand.ts'

const ROOM = { capacity: 100, headroom: Infinity, maxWaiting: 0 }

function aPicture(size: number, discard = (): void => {}): MadePicture {
  return { bytes: new Uint8Array(size), discard, revisedPrompt: undefined }
}

test('pictures of all callers together stay within the room, and what finds none is left to the store', () => {
  const room = new FairShare(ROOM)
  const [one, other] = [new PicturesAtHand('p', room), new PicturesAtHand('q', room)]
  assert.ok(one.take('a', aPicture(60)))
  assert.ok(!other.take('b', aPicture(60)))
  assert.equal(other.get('b'), undefined)
  assert.ok(other.take('c', aPicture(40)))
  assert.equal(other.get('c')?.length, 40)
})

test('when an answer is written, the memory of its pictures is given back once, and their room is free', () => {
  const room = new FairShare(ROOM)
  let discarded = 0
  const atHand = new PicturesAtHand('p', room)
  atHand.take(
    'a',
    aPicture(60, () => (discarded += 1)),
  )
  assert.deepEqual([discarded, room.free], [0, 40])
  for (let time = 0; time < 2; time += 1) {
    atHand[Symbol.dispose]()
    assert.deepEqual([discarded, room.free], [1, 100])
    assert.equal(atHand.get('a'), undefined)
  }
})

test('a picture that came twice is held once', () => {
  const room = new FairShare(ROOM)
  const atHand = new PicturesAtHand('p', room)
  assert.ok(atHand.take('a', aPicture(10)))
  assert.ok(!atHand.take('a', aPicture(10)))
  assert.equal(room.free, 90)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axesOf, bandWords, namesOf, notesOver } from './kept-layout.ts'

test('the bytes axis goes by powers of four around the points, and the shares go to 40% or below the lowest', () => {
  const size = { width: 500, height: 300 }
  const wide = axesOf(
    [
      { bytes: 12_288, kept: 1 },
      { bytes: 16, kept: 0.479 },
    ],
    size,
  )
  assert.deepEqual(wide.bytes, [16, 64, 256, 1024, 4096, 16_384])
  assert.deepEqual(
    wide.shares.map((share) => Math.round(share * 100)),
    [100, 80, 60, 40],
  )
  assert.ok(wide.spot({ bytes: 16, kept: 1 }).x > 0 && wide.spot({ bytes: 16_384, kept: 1 }).x < 500)
  assert.equal(wide.spot({ bytes: 64, kept: 1 }).y, 0)
  const low = axesOf([{ bytes: 8, kept: 0.13 }], size)
  assert.equal(low.shares.length, 6)
  assert.ok(low.spot({ bytes: 8, kept: 0.13 }).y < 300)
})

test('names cover no line and no other name while there is room', () => {
  const lines = [
    [
      { x: 30, y: 120 },
      { x: 200, y: 20 },
    ],
    [
      { x: 30, y: 200 },
      { x: 200, y: 60 },
    ],
  ]
  const names = namesOf(lines, [90, 40], [], { width: 400, height: 300 })
  const [one, other] = names
  assert.ok(one && other)
  assert.ok(
    one.bottom <= other.top || other.bottom <= one.top || one.right <= other.left || other.right <= one.left,
  )
  for (const { left, right, top, bottom } of [one, other]) {
    assert.ok(left >= 0 && right <= 400 && top >= 0 && bottom <= 300)
    for (const [from, to] of lines as [{ x: number; y: number }, { x: number; y: number }][])
      for (let step = 0; step <= 100; step++) {
        const [x, y] = [from.x + ((to.x - from.x) * step) / 100, from.y + ((to.y - from.y) * step) / 100]
        assert.ok(!(x > left && x < right && y > top && y < bottom))
      }
  }
})

test('a name without a free place is left out: the table below has it too', () => {
  const spots = [{ x: 20, y: 10 }]
  assert.deepEqual(namesOf([spots], [90], [], { width: 60, height: 20 }), [undefined])
})

test('the words of the band cover no point: they are at its left end, or at its right one', () => {
  assert.deepEqual(bandWords([{ x: 200, y: 10 }], 80, 400, 24), { left: 8, top: 4, right: 88, bottom: 20 })
  assert.deepEqual(bandWords([{ x: 28, y: 6 }], 80, 400, 24), { left: 312, top: 4, right: 392, bottom: 20 })
  // A thin band has them below, where this point is no hindrance.
  assert.deepEqual(bandWords([{ x: 28, y: 0 }], 80, 400, 6), { left: 8, top: 9, right: 88, bottom: 25 })
})

test('notes stand over their points, and move apart and inside where they would overlap', () => {
  assert.deepEqual(notesOver([100, 300], [80, 80], 400), [100, 300])
  assert.deepEqual(notesOver([300, 280], [80, 80], 400), [360, 264])
  assert.deepEqual(notesOver([0], [80], 400), [40])
  assert.deepEqual(notesOver([], [], 400), [])
})

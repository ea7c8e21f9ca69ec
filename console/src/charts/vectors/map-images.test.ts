import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imageEdges } from './map-images.ts'

const ROOM = { full: 36, zoomTimes: 1 }
const at = (...xs: number[]) => xs.map((x) => ({ x, y: 0 }))

for (const [title, xs, edges] of [
  ['images with room around them are whole', [0, 100], [36, 36]],
  ['two that would overlap are smaller, and a third is not', [0, 30, 200], [20, 20, 36]],
  ['two that would overlap even then are shapes', [0, 10], [0, 0]],
] as const)
  test(title, () =>
    assert.deepEqual(
      imageEdges(
        at(...xs),
        xs.map(() => true),
        ROOM,
      ),
      edges,
    ),
  )

test('texts have no image, and take no room from one', () => {
  assert.deepEqual(imageEdges(at(0, 5), [true, false], ROOM), [36, 0])
})

test('many images are shapes until one zooms in', () => {
  const spots = at(...Array.from({ length: 61 }, (_, place) => place * 50))
  const all = spots.map(() => true)
  assert.ok(imageEdges(spots, all, ROOM).every((edge) => edge === 0))
  assert.ok(imageEdges(spots, all, { ...ROOM, zoomTimes: 2 }).every((edge) => edge === 36))
})

import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { labelsFor, NO_ZOOM, spotAt, spotsOf, towards, zoomed } from './map-layout.ts'

const SIZE = { width: 600, height: 500 }
const spot = fc.record({
  x: fc.double({ min: 0, max: 600, noNaN: true }),
  y: fc.double({ min: 0, max: 500, noNaN: true }),
})

test('both axes have one scale, and all points are in sight', () => {
  const spots = spotsOf(Float64Array.of(0, 0, 4, 0, 0, 1), [[2, 0.5]], SIZE)
  assert.equal(spots.length, 4)
  const [a, b, c] = spots as [(typeof spots)[0], (typeof spots)[0], (typeof spots)[0]]
  assert.ok(Math.abs((b.x - a.x) / 4 - (a.y - c.y)) < 1e-9)
  assert.ok(spots.every(({ x, y }) => x > 0 && x < 600 && y > 0 && y < 500))
})

test('labels never cover each other, nor a point, nor leave the map', () => {
  fc.assert(
    fc.property(fc.array(spot, { maxLength: 60 }), fc.integer({ min: 10, max: 140 }), (spots, width) => {
      const boxes = labelsFor(spots, () => width, SIZE).map(({ x, y, align }) => {
        const left = align === 'left' ? x : align === 'right' ? x - width : x - width / 2
        return { left, right: left + width, top: y - 7, bottom: y + 7 }
      })
      for (const [index, box] of boxes.entries()) {
        assert.ok(box.left >= 0 && box.right <= 600 && box.top >= 0 && box.bottom <= 500)
        for (const { x, y } of spots)
          assert.ok(x + 5 <= box.left || x - 5 >= box.right || y + 5 <= box.top || y - 5 >= box.bottom)
        for (const other of boxes.slice(index + 1))
          assert.ok(
            box.right <= other.left + 1e-6 ||
              other.right <= box.left + 1e-6 ||
              box.bottom <= other.top + 1e-6 ||
              other.bottom <= box.top + 1e-6,
          )
      }
    }),
  )
})

test('what is under the pointer stays there while one zooms, and zooming out ends with everything in sight', () => {
  const points = Float64Array.of(0, 0, 4, 0, 0, 1, 3, 3)
  const middle = { x: 300, y: 250 }
  const at = spotsOf(points, [], SIZE)[3]!
  const zoom = zoomed(zoomed(NO_ZOOM, 2, at, middle), 1.7, at, middle)
  const after = spotsOf(points, [], SIZE, zoom)[3]!
  assert.ok(Math.abs(after.x - at.x) < 1e-9 && Math.abs(after.y - at.y) < 1e-9)
  assert.deepEqual(zoomed(zoom, 0.01, at, middle), NO_ZOOM)
})

test('an arrow leads to a point that lies that way, or stays', () => {
  fc.assert(
    fc.property(fc.array(spot, { minLength: 1, maxLength: 30 }), fc.nat({ max: 29 }), (spots, from) => {
      const here = spots[from % spots.length]!
      const to = spots[towards(spots, from % spots.length, 'ArrowRight')]!
      assert.ok(to === here || to.x > here.x)
    }),
  )
  assert.equal(towards([{ x: 1, y: 1 }], undefined, 'ArrowUp'), 0)
})

test('the point under the pointer is the nearest within reach', () => {
  const spots = [
    { x: 10, y: 10 },
    { x: 16, y: 10 },
  ]
  assert.equal(spotAt(spots, 15, 10), 1)
  assert.equal(spotAt(spots, 100, 100), undefined)
})

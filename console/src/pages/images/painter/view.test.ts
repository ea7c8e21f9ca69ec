import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { overlayOf, screenBox } from '../../../workers/pixels/overlay.ts'
import { Mask } from '../../../workers/pixels/mask.ts'
import { fitted, MIN_SCALE, MAX_SCALE, moved, toImage, toScreen, zoomed } from './view.ts'

const edge = fc.integer({ min: 1, max: 8000 })
const size = fc.record({ width: edge, height: edge })
const near = (a: number, b: number): void =>
  assert.ok(Math.abs(a - b) < 1e-6 * Math.max(1, Math.abs(b)), `${a} ${b}`)

test('a point of the screen is the same point of the image, there and back, at every ratio and zoom', () => {
  fc.assert(
    fc.property(
      size,
      size,
      fc.double({ min: 0.3, max: 3, noNaN: true }),
      edge,
      edge,
      (image, screen, factor, x, y) => {
        const view = moved(zoomed(fitted(image, screen), factor, { x, y }), 7, -3)
        const back = toScreen(view, toImage(view, { x, y }))
        near(back.x, x)
        near(back.y, y)
      },
    ),
  )
})

test('what is under the pointer stays there while one zooms, between the bounds', () => {
  fc.assert(
    fc.property(size, size, fc.double({ min: 0.01, max: 50, noNaN: true }), (image, screen, factor) => {
      const at = { x: 100, y: 60 }
      const view = fitted(image, screen)
      const before = toImage(view, at)
      const after = zoomed(view, factor, at)
      assert.ok(after.scale <= MAX_SCALE && after.scale >= MIN_SCALE)
      near(toImage(after, at).x, before.x)
      near(toImage(after, at).y, before.y)
    }),
  )
})

test('five ratios: a corner that is painted is shown in that corner, and nowhere else', () => {
  const screen = { width: 300, height: 200 }
  for (const [width, height] of [
    [100, 100],
    [150, 100],
    [100, 150],
    [160, 90],
    [90, 160],
  ] as const) {
    const mask = new Mask(width, height)
    for (let y = height - 10; y < height; y += 1) mask.span(y, width - 10, width, true)
    const view = zoomed(fitted({ width, height }, screen), 2, { x: 150, y: 100 })
    const all = { left: 0, top: 0, right: screen.width, bottom: screen.height }
    const pixels = overlayOf(mask, view, all)
    const box = screenBox(
      { left: width - 10, top: height - 10, right: width, bottom: height },
      view,
      300,
      200,
    )
    for (let y = 0; y < screen.height; y += 1)
      for (let x = 0; x < screen.width; x += 1) {
        const at = toImage(view, { x: x + 0.5, y: y + 0.5 })
        const isPainted = at.x >= width - 10 && at.x < width && at.y >= height - 10 && at.y < height
        assert.equal(pixels[(y * screen.width + x) * 4 + 3] !== 0, isPainted, `${x},${y}`)
        if (isPainted) assert.ok(x >= box.left && x < box.right && y >= box.top && y < box.bottom)
      }
  }
})

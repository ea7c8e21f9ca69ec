import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import sharp from 'sharp'
import {
  adherenceOf,
  countBand,
  keepUnpainted,
  LOSSY_THRESHOLD,
  noCounts,
  regionOf,
  THRESHOLD,
  thresholdFor,
} from './compare.ts'
import { MaskHistory } from './mask-history.ts'
import { maskPng } from './mask-png.ts'
import { Mask, paintTransparent, union, type Box } from './mask.ts'
import { overlayOf } from './overlay.ts'
import { pngOf } from './png.ts'
import { paintCapsule, paintPolygon, paintRectangle, type Point } from './shapes.ts'

const edge = fc.integer({ min: 1, max: 90 })
const place = fc.integer({ min: -20, max: 110 })
const point = fc.record({ x: place, y: place })

function everyPixel(mask: Mask, isPainted: (x: number, y: number) => boolean): void {
  for (let y = 0; y < mask.height; y += 1)
    for (let x = 0; x < mask.width; x += 1)
      assert.equal(mask.isPainted(x, y), isPainted(x, y), `${x},${y} of ${mask.width}x${mask.height}`)
}

test('a rectangle paints its pixels and no others, at every size and ratio', () => {
  fc.assert(
    fc.property(edge, edge, place, place, edge, edge, (width, height, left, top, across, down) => {
      const mask = new Mask(width, height)
      const area = { left, top, right: left + across, bottom: top + down }
      paintRectangle(mask, area, true)
      const isInside = (x: number, y: number) =>
        x >= area.left && x < area.right && y >= area.top && y < area.bottom
      everyPixel(mask, isInside)
      let painted = 0
      for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) if (isInside(x, y)) painted += 1
      assert.equal(mask.count(), painted)
      mask.invert()
      assert.equal(mask.count(), width * height - painted)
      everyPixel(mask, (x, y) => !isInside(x, y))
    }),
  )
})

/** The distance of a point from a line of a length. */
function distance({ x, y }: Point, from: Point, to: Point): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  const length = dx * dx + dy * dy
  const along = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - from.x) * dx + (y - from.y) * dy) / length))
  return Math.hypot(x - from.x - along * dx, y - from.y - along * dy)
}

test('a stroke paints what lies within its radius, and touches nothing outside of its box', () => {
  fc.assert(
    fc.property(
      edge,
      edge,
      point,
      point,
      fc.integer({ min: 1, max: 40 }),
      (width, height, from, to, radius) => {
        const mask = new Mask(width, height)
        const box = paintCapsule(mask, from, to, { fromRadius: radius, isPainted: true })
        for (let y = 0; y < height; y += 1)
          for (let x = 0; x < width; x += 1) {
            const gap = distance({ x: x + 0.5, y: y + 0.5 }, from, to)
            // On the very edge, rounding decides.
            if (Math.abs(gap - radius) > 1e-6) assert.equal(mask.isPainted(x, y), gap < radius, `${x},${y}`)
            if (mask.isPainted(x, y))
              assert.ok(x >= box.left && x < box.right && y >= box.top && y < box.bottom)
          }
      },
    ),
  )
})

test('a pen that presses less draws a stroke that narrows, without a gap', () => {
  const mask = new Mask(120, 60)
  paintCapsule(mask, { x: 30, y: 30 }, { x: 90, y: 30 }, { fromRadius: 20, toRadius: 5, isPainted: true })
  const heightAt = (x: number) =>
    Array.from({ length: 60 }, (_, y) => mask.isPainted(x, y)).filter(Boolean).length
  const heights = [30, 45, 60, 75, 90].map(heightAt)
  assert.deepEqual(
    heights,
    heights.toSorted((a, b) => b - a),
  )
  assert.ok(
    heights.every((height) => height >= 9 && height <= 40),
    heights.join(),
  )
})

test('a lasso paints what its line goes around', () => {
  fc.assert(
    fc.property(edge, edge, fc.array(point, { minLength: 3, maxLength: 7 }), (width, height, points) => {
      const mask = new Mask(width, height)
      paintPolygon(mask, points, true)
      everyPixel(mask, (x, y) => around(points, x + 0.5, y + 0.5) !== 0)
    }),
  )
  const cross = new Mask(20, 20)
  // Twice around the same square is still inside.
  const square = [
    { x: 5, y: 5 },
    { x: 15, y: 5 },
    { x: 15, y: 15 },
    { x: 5, y: 15 },
  ]
  paintPolygon(cross, [...square, ...square], true)
  assert.equal(cross.count(), 100)
})

/** How often a closed line goes around a point, by the lines that pass left of it. */
function around(points: readonly Point[], x: number, y: number): number {
  let turns = 0
  for (const [index, from] of points.entries()) {
    const to = points[(index + 1) % points.length] ?? from
    if (from.y <= y === to.y <= y) continue
    if (from.x + ((y - from.y) / (to.y - from.y)) * (to.x - from.x) <= x) turns += to.y > from.y ? 1 : -1
  }
  return turns
}

type Change = {
  readonly from: Point
  readonly to: Point
  readonly radius: number
  readonly isPainted: boolean
}
const change: fc.Arbitrary<Change> = fc.record({
  from: point,
  to: point,
  radius: fc.integer({ min: 1, max: 30 }),
  isPainted: fc.boolean(),
})

test('undo gives back every state in turn, and redo the way forward again', () => {
  fc.assert(
    fc.property(edge, edge, fc.array(change, { minLength: 1, maxLength: 12 }), (width, height, changes) => {
      const mask = new Mask(width, height)
      const history = new MaskHistory(mask)
      const states = [mask.words.slice()]
      for (const one of changes) {
        const box = paintCapsule(mask, one.from, one.to, { fromRadius: one.radius, isPainted: one.isPainted })
        const steps = history.steps
        history.commit(box)
        if (history.steps > steps) states.push(mask.words.slice())
      }
      for (const state of states.slice(0, -1).toReversed()) {
        assert.ok(history.undo())
        assert.deepEqual(mask.words, state)
      }
      assert.equal(history.undo(), undefined)
      for (const state of states.slice(1)) {
        assert.ok(history.redo())
        assert.deepEqual(mask.words, state)
      }
      assert.equal(history.redo(), undefined)
    }),
  )
})

test('what undo keeps is bounded in bytes, the oldest goes first, and the number of dropped steps is known', () => {
  const mask = new Mask(1024, 1024)
  const whole = 1024 * 1024 * (1 / 8)
  const history = new MaskHistory(mask, whole * 3)
  for (let stroke = 0; stroke < 10; stroke += 1) {
    mask.invert()
    history.commit(mask.box)
    assert.ok(history.bytes <= whole * 3)
  }
  assert.deepEqual([history.steps, history.dropped], [3, 7])
})

test('a mask arrives in its PNG bit for bit, and back', async () => {
  await fc.assert(
    fc.asyncProperty(edge, edge, fc.array(change, { maxLength: 4 }), async (width, height, changes) => {
      const mask = new Mask(width, height)
      for (const one of changes)
        paintCapsule(mask, one.from, one.to, { fromRadius: one.radius, isPainted: one.isPainted })
      const bytes = Buffer.from(await (await maskPng(mask)).arrayBuffer())
      const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
      assert.deepEqual([info.width, info.height, info.channels], [width, height, 4])
      const alphas = Uint8Array.from({ length: width * height }, (_, pixel) =>
        mask.isPainted(pixel % width, Math.floor(pixel / width)) ? 0 : 255,
      )
      assert.ok(alphas.every((alpha, pixel) => alpha === data[pixel * 4 + 3]))
      const read = new Mask(width, height)
      paintTransparent(read, new Uint8ClampedArray(data))
      assert.deepEqual(read.words, mask.words)
    }),
    { numRuns: 20 },
  )
})

test('a PNG keeps every colour, also under an alpha of 0', async () => {
  const pixels = Uint8Array.from({ length: 7 * 5 * 4 }, (_, at) => (at * 37) % 256)
  const blob = await pngOf(7, 5, [pixels.subarray(0, 7 * 4 * 2), pixels.subarray(7 * 4 * 2)])
  const read = await sharp(Buffer.from(await blob.arrayBuffer()))
    .raw()
    .toBuffer()
  assert.deepEqual(new Uint8Array(read), pixels)
})

const WIDTH = 40
const HEIGHT = 30

function compared(changed: (x: number, y: number) => boolean, painted: Box, by = 200) {
  const before = new Uint8Array(WIDTH * HEIGHT * 4).fill(30)
  const after = before.slice()
  for (let y = 0; y < HEIGHT; y += 1)
    for (let x = 0; x < WIDTH; x += 1) if (changed(x, y)) after[(y * WIDTH + x) * 4 + 1] = 30 + by
  const mask = new Mask(WIDTH, HEIGHT)
  paintRectangle(mask, painted, true)
  const counts = noCounts()
  const cut = 13 * WIDTH * 4
  const region = regionOf(mask, WIDTH, HEIGHT)
  const band = (from: number, to: number, top: number) =>
    countBand(
      counts,
      { before: before.subarray(from, to), after: after.subarray(from, to), width: WIDTH, top },
      { region, threshold: THRESHOLD },
    )
  band(0, cut, 0)
  band(cut, after.length, 13)
  const comparison = { ...counts, width: WIDTH, height: HEIGHT, threshold: THRESHOLD, isScaled: false }
  return { before, after, mask, comparison, adherence: adherenceOf(comparison) }
}

test('adherence is 100 %, 50 % and 0 % of images made so', () => {
  const left: Box = { left: 0, top: 0, right: WIDTH / 2, bottom: HEIGHT }
  const isLeft = (x: number) => x < WIDTH / 2
  assert.equal(compared(isLeft, left).adherence, 1)
  assert.equal(compared((x, y) => isLeft(x) || y < HEIGHT / 2, left).adherence, 0.5)
  assert.equal(compared(() => true, left).adherence, 0)
  const { comparison } = compared((x, y) => isLeft(x) && y < HEIGHT / 2, left)
  assert.deepEqual(comparison.inside, { pixels: 600, changed: 300 })
  assert.equal(compared(() => true, { left: 0, top: 0, right: WIDTH, bottom: HEIGHT }).adherence, undefined)
})

test('a difference counts from one above the threshold on; lossy formats have a higher one', () => {
  const none: Box = { left: 0, top: 0, right: 0, bottom: 0 }
  assert.equal(compared(() => true, none, THRESHOLD).adherence, 1)
  assert.equal(compared(() => true, none, THRESHOLD + 1).adherence, 0)
  assert.deepEqual(['image/png', 'image/jpeg', 'image/webp'].map(thresholdFor), [
    THRESHOLD,
    LOSSY_THRESHOLD,
    LOSSY_THRESHOLD,
  ])
})

test('keeping unpainted pixels leaves none of them changed, and every painted one as it came', () => {
  fc.assert(
    fc.property(point, edge, edge, ({ x: left, y: top }, across, down) => {
      const { before, after, mask } = compared(() => true, {
        left,
        top,
        right: left + across,
        bottom: top + down,
      })
      const kept = after.slice()
      keepUnpainted(before, kept, { mask, width: WIDTH, top: 0 })
      for (let at = 0; at < kept.length; at += 1) {
        const pixel = at >> 2
        const isPainted = mask.isPainted(pixel % WIDTH, Math.floor(pixel / WIDTH))
        assert.equal(kept[at], (isPainted ? after : before)[at])
      }
    }),
  )
})

test('of a result of another size, pixels along the edge of the mask belong to neither side', () => {
  const mask = new Mask(80, 60)
  paintRectangle(mask, { left: 0, top: 0, right: 40, bottom: 60 }, true)
  const region = regionOf(mask, WIDTH, HEIGHT)
  assert.deepEqual(
    [17, 18, 19, 20, 21, 22].map((x) => region(x, 10)),
    ['inside', 'edge', 'edge', 'edge', 'edge', 'outside'],
  )
})

test('boxes add up', () => {
  const box = (left: number, right: number): Box => ({ left, top: 0, right, bottom: 1 })
  assert.deepEqual(union(box(0, 3), box(5, 9)), box(0, 9))
  assert.deepEqual(union(box(2, 2), box(5, 9)), box(5, 9))
})

test('the edge of a mask alone is drawn along what is painted, and leaves all else in sight', () => {
  const mask = new Mask(40, 30)
  const painted = { left: 10, top: 5, right: 30, bottom: 25 }
  paintRectangle(mask, painted, true)
  const pixels = overlayOf(mask, { scale: 1, left: 0, top: 0 }, mask.box, false)
  for (let y = 0; y < mask.height; y += 1)
    for (let x = 0; x < mask.width; x += 1) {
      const isInside = mask.isPainted(x, y)
      const isFar =
        mask.isPainted(x - 2, y) &&
        mask.isPainted(x + 2, y) &&
        mask.isPainted(x, y - 2) &&
        mask.isPainted(x, y + 2)
      assert.equal(pixels[(y * mask.width + x) * 4 + 3], isInside && !isFar ? 255 : 0, `${x},${y}`)
    }
})

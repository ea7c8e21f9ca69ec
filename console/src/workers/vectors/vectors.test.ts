import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { aligned } from './align.ts'
import { vectorsIn } from './answer.ts'
import { heatPixels } from './heat-pixels.ts'
import { likenessOrder } from './likeness-order.ts'
import { middleOf } from './middle.ts'
import { keptOf, nearestOf } from './neighbours.ts'
import { projectionOf } from './projection.ts'
import { cosinesAt, runningTotals } from './running-totals.ts'
import { eigenOf } from './tridiagonal.ts'
import { VectorSpace } from './vector-space.ts'
import { nearestWidth, widthsOf } from './widths.ts'

/** Numbers as if by chance, the same each time. */
function chance(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 - 0.5
  }
}

/** Texts in clusters of different sizes: the first two components are then unique. */
function clustered(count: number, width: number, seed = 7): Float32Array {
  const next = chance(seed)
  const centres = Array.from({ length: 4 }, (_, cluster) =>
    Float64Array.from({ length: width }, () => next() * (3 - 0.6 * cluster)),
  )
  const sizes = [0, 0, 0, 0, 0, 1, 1, 1, 2, 3]
  const vectors = new Float32Array(count * width)
  for (let one = 0; one < count; one++)
    for (let i = 0; i < width; i++)
      vectors[one * width + i] = centres[sizes[one % sizes.length]!]![i]! + next() * 1.5
  return vectors
}

/**
 * Principal components the long way: unit vectors cut at a width, centred, their covariance over the dimensions, and its two
 * strongest directions by power iteration with deflation, all in float64. It shares no line with the code under test.
 */
function componentsByCovariance(vectors: Float32Array, count: number, cut: number) {
  const width = vectors.length / count
  const rows = Array.from({ length: count }, (_, one) => {
    const row = Array.from(vectors.subarray(one * width, one * width + cut))
    const length = Math.hypot(...row)
    return row.map((value) => value / length)
  })
  for (let i = 0; i < cut; i++) {
    const mean = rows.reduce((sum, row) => sum + row[i]!, 0) / count
    for (const row of rows) row[i]! -= mean
  }
  const covariance = Array.from({ length: cut }, (_, i) =>
    Array.from({ length: cut }, (__, j) => rows.reduce((sum, row) => sum + row[i]! * row[j]!, 0)),
  )
  const trace = covariance.reduce((sum, row, i) => sum + row[i]!, 0)
  const scores: number[][] = []
  const shares: number[] = []
  for (let component = 0; component < 2; component++) {
    let direction = Array.from({ length: cut }, (_, i) => Math.cos(i + component))
    let value = 0
    for (let round = 0; round < 4000; round++) {
      const product = covariance.map((row) => row.reduce((sum, one, i) => sum + one * direction[i]!, 0))
      const length = Math.hypot(...product)
      const change = Math.abs(length - value)
      value = length
      direction = product.map((one) => one / length)
      if (change < 1e-16 * length && round > 500) break
    }
    scores.push(rows.map((row) => row.reduce((sum, one, i) => sum + one * direction[i]!, 0)))
    shares.push(value / trace)
    for (let i = 0; i < cut; i++)
      for (let j = 0; j < cut; j++) covariance[i]![j]! -= value * direction[i]! * direction[j]!
  }
  return { scores, shares }
}

for (const [count, width, cut] of [
  [60, 48, 48],
  [60, 48, 12],
  [25, 96, 96],
  [150, 40, 40],
] as const)
  test(`the map of ${count} × ${width}, cut at ${cut}, is the principal components within 1e-4`, () => {
    const vectors = clustered(count, width)
    const totals = runningTotals(vectors, count)
    const cosines = cosinesAt(totals, totals.widths.indexOf(cut))
    const { points, shares } = projectionOf(cosines, count)
    const reference = componentsByCovariance(vectors, count, cut)
    for (const axis of [0, 1]) {
      const sign = Math.sign(
        reference.scores[axis]!.reduce((sum, score, one) => sum + score * points[2 * one + axis]!, 0),
      )
      for (let one = 0; one < count; one++)
        assert.ok(Math.abs(points[2 * one + axis]! - sign * reference.scores[axis]![one]!) < 1e-4)
      assert.ok(Math.abs(shares[axis]! - reference.shares[axis]!) < 1e-6)
    }
  })

test('a text that did not take part lies where it would lie if it were one of them', () => {
  const [count, width] = [40, 32]
  const vectors = clustered(count, width)
  const space = new VectorSpace({ count, width, values: vectors, tokens: 0 })
  space.ask({ count: 1, width, values: vectors.slice(5 * width, 6 * width), tokens: 0 })
  const { points, query } = space.view(space.widths.length - 1)
  assert.ok(query)
  assert.ok(Math.abs(query.point[0] - points[10]!) < 1e-5)
  assert.ok(Math.abs(query.point[1] - points[11]!) < 1e-5)
  assert.ok(Math.abs(query.cosines[5]! - 1) < 1e-6)
  assert.throws(
    () => space.ask({ count: 1, width: 31, values: new Float32Array(31), tokens: 0 }),
    /another space/,
  )
})

test('the map does not turn over from width to width, and is the same when it is made again', () => {
  const [count, width] = [80, 64]
  const values = clustered(count, width)
  const space = new VectorSpace({ count, width, values, tokens: 0 })
  const last = space.widths.length - 1
  const whole = space.view(last)
  const cut = space.view(last - 1)
  let likeness = 0
  for (let i = 0; i < count * 2; i += 2) likeness += whole.points[i]! * cut.points[i]!
  assert.ok(likeness > 0)
  const again = new VectorSpace({ count, width, values, tokens: 0 }).view(last)
  assert.deepEqual(again.points, whole.points)
})

test('one text, two texts and equal texts have a map too', () => {
  for (const rows of [
    [[1, 2]],
    [
      [1, 0],
      [0, 1],
    ],
    [
      [1, 1],
      [1, 1],
      [1, 1],
    ],
    [
      [0, 0],
      [1, 0],
      [0, 1],
    ],
  ]) {
    const space = new VectorSpace({
      count: rows.length,
      width: 2,
      values: Float32Array.from(rows.flat()),
      tokens: 0,
    })
    const { points, shares, kept } = space.view(space.widths.length - 1)
    assert.ok([...points, ...shares, ...kept].every(Number.isFinite))
    assert.equal(space.arrangedAt(0, 'likeness', []).order.length, rows.length)
  }
})

const squares = fc
  .integer({ min: 1, max: 24 })
  .chain((count) =>
    fc.tuple(fc.constant(count), fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: 1_000_000 })),
  )

test('cosines at every width are those of the cut vectors', () => {
  fc.assert(
    fc.property(squares, ([count, width, seed]) => {
      const vectors = clustered(count, width, seed)
      const totals = runningTotals(vectors, count)
      for (const [place, cut] of totals.widths.entries()) {
        const cosines = cosinesAt(totals, place)
        for (let one = 0; one < count; one++)
          for (let other = 0; other < count; other++) {
            const [a, b] = [one, other].map((row) =>
              Array.from(vectors.subarray(row * width, row * width + cut)),
            )
            const dot = a!.reduce((sum, value, i) => sum + value * b![i]!, 0)
            const lengths = Math.hypot(...a!) * Math.hypot(...b!)
            assert.ok(Math.abs(cosines[one * count + other]! - (lengths > 0 ? dot / lengths : 0)) < 1e-9)
          }
      }
    }),
    { numRuns: 40 },
  )
})

test('the nearest are those of a whole sort, and at full width all of them are kept', () => {
  fc.assert(
    fc.property(squares, ([count, width, seed]) => {
      const totals = runningTotals(clustered(count, width, seed), count)
      const cosines = cosinesAt(totals, totals.widths.length - 1)
      const nearest = nearestOf(cosines, count)
      const kept = nearest.length / count
      assert.equal(kept, Math.min(10, count - 1))
      for (let row = 0; row < count; row++) {
        const sorted = Array.from({ length: count }, (_, one) => one)
          .filter((one) => one !== row)
          .toSorted((a, b) => cosines[row * count + b]! - cosines[row * count + a]!)
        assert.deepEqual(Array.from(nearest.subarray(row * kept, (row + 1) * kept)), sorted.slice(0, kept))
      }
      assert.ok(keptOf(nearest, nearest, count).every((share) => share === 1))
    }),
  )
})

test('what is kept is counted text by text', () => {
  assert.deepEqual(Array.from(keptOf(Int32Array.of(1, 2, 0, 2), Int32Array.of(2, 3, 0, 2), 2)), [0.5, 1])
})

test('the order by likeness has every text once, and clusters in one piece', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 40 }), (clusters) => {
      const count = clusters.length
      const cosines = Float64Array.from({ length: count * count }, (_, at) =>
        clusters[Math.floor(at / count)] === clusters[at % count] ? 0.9 : 0.1,
      )
      const order = Array.from(likenessOrder(cosines, count))
      assert.deepEqual(
        order.toSorted((a, b) => a - b),
        Array.from(clusters.keys()),
      )
      const met = order.map((one) => clusters[one])
      const pieces = met.filter((cluster, at) => at === 0 || cluster !== met[at - 1]).length
      assert.equal(pieces, new Set(clusters).size)
    }),
  )
})

test('eigenvectors of a tridiagonal matrix make the matrix again', () => {
  const entry = fc.double({ min: -10, max: 10, noNaN: true })
  fc.assert(
    fc.property(fc.array(fc.tuple(entry, entry), { minLength: 1, maxLength: 20 }), (entries) => {
      const [diagonal, beside] = [entries.map(([one]) => one), entries.map(([, one]) => one)]
      const size = diagonal.length
      const { values, vectors } = eigenOf(diagonal, beside)
      for (let i = 0; i < size; i++)
        for (let j = 0; j < size; j++) {
          let [sum, product] = [0, 0]
          for (let k = 0; k < size; k++) {
            sum += vectors[i * size + k]! * values[k]! * vectors[j * size + k]!
            product += vectors[k * size + i]! * vectors[k * size + j]!
          }
          const expected = i === j ? diagonal[i]! : Math.abs(i - j) === 1 ? beside[Math.min(i, j)]! : 0
          assert.ok(Math.abs(sum - expected) < 1e-8, `${sum} is not ${expected}`)
          assert.ok(Math.abs(product - (i === j ? 1 : 0)) < 1e-9)
        }
    }),
  )
})

test('a map that was turned, mirrored and scaled is laid back onto the other', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 6.28, noNaN: true }),
      fc.boolean(),
      fc.double({ min: 0.2, max: 5, noNaN: true }),
      (angle, isMirrored, scale) => {
        const onto = Float64Array.of(1, 0, -2, 1, 1, -3, 0, 2)
        const turned = Float64Array.from(onto)
        for (let i = 0; i < onto.length; i += 2) {
          const [x, y] = [onto[i]!, isMirrored ? -onto[i + 1]! : onto[i + 1]!]
          turned[i] = scale * (Math.cos(angle) * x - Math.sin(angle) * y)
          turned[i + 1] = scale * (Math.sin(angle) * x + Math.cos(angle) * y)
        }
        for (const [i, value] of aligned(turned, onto).entries()) assert.ok(Math.abs(value - onto[i]!) < 1e-9)
      },
    ),
  )
})

test('widths go up to the full one, by 64 for wide models, and are never too many', () => {
  assert.deepEqual(widthsOf(1536).slice(0, 3), [64, 128, 192])
  assert.equal(widthsOf(1536).length, 24)
  assert.equal(widthsOf(512).length, 16)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 16_384 }), (width) => {
      const widths = widthsOf(width)
      assert.equal(widths.at(-1), width)
      assert.ok(widths.length <= 49)
      assert.ok(widths.every((one, at) => one > (widths[at - 1] ?? 0)))
      assert.equal(widths[nearestWidth(widths, width)], width)
    }),
  )
})

test('vectors are put where their index says, and widths are never mixed', () => {
  const base64 = (values: number[]): string =>
    Buffer.from(Float32Array.from(values).buffer).toString('base64')
  const body = (data: object[]): ArrayBuffer => {
    const bytes = new TextEncoder().encode(JSON.stringify({ data, usage: { prompt_tokens: 3 } }))
    return bytes.buffer
  }
  const read = vectorsIn(
    body([
      { index: 1, embedding: base64([3, 4]) },
      { index: 0, embedding: [1, 2] },
    ]),
  )
  assert.deepEqual(Array.from(read.values), [1, 2, 3, 4])
  assert.equal(read.tokens, 3)
  assert.throws(
    () =>
      vectorsIn(
        body([
          { index: 0, embedding: [1] },
          { index: 1, embedding: [1, 2] },
        ]),
      ),
    /different widths/,
  )
})

test('colours reach from the 2nd to the 98th percentile of two different texts', () => {
  const count = 101
  const cosines = Float64Array.from({ length: count * count }, (_, at) => {
    const [row, column] = [Math.floor(at / count), at % count]
    return row === column ? 1 : Math.abs(row - column) / 200
  })
  const [low, high] = middleOf(cosines, count)
  assert.ok(low >= 0.005 && low < 0.02 && high > 0.4 && high <= 0.5)
  assert.deepEqual(middleOf([1], 1), [0, 1])
})

test('the square is painted in its order: the ends of the ramp outside of the middle, and texts beside themselves apart', () => {
  const cosines = [1, 0.2, 0.9, 0.2, 1, 0.55, 0.9, 0.55, 1]
  const ramp = Array.from({ length: 256 }, (_, step) => [step, 0, 0] as const)
  const pixels = heatPixels(cosines, { order: [2, 0, 1], low: 0.3, high: 0.8 }, { ramp, own: [7, 8, 9] })
  const reds = Array.from({ length: 9 }, (_, cell) => pixels[cell * 4])
  assert.deepEqual(reds, [7, 255, 128, 255, 7, 0, 128, 0, 7])
  assert.deepEqual([...pixels.subarray(0, 4)], [7, 8, 9, 255])
})

test('a width looks the same whether its map was made before or when it was asked for', () => {
  const [count, width] = [60, 256]
  const values = clustered(count, width)
  const eager = new VectorSpace({ count, width, values, tokens: 0 })
  const late = new VectorSpace({ count, width, values, tokens: 0 })
  for (let at = eager.widths.length - 1; at >= 0; at--) eager.prepare(at)
  for (const at of eager.widths.keys()) {
    const [one, other] = [eager.view(at), late.view(at)]
    assert.deepEqual(one.cosines, other.cosines)
    assert.deepEqual(one.nearest, other.nearest)
    assert.deepEqual(one.kept, other.kept)
    for (const [i, value] of one.points.entries())
      assert.ok(Math.abs(Math.abs(value) - Math.abs(other.points[i]!)) < 1e-4)
  }
})

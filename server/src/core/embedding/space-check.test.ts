import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { seeded } from '#test/support/seeded.ts'
import { PROBE_TEXTS } from './probe-texts.ts'
import { PROBE_IMAGES, takesProbeImages } from './probe-images.ts'
import { checkProbe, checkSpace } from './space-check.ts'

const TEXTS = 8

/** Bell-shaped, as the values of real vectors are. */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

function scaled(values: readonly number[] | Float32Array, length: number): Float32Array {
  const norm = Math.hypot(...values)
  return Float32Array.from(values, (value) => (value * length) / norm)
}

/** Vectors of a model: one for each text, of one length, or each of its own. */
function modelOf(seed: number, width: number, isNormalised: boolean): Float32Array[] {
  const random = seeded(seed)
  return Array.from({ length: TEXTS }, () => {
    const values = Array.from({ length: width }, () => normal(random))
    return scaled(values, isNormalised ? 1 : 5 + 20 * random())
  })
}

const width = fc.constantFrom(32, 384, 768, 1536)
const model = fc.record({ seed: fc.nat(), width, isNormalised: fc.boolean() })
const RUNS = runs(100)

const vectorsOf = ({ seed, width, isNormalised }: { seed: number; width: number; isNormalised: boolean }) =>
  modelOf(seed, width, isNormalised)

function assertQuarantined(reference: readonly Float32Array[], probed: readonly Float32Array[]): void {
  assert.equal(checkSpace(reference, probed).verdict, 'quarantined')
}

test('there are eight probe texts, all different, none long', () => {
  assert.equal(new Set(PROBE_TEXTS).size, TEXTS)
  assert.equal(PROBE_TEXTS.length, TEXTS)
  // Roughly: a token of English has four characters, one of other scripts is a character or less.
  for (const text of PROBE_TEXTS) assert.ok(text.length <= 400)
})

test('the same vectors are good, to the last bit', () => {
  fc.assert(
    fc.property(model, (drawn) => {
      const vectors = vectorsOf(drawn)
      const { verdict, leastCosine, normDrift, reason } = checkSpace(vectors, vectors)
      assert.deepEqual([verdict, normDrift, reason], ['good', 0, undefined])
      assert.ok(Math.abs((leastCosine as number) - 1) < 1e-12)
    }),
    RUNS,
  )
})

test('honest noise is never punished: a ten-thousandth of each value, or half precision', () => {
  fc.assert(
    fc.property(model, fc.nat(), (drawn, noise) => {
      const vectors = vectorsOf(drawn)
      const random = seeded(noise)
      const noisy = vectors.map((values) => values.map((value) => value * (1 + 1e-4 * (2 * random() - 1))))
      const halved = vectors.map((values) => Float32Array.from(new Float16Array(values)))
      for (const probed of [noisy, halved]) {
        assert.equal(checkSpace(vectors, probed).verdict, 'good')
        assert.equal(checkSpace(probed, vectors).verdict, 'good')
      }
    }),
    RUNS,
  )
})

test('another model is always caught', () => {
  fc.assert(
    fc.property(model, fc.nat(), (drawn, seed) => {
      fc.pre(seed !== drawn.seed)
      assertQuarantined(vectorsOf(drawn), modelOf(seed, drawn.width, drawn.isNormalised))
    }),
    RUNS,
  )
})

test('another pooling, of vectors that share most of their direction, is caught', () => {
  fc.assert(
    fc.property(model, fc.nat(), (drawn, seed) => {
      fc.pre(seed !== drawn.seed)
      const vectors = vectorsOf(drawn)
      const others = modelOf(seed, drawn.width, true)
      // Cosine near 0.97: what mean and first-token pooling of one model have in common at their closest.
      const pooled = vectors.map((values, text) => {
        const length = Math.hypot(...values)
        const mixed = values.map((value, at) => value + 0.25 * length * (others[text]?.[at] as number))
        return scaled(mixed, length)
      })
      assertQuarantined(vectors, pooled)
    }),
    RUNS,
  )
})

test('one text alone that went elsewhere is enough', () => {
  fc.assert(
    fc.property(model, fc.nat(TEXTS - 1), (drawn, text) => {
      const vectors = vectorsOf(drawn)
      const stranger = modelOf(drawn.seed + 1, drawn.width, drawn.isNormalised)[text] as Float32Array
      assertQuarantined(vectors, vectors.with(text, stranger))
    }),
    RUNS,
  )
})

test('negated, permuted, swapped and cut vectors are always caught', () => {
  fc.assert(
    fc.property(model, fc.integer({ min: 1, max: 31 }), (drawn, by) => {
      const vectors = vectorsOf(drawn)
      const each = (change: (values: Float32Array) => Float32Array) => vectors.map(change)
      assertQuarantined(
        vectors,
        each((values) => values.map((value) => -value)),
      )
      assertQuarantined(
        vectors,
        each((values) => Float32Array.of(...values.slice(by), ...values.slice(0, by))),
      )
      assertQuarantined(vectors, [...vectors.slice(1), vectors[0] as Float32Array])
      const cut = checkSpace(
        vectors,
        each((values) => values.slice(0, -by)),
      )
      assert.deepEqual([cut.verdict, cut.leastCosine], ['quarantined', undefined])
      assert.match(cut.reason as string, /another width/)
      assertQuarantined(vectors, vectors.slice(1))
    }),
    RUNS,
  )
})

test('another length is caught from one percent on, and no sooner', () => {
  fc.assert(
    fc.property(model, fc.double({ min: 0.001, max: 10, noNaN: true }), (drawn, factor) => {
      const vectors = vectorsOf(drawn)
      const probed = vectors.map((values) => values.map((value) => value * factor))
      const { verdict, normDrift, reason } = checkSpace(vectors, probed)
      assert.ok(Math.abs((normDrift as number) - Math.abs(factor - 1)) < 1e-5)
      // A hair on either side is a matter of rounding.
      if (Math.abs(Math.abs(factor - 1) - 0.01) < 1e-5) return
      assert.equal(verdict, Math.abs(factor - 1) > 0.01 ? 'quarantined' : 'good')
      if (verdict === 'quarantined') assert.match(reason as string, /other normalisation/)
    }),
    RUNS,
  )
})

test('the verdict follows the cosine alone where lengths agree: quarantined, warned, good', () => {
  for (const [cosine, verdict] of [
    [0.95, 'quarantined'],
    [0.9899, 'quarantined'],
    [0.9901, 'warned'],
    [0.9989, 'warned'],
    [0.9991, 'good'],
  ] as const) {
    const reference = Array.from({ length: TEXTS }, () => Float32Array.of(1, 0))
    const turned = Float32Array.of(cosine, Math.sqrt(1 - cosine ** 2))
    const check = checkSpace(reference, reference.with(3, turned))
    assert.equal(check.verdict, verdict, String(cosine))
    assert.ok(Math.abs((check.leastCosine as number) - cosine) < 1e-6)
  }
})

test('which of two is the reference does not matter to the cosine', () => {
  fc.assert(
    fc.property(model, fc.nat(), (drawn, seed) => {
      const [one, other] = [vectorsOf(drawn), modelOf(seed, drawn.width, false)]
      assert.equal(checkSpace(one, other).leastCosine, checkSpace(other, one).leastCosine)
    }),
    RUNS,
  )
})

test('what is no vector is never good: all zero, not a number, none at all', () => {
  const reference = [Float32Array.of(1, 0), Float32Array.of(0, 1)]
  for (const broken of [
    Float32Array.of(0, 0),
    Float32Array.of(Number.NaN, 1),
    Float32Array.of(Infinity, 0),
    new Float32Array(),
  ])
    assertQuarantined(reference, reference.with(1, broken))
  assertQuarantined([], [])
})

/** Vectors of texts and images of a model. */
function probeOf(drawn: { seed: number; width: number; isNormalised: boolean }) {
  const images = modelOf(drawn.seed + 1, drawn.width, drawn.isNormalised).slice(0, PROBE_IMAGES.length)
  return { texts: vectorsOf(drawn), images }
}

const wide = fc.record({
  seed: fc.nat(),
  width: fc.constantFrom(64, 512, 1408, 4096),
  isNormalised: fc.boolean(),
})

test("a decoder's noise is never punished: every value of an image is off by a thousandth", () => {
  fc.assert(
    fc.property(wide, fc.nat(), (drawn, noise) => {
      const reference = probeOf(drawn)
      const random = seeded(noise)
      const images = reference.images.map((values) => {
        const length = Math.hypot(...values)
        return values.map((value) => value + 1e-3 * length * (random() < 0.5 ? -1 : 1))
      })
      const { verdict, cosines } = checkProbe(reference, { ...reference, images })
      assert.equal(verdict, 'good')
      assert.equal(cosines?.length, TEXTS + PROBE_IMAGES.length)
    }),
    RUNS,
  )
})

test('a changed image encoder behind the same texts is always caught, and the reason says images', () => {
  fc.assert(
    fc.property(wide, fc.nat(), fc.nat(PROBE_IMAGES.length - 1), (drawn, seed, image) => {
      fc.pre(seed !== drawn.seed + 1)
      const reference = probeOf(drawn)
      const other = modelOf(seed, drawn.width, drawn.isNormalised)[image] as Float32Array
      const check = checkProbe(reference, { ...reference, images: reference.images.with(image, other) })
      assert.equal(check.verdict, 'quarantined')
      assert.match(check.reason ?? '', /^images (?:are in another space|have another normalisation): /)
      assert.ok(check.cosines?.slice(0, TEXTS).every((cosine) => cosine > 0.999_999))
    }),
    RUNS,
  )
})

test('images have limits of their own, the worse kind decides, and without images texts decide alone', () => {
  const texts = Array.from({ length: TEXTS }, () => Float32Array.of(1, 0))
  const images = texts.slice(0, 3)
  const turned = (cosine: number) => Float32Array.of(cosine, Math.sqrt(1 - cosine ** 2))
  for (const [image, text, verdict, reason] of [
    [0.9951, 1, 'good', /^$/],
    [0.9949, 1, 'warned', /^images are near the edge of their space: /],
    [0.9801, 1, 'warned', /^images are near the edge/],
    [0.9799, 1, 'quarantined', /^images are in another space: least cosine 0\.9799/],
    [0.9949, 0.9, 'quarantined', /^another space: .*; images are near the edge/],
    [0.5, 0.995, 'quarantined', /^near the edge of its space: .*; images are in another space/],
  ] as const) {
    const probed = { texts: texts.with(2, turned(text)), images: images.with(1, turned(image)) }
    const check = checkProbe({ texts, images }, probed)
    assert.equal(check.verdict, verdict, `${image} ${text}`)
    assert.match(check.reason ?? '', reason)
    assert.ok(Math.abs((check.leastCosine as number) - Math.min(image, text)) < 1e-6)
    assert.deepEqual(checkProbe({ texts }, probed), checkSpace(texts, probed.texts))
    assert.deepEqual(checkProbe({ texts, images }, { texts: probed.texts }), checkSpace(texts, probed.texts))
  }
  const narrow = { texts, images: images.with(0, Float32Array.of(1)) }
  assert.match(
    checkProbe({ texts, images }, narrow).reason ?? '',
    /^images have another width: 1 instead of 2/,
  )
})

test('a deployment is probed with images if it takes all of them', () => {
  const contents = {
    wire: 'messages',
    inputs: ['text', 'image'],
    fuses: true,
    maxParts: 2,
    formats: ['png', 'jpeg'],
    fetches: false,
  } as const
  for (const [changes, takes] of [
    [{}, true],
    [{ inputs: ['text', 'audio'] }, false],
    [{ formats: ['png'] }, false],
    [{ maxPartBytes: 5000 }, false],
    [{ maxPixels: 10_000 }, false],
    [{ maxPartBytes: 20_000, maxPixels: 224 * 224 }, true],
  ] as const)
    assert.equal(
      takesProbeImages(aDeployment({ capabilities: { contents: { ...contents, ...changes } } })),
      takes,
      JSON.stringify(changes),
    )
  assert.equal(takesProbeImages(aDeployment()), false)
})

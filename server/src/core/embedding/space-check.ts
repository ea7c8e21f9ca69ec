/**
 * Whether vectors of the same texts and images belong to the same space. Honest copies of a model differ in the last bits: other
 * hardware, other batch sizes, half precision. Another model, pooling, quantisation or normalisation differs by more, and
 * its vectors look as valid as any: only a comparison shows it.
 */
import { SHORT_INDEX } from './probe-texts.ts'

/** Lowest cosine of any text within one space. Half precision stays above 0.9999, other weights rarely reach 0.9. */
export const MIN_COSINE = 0.99
/** Below it an operator should look, but neighbours are still neighbours. */
export const WARNED_COSINE = 0.999
/**
 * The same two limits for images, which libraries decode and scale each in their own way. `npm run lab -- check/image-drift`
 * measured a decoder that is one level off (0.99999), another filter of scaling (0.9998), and values that are 0.001 off each (0.998
 * at 4,096 dimensions); beside them swapped colours (0.89) and another encoder (0.27).
 */
export const MIN_IMAGE_COSINE = 0.98
export const WARNED_IMAGE_COSINE = 0.995
/**
 * Where both limits end for a model whose answers to one text vary: below it are other models, and no noise. The nearest one known,
 * four-bit values, stays above 0.996.
 */
const LOWEST_COSINE = 0.95
/**
 * How far outside the spread of its own samples an answer may be: five samples of eight texts show about two thirds of the largest
 * distance that a day of answers has.
 */
const SPREAD_TIMES = 3
/** A deployment returns at this share of the distance at which it left, so that noise at the limit does not make it come and go. */
const RETURN_SHARE = 0.7
/** Largest drift of length: callers who compare by dot product would see another length as another closeness. */
export const MAX_NORM_DRIFT = 0.01

/** Vectors of the probes, of a deployment or of the reference. */
export interface ProbeVectors {
  /** One for each probe text, in their order. */
  readonly texts: readonly Float32Array[]
  /** One for each probe image, in their order. Undefined: there are none to compare. */
  readonly images?: readonly Float32Array[] | undefined
}

/** What deployments are compared with. */
export interface ReferenceVectors extends ProbeVectors {
  /** The largest distance, 1 − cosine, of a sample from the mean that became the reference. Undefined: there was one sample. */
  readonly spread?: number | undefined
  readonly imageSpread?: number | undefined
}

/** `isReturning`: it is quarantined, and must be nearer than one that serves. */
export interface CheckTerms {
  readonly isReturning?: boolean | undefined
}

export interface SpaceCheck {
  readonly verdict: 'good' | 'warned' | 'quarantined'
  /** One for each text, then one for each image, in their order; undefined when vectors could not be compared. */
  readonly cosines: readonly number[] | undefined
  /** The smallest of them. */
  readonly leastCosine: number | undefined
  /** The largest difference in length, as a share of the reference's; undefined likewise. */
  readonly normDrift: number | undefined
  /** The reason in words, for an operator. Undefined when the spaces agree. */
  readonly reason: string | undefined
}

/** Limits of one kind of probe, and the words for leaving them: an operator reads which encoder has changed. */
interface ProbeKind {
  readonly minCosine: number
  readonly warnedCosine: number
  readonly noun: string
  readonly space: string
  readonly edge: string
  readonly length: string
  readonly width: string
}

const TEXTS: ProbeKind = {
  minCosine: MIN_COSINE,
  warnedCosine: WARNED_COSINE,
  noun: 'texts',
  space: 'another space',
  edge: 'near the edge of its space',
  length: 'other normalisation',
  width: 'another width',
}

const IMAGES: ProbeKind = {
  minCosine: MIN_IMAGE_COSINE,
  warnedCosine: WARNED_IMAGE_COSINE,
  noun: 'images',
  space: 'images are in another space',
  edge: 'images are near the edge of their space',
  length: 'images have another normalisation',
  width: 'images have another width',
}

const VERDICTS = ['good', 'warned', 'quarantined'] as const

/** Images are compared where both sides have them. The worse of the two kinds decides. */
export function checkProbe(
  reference: ReferenceVectors,
  probed: ProbeVectors,
  terms: CheckTerms = {},
): SpaceCheck {
  const texts = checkSpace(reference.texts, probed.texts, limitsOf(TEXTS, reference.spread, terms))
  if (reference.images === undefined || probed.images === undefined) return texts
  const images = checkSpace(reference.images, probed.images, limitsOf(IMAGES, reference.imageSpread, terms))
  const both = [texts, images]
  const verdict = VERDICTS.findLast((one) => both.some((check) => check.verdict === one)) ?? 'good'
  const reason = both.flatMap((check) => check.reason ?? []).join('; ') || undefined
  if (texts.cosines === undefined || images.cosines === undefined) return incomparable(reason ?? 'no vectors')
  return {
    verdict,
    cosines: [...texts.cosines, ...images.cosines],
    leastCosine: Math.min(texts.leastCosine ?? 1, images.leastCosine ?? 1),
    normDrift: Math.max(texts.normDrift ?? 0, images.normDrift ?? 0),
    reason,
  }
}

/** The text of the shortest probe alone. */
export function checkShort(
  { texts, spread }: ReferenceVectors,
  vector: Float32Array,
  terms: CheckTerms = {},
): SpaceCheck {
  return checkSpace([texts[SHORT_INDEX] as Float32Array], [vector], limitsOf(TEXTS, spread, terms))
}

/** The limits of one kind of probe for a model whose samples have this spread. */
function limitsOf(kind: ProbeKind, spread = 0, { isReturning = false }: CheckTerms): ProbeKind {
  const furthest = Math.min(Math.max(1 - kind.minCosine, SPREAD_TIMES * spread), 1 - LOWEST_COSINE)
  const minCosine = 1 - furthest * (isReturning ? RETURN_SHARE : 1)
  return {
    ...kind,
    minCosine,
    warnedCosine: Math.max(minCosine, Math.min(kind.warnedCosine, 1 - 2 * spread)),
  }
}

/** The mean of several answers to the same texts or images, and how far the furthest of them is from it. */
export function meanOf(samples: readonly (readonly Float32Array[])[]): {
  readonly mean: readonly Float32Array[]
  readonly spread: number
} {
  const [first = []] = samples
  const mean = first.map((_, index) => meanVector(samples.map((sample) => sample[index] as Float32Array)))
  let spread = 0
  for (const sample of samples)
    for (const [index, vector] of sample.entries())
      spread = Math.max(spread, 1 - compare(mean[index] as Float32Array, vector).cosine)
  return { mean, spread }
}

/** At the mean of their lengths: the mean of vectors that vary is shorter than each of them. Of one vector, that vector. */
function meanVector(vectors: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array()] = vectors
  if (vectors.length === 1) return first
  const sum = new Float64Array(first.length)
  let lengths = 0
  for (const vector of vectors) {
    lengths += Math.hypot(...vector)
    for (const [place, value] of vector.entries()) sum[place] = (sum[place] as number) + value
  }
  const scale = lengths / vectors.length / Math.hypot(...sum)
  return Float32Array.from(sum, (value) => value * scale)
}

/** Whether samples are too far from one another to be noise of one model. */
export function isTorn(spread: number): boolean {
  return !(spread < 1 - LOWEST_COSINE)
}

/** Both in the order of the probes. */
export function checkSpace(
  reference: readonly Float32Array[],
  probed: readonly Float32Array[],
  kind = TEXTS,
): SpaceCheck {
  if (reference.length === 0 || probed.length !== reference.length)
    return incomparable(`${probed.length} vectors came for ${reference.length} ${kind.noun}`)
  const cosines: number[] = []
  let normDrift = 0
  for (const [index, expected] of reference.entries()) {
    const actual = probed[index] as Float32Array
    if (actual.length !== expected.length)
      return incomparable(`${kind.width}: ${actual.length} instead of ${expected.length}`)
    const { cosine, drift } = compare(expected, actual)
    if (!Number.isFinite(cosine) || !Number.isFinite(drift))
      return incomparable(
        `vector ${index + 1} of the ${kind.noun} is all zero or holds a value that is no number`,
      )
    cosines.push(cosine)
    normDrift = Math.max(normDrift, drift)
  }
  return judge(cosines, normDrift, kind)
}

function judge(cosines: readonly number[], normDrift: number, kind: ProbeKind): SpaceCheck {
  const { minCosine, warnedCosine } = kind
  const leastCosine = Math.min(1, ...cosines)
  const compared = { cosines, leastCosine, normDrift }
  if (leastCosine < minCosine) {
    const reason = `${kind.space}: least cosine ${shown(leastCosine)}, below ${limitText(minCosine)}`
    return { verdict: 'quarantined', ...compared, reason }
  }
  if (normDrift > MAX_NORM_DRIFT) {
    const reason = `${kind.length}: lengths differ by ${shown(normDrift * 100)} %, more than ${MAX_NORM_DRIFT * 100} %`
    return { verdict: 'quarantined', ...compared, reason }
  }
  if (leastCosine < warnedCosine) {
    const reason = `${kind.edge}: least cosine ${shown(leastCosine)}, below ${limitText(warnedCosine)}`
    return { verdict: 'warned', ...compared, reason }
  }
  return { verdict: 'good', ...compared, reason: undefined }
}

/**
 * In doubles: the sum of thousands of float32 products would drift by itself. Not finite where a vector has no direction.
 */
function compare(
  expected: Float32Array,
  actual: Float32Array,
): { readonly cosine: number; readonly drift: number } {
  let product = 0
  let expectedSquares = 0
  let actualSquares = 0
  for (let index = 0; index < expected.length; index += 1) {
    const [one, other] = [expected[index] as number, actual[index] as number]
    product += one * other
    expectedSquares += one * one
    actualSquares += other * other
  }
  const [expectedNorm, actualNorm] = [Math.sqrt(expectedSquares), Math.sqrt(actualSquares)]
  return {
    // Equal vectors come out a rounding above or below one.
    cosine: product / (expectedNorm * actualNorm),
    drift: Math.abs(actualNorm - expectedNorm) / expectedNorm,
  }
}

function incomparable(reason: string): SpaceCheck {
  return { verdict: 'quarantined', cosines: undefined, leastCosine: undefined, normDrift: undefined, reason }
}

function limitText(limit: number): string {
  return String(Number(limit.toFixed(4)))
}

function shown(value: number): string {
  return value.toPrecision(6)
}

/**
 * Whether vectors of the same texts and images belong to the same space. Honest copies of a model differ in the last bits: other
 * hardware, other batch sizes, half precision. Another model, pooling, quantisation or normalisation differs by more, and
 * its vectors look as valid as any: only a comparison shows it.
 */

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
/** Largest drift of length: callers who compare by dot product would see another length as another closeness. */
export const MAX_NORM_DRIFT = 0.01

/** Vectors of the probes, of a deployment or of the reference. */
export interface ProbeVectors {
  /** One for each probe text, in their order. */
  readonly texts: readonly Float32Array[]
  /** One for each probe image, in their order. Undefined: there are none to compare. */
  readonly images?: readonly Float32Array[] | undefined
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
export function checkProbe(reference: ProbeVectors, probed: ProbeVectors): SpaceCheck {
  const texts = checkSpace(reference.texts, probed.texts)
  if (reference.images === undefined || probed.images === undefined) return texts
  const images = checkSpace(reference.images, probed.images, IMAGES)
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
    const reason = `${kind.space}: least cosine ${shown(leastCosine)}, below ${minCosine}`
    return { verdict: 'quarantined', ...compared, reason }
  }
  if (normDrift > MAX_NORM_DRIFT) {
    const reason = `${kind.length}: lengths differ by ${shown(normDrift * 100)} %, more than ${MAX_NORM_DRIFT * 100} %`
    return { verdict: 'quarantined', ...compared, reason }
  }
  if (leastCosine < warnedCosine) {
    const reason = `${kind.edge}: least cosine ${shown(leastCosine)}, below ${warnedCosine}`
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

function shown(value: number): string {
  return value.toPrecision(6)
}

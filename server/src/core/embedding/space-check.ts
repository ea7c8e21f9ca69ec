/**
 * Whether vectors of the same texts belong to the same space. Honest copies of a model differ in the last bits: other
 * hardware, other batch sizes, half precision. Another model, pooling, quantisation or normalisation differs by more, and
 * its vectors look as valid as any: only a comparison shows it.
 */

/** Lowest cosine of any text within one space. Half precision stays above 0.9999, other weights rarely reach 0.9. */
export const MIN_COSINE = 0.99
/** Below it an operator should look, but neighbours are still neighbours. */
export const WARNED_COSINE = 0.999
/** Largest drift of length: callers who compare by dot product would see another length as another closeness. */
export const MAX_NORM_DRIFT = 0.01

export interface SpaceCheck {
  readonly verdict: 'good' | 'warned' | 'quarantined'
  /** One for each text, in their order; undefined when vectors could not be compared. */
  readonly cosines: readonly number[] | undefined
  /** The smallest of them. */
  readonly leastCosine: number | undefined
  /** The largest difference in length, as a share of the reference's; undefined likewise. */
  readonly normDrift: number | undefined
  /** The reason in words, for an operator. Undefined when the spaces agree. */
  readonly reason: string | undefined
}

/** Both in the order of the texts. */
export function checkSpace(reference: readonly Float32Array[], probed: readonly Float32Array[]): SpaceCheck {
  if (reference.length === 0 || probed.length !== reference.length)
    return incomparable(`${probed.length} vectors came for ${reference.length} texts`)
  const cosines: number[] = []
  let normDrift = 0
  for (const [index, expected] of reference.entries()) {
    const actual = probed[index] as Float32Array
    if (actual.length !== expected.length)
      return incomparable(`another width: ${actual.length} instead of ${expected.length}`)
    const { cosine, drift } = compare(expected, actual)
    if (!Number.isFinite(cosine) || !Number.isFinite(drift))
      return incomparable(`vector ${index + 1} is all zero or holds a value that is no number`)
    cosines.push(cosine)
    normDrift = Math.max(normDrift, drift)
  }
  return judge(cosines, normDrift)
}

function judge(cosines: readonly number[], normDrift: number): SpaceCheck {
  const leastCosine = Math.min(1, ...cosines)
  const compared = { cosines, leastCosine, normDrift }
  if (leastCosine < MIN_COSINE) {
    const reason = `another space: least cosine ${shown(leastCosine)}, below ${MIN_COSINE}`
    return { verdict: 'quarantined', ...compared, reason }
  }
  if (normDrift > MAX_NORM_DRIFT) {
    const reason = `other normalisation: lengths differ by ${shown(normDrift * 100)} %, more than ${MAX_NORM_DRIFT * 100} %`
    return { verdict: 'quarantined', ...compared, reason }
  }
  if (leastCosine < WARNED_COSINE) {
    const reason = `near the edge of its space: least cosine ${shown(leastCosine)}, below ${WARNED_COSINE}`
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

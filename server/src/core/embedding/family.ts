/**
 * Whether two models share one space. Members of a family are close, not equal: a cosine between them says little, because it
 * depends on how far apart a model keeps its texts. What callers rely on is the order of neighbours: a query by one model must
 * find in an index by the other what it would find in an index of its own.
 */

/** Least agreement of members. `npm run lab -- check/families` derives it, and docs/decisions/2026-11-18-families.md shows it. */
export const MIN_AGREEMENT = 0.78
/** Least share of texts that find themselves: four of the texts are translations of one, which may be taken for one another. */
const MIN_FOUND = 0.85

export interface Agreement {
  /** The width at which they were compared: the narrower of the two. */
  readonly width: number
  /** The share of texts whose nearest vector of the other model is that of the same text, in the worse direction. */
  readonly found: number
  /**
   * How alike the order of neighbours is, from −1 to 1: each text is asked for by one model in an index by the other, and the nearer half
   * of its neighbours is compared with their order by the index's own model. The mean rank correlation, in the worse direction.
   */
  readonly order: number
}

/** Both in the order of the same texts. Undefined when they can't be compared: too few, or one without a direction. */
export function agreementOf(
  ones: readonly Float32Array[],
  others: readonly Float32Array[],
): Agreement | undefined {
  const width = Math.min(ones[0]?.length ?? 0, others[0]?.length ?? 0)
  if (ones.length !== others.length || ones.length < MIN_TEXTS || width === 0) return undefined
  const [first, second] = [unitVectors(ones, width), unitVectors(others, width)]
  if (first === undefined || second === undefined) return undefined
  const own = { first: cosines(first, first), second: cosines(second, second) }
  const across = cosines(first, second)
  const back = transposed(across)
  return {
    width,
    found: Math.min(foundIn(across), foundIn(back)),
    order: Math.min(orderIn(own.first, back), orderIn(own.second, across)),
  }
}

/** Texts without which there is no order of neighbours. */
const MIN_TEXTS = 8

/** Why two models do not share a space. Undefined: they do. */
export function disagreementOf({ found, order }: Agreement): string | undefined {
  if (order < MIN_AGREEMENT)
    return `neighbours come in another order: agreement ${order.toFixed(3)}, below ${MIN_AGREEMENT}`
  if (found < MIN_FOUND)
    return `only ${(found * 100).toFixed(1)} % of the texts find themselves, fewer than ${MIN_FOUND * 100} %`
  return undefined
}

/** Cosines of all pairs: a row for each text that asks, a column for each that answers. */
type Cosines = readonly Float64Array[]

function unitVectors(vectors: readonly Float32Array[], width: number): readonly Float64Array[] | undefined {
  const units: Float64Array[] = []
  for (const vector of vectors) {
    if (vector.length < width) return undefined
    const values = Float64Array.from(vector.subarray(0, width))
    const length = Math.sqrt(dot(values, values))
    if (!(length > 0 && Number.isFinite(length))) return undefined
    units.push(values.map((value) => value / length))
  }
  return units
}

function cosines(asking: readonly Float64Array[], answering: readonly Float64Array[]): Cosines {
  return asking.map((one) => Float64Array.from(answering, (other) => dot(one, other)))
}

function transposed(all: Cosines): Cosines {
  return all.map((_, column) => Float64Array.from(all, (row) => row[column] as number))
}

function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0
  for (let index = 0; index < one.length; index += 1) sum += (one[index] as number) * (other[index] as number)
  return sum
}

function foundIn(across: Cosines): number {
  const found = across.filter((row, text) =>
    row.every((value, other) => other === text || value < row[text]!),
  )
  return found.length / across.length
}

/**
 * A row of `expected` for each text in the index of its own model; a row of `across` for the same text, asked by the other model. The
 * farther half is left out: any model knows what is unrelated, and answers have the nearest alone.
 */
function orderIn(expected: Cosines, across: Cosines): number {
  let sum = 0
  for (const [text, row] of expected.entries()) {
    const neighbours = [...row.keys()].filter((other) => other !== text)
    const near = neighbours.toSorted((one, other) => row[other]! - row[one]!).slice(0, row.length / 2)
    sum += rankCorrelation(
      near.map((other) => row[other]!),
      near.map((other) => across[text]![other]!),
    )
  }
  return sum / expected.length
}

/** Spearman's, with the mean rank for equal values. Zero where one side has no order. */
export function rankCorrelation(ones: readonly number[], others: readonly number[]): number {
  const [first, second] = [ranks(ones), ranks(others)]
  const mean = (ones.length - 1) / 2
  let [product, firstSquares, secondSquares] = [0, 0, 0]
  for (const [index, rank] of first.entries()) {
    const [one, other] = [rank - mean, second[index]! - mean]
    product += one * other
    firstSquares += one * one
    secondSquares += other * other
  }
  return firstSquares === 0 || secondSquares === 0 ? 0 : product / Math.sqrt(firstSquares * secondSquares)
}

function ranks(values: readonly number[]): readonly number[] {
  const order = [...values.keys()].toSorted((one, other) => values[one]! - values[other]!)
  const found = Array.from<number>({ length: values.length })
  for (let start = 0; start < order.length;) {
    let end = start + 1
    while (end < order.length && values[order[end]!] === values[order[start]!]) end += 1
    for (let place = start; place < end; place += 1) found[order[place]!] = (start + end - 1) / 2
    start = end
  }
  return found
}

/** The vectors of some texts in one space, and what can be seen of them at each width. It never holds vectors of two spaces. */
import type { Vectors } from './answer.ts'
import { likenessOrder } from './likeness-order.ts'
import { middleOf } from './middle.ts'
import { keptOf, meanOf, nearestOf } from './neighbours.ts'
import { projectionOf } from './projection.ts'
import { cosinesAt, runningTotals, type RunningTotals } from './running-totals.ts'

/** What the page draws from, at one width. */
export interface View {
  /** The place of its width among all. */
  readonly at: number
  readonly points: Float64Array
  readonly shares: readonly [x: number, y: number]
  /** A square of all texts. */
  readonly cosines: Float32Array
  readonly nearest: Int32Array
  /** For each text, which share of its ten nearest at full width is still there. */
  readonly kept: Float64Array
  readonly query: QueryView | undefined
}

interface QueryView {
  readonly point: readonly [x: number, y: number]
  readonly cosines: Float32Array
}

/** How cosines are laid out and coloured. */
export interface Arranged {
  /** Alike texts stand together. */
  readonly order: Int32Array
  /** Between them lie 96 of 100 cosines. */
  readonly low: number
  readonly high: number
}

/** One vector as it came. */
export interface RawVector {
  readonly values: Float32Array
  readonly length: number
  readonly least: number
  readonly most: number
}

export class VectorSpace {
  readonly widths: readonly number[]
  readonly #vectors: Vectors
  readonly #totals: RunningTotals
  readonly #nearestAtFullWidth: Int32Array
  #query: Float32Array | undefined
  #axes: readonly Float64Array[] = []

  constructor(vectors: Vectors) {
    this.#vectors = vectors
    this.#totals = runningTotals(vectors.values, vectors.count)
    this.widths = this.#totals.widths
    this.#nearestAtFullWidth = nearestOf(this.#cosines(this.widths.length - 1), vectors.count)
  }

  view(at: number): View {
    const { count } = this.#vectors
    const cosines = this.#cosines(at)
    const projection = projectionOf(cosines, count, this.#axes)
    this.#axes = projection.axes
    const nearest = nearestOf(cosines, count)
    const own = this.#query && this.#queryCosines(this.#query, this.widths[at] ?? 0)
    return {
      at,
      points: projection.points,
      shares: projection.shares,
      cosines: new Float32Array(cosines),
      nearest,
      kept: keptOf(this.#nearestAtFullWidth, nearest, count),
      query: own && { cosines: own, point: projection.place(own) },
    }
  }

  /** How many of the ten nearest are kept at a width, on average over all texts. */
  keptAt(at: number): number {
    const { count } = this.#vectors
    return meanOf(keptOf(this.#nearestAtFullWidth, nearestOf(this.#cosines(at), count), count))
  }

  arrangedAt(at: number): Arranged {
    const { count } = this.#vectors
    const cosines = this.#cosines(at)
    const [low, high] = middleOf(cosines, count)
    return { order: likenessOrder(cosines, count), low, high }
  }

  /** One more text, which does not move the others. undefined forgets it. */
  ask(query: Vectors | undefined): void {
    if (query !== undefined && query.width !== this.#vectors.width)
      throw new RangeError('the query is of another width: it would be of another space')
    this.#query = query?.values
  }

  raw(index: number): RawVector {
    const { width, values } = this.#vectors
    const own = values.slice(index * width, (index + 1) * width)
    let [squares, least, most] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const value of own) {
      squares += value * value
      least = Math.min(least, value)
      most = Math.max(most, value)
    }
    return { values: own, length: Math.sqrt(squares), least, most }
  }

  /** One line of JSON for each text, to keep. */
  lines(texts: readonly string[]): Blob {
    return new Blob(
      texts.map(
        (text, index) => `${JSON.stringify({ text, embedding: Array.from(this.raw(index).values) })}\n`,
      ),
      { type: 'application/jsonl' },
    )
  }

  #cosines(at: number): Float64Array {
    return cosinesAt(this.#totals, at)
  }

  #queryCosines(query: Float32Array, cut: number): Float32Array {
    const { count, width, values } = this.#vectors
    let own = 0
    for (let i = 0; i < cut; i++) own += query[i]! * query[i]!
    return Float32Array.from({ length: count }, (_, row) => {
      let [sum, squares] = [0, 0]
      for (let i = 0, at = row * width; i < cut; i++, at++) {
        sum += query[i]! * values[at]!
        squares += values[at]! * values[at]!
      }
      return own > 0 && squares > 0 ? sum / Math.sqrt(own * squares) : 0
    })
  }
}

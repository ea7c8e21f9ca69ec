/** The vectors of some texts in one space, and what can be seen of them at each width. It never holds vectors of two spaces. */
import type { HeatColours } from '../../charts/vectors/ramp.ts'
import type { Vectors } from './answer.ts'
import { heatPixels } from './heat-pixels.ts'
import { likenessOrder } from './likeness-order.ts'
import { middleOf } from './middle.ts'
import { keptOf, meanOf, nearestOf } from './neighbours.ts'
import { projectionOf, type Projection } from './projection.ts'
import { cosinesAt, runningTotals, type RunningTotals } from './running-totals.ts'
import { keptByType, type KeptByType } from './types.ts'

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

/** In which order texts stand in the square of all cosines. */
export type Order = 'likeness' | 'typed' | 'group'

/** How cosines are laid out and coloured. */
export interface Arranged {
  /** The index of the text at each place. */
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
  /** What was found at a width stays: it is a few kilobytes, and a map needs hundreds of sums over all pairs. */
  readonly #projections: (Projection | undefined)[]
  readonly #nearest: (Int32Array | undefined)[]
  readonly #cosines: Float64Array
  #cosinesOf: number | undefined
  #query: Float32Array | undefined

  constructor(vectors: Vectors) {
    this.#vectors = vectors
    this.#totals = runningTotals(vectors.values, vectors.count)
    this.widths = this.#totals.widths
    this.#projections = this.widths.map(() => undefined)
    this.#nearest = this.widths.map(() => undefined)
    this.#cosines = new Float64Array(vectors.count ** 2)
  }

  view(at: number): View {
    const { points, shares, place } = this.#projectionAt(at)
    const own = this.#query && this.#queryCosines(this.#query, this.widths[at] ?? 0)
    return {
      at,
      points: points.slice(),
      shares,
      cosines: new Float32Array(this.#cosinesAt(at)),
      nearest: this.#nearestAt(at).slice(),
      kept: this.#keptAt(at),
      query: own && { cosines: own, point: place(own) },
    }
  }

  /** Computes the map of a width before it is requested. */
  prepare(at: number): void {
    this.#projectionAt(at)
  }

  /** How many of the ten nearest are kept at a width, on average over all texts. */
  keptAt(at: number): number {
    return meanOf(this.#keptAt(at))
  }

  /** What each type keeps of the ten nearest when vectors are cut to a width. */
  keptByTypeAt(width: number): KeptByType {
    return keptByType(this.#vectors, width, this.#nearestAt(this.widths.length - 1))
  }

  /** Within a group, alike texts stand together too. */
  arrangedAt(at: number, by: Order, groupOf: readonly number[]): Arranged {
    const { count } = this.#vectors
    const cosines = this.#cosinesAt(at)
    const [low, high] = middleOf(cosines, count)
    if (by === 'typed') return { order: Int32Array.from({ length: count }, (_, text) => text), low, high }
    const order = likenessOrder(cosines, count)
    if (by === 'group') order.set(Array.from(order).toSorted((a, b) => (groupOf[a] ?? 0) - (groupOf[b] ?? 0)))
    return { order, low, high }
  }

  /** All cosines as an image, one pixel per cell. */
  pixelsAt(at: number, arranged: Arranged, colours: HeatColours): Uint8ClampedArray<ArrayBuffer> {
    return heatPixels(this.#cosinesAt(at), arranged, colours)
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

  #projectionAt(at: number): Projection {
    const wider = this.#projections.find((one, place) => place > at && one !== undefined)
    return (this.#projections[at] ??= projectionOf(this.#cosinesAt(at), this.#vectors.count, wider?.axes))
  }

  #nearestAt(at: number): Int32Array {
    return (this.#nearest[at] ??= nearestOf(this.#cosinesAt(at), this.#vectors.count))
  }

  #keptAt(at: number): Float64Array {
    return keptOf(this.#nearestAt(this.widths.length - 1), this.#nearestAt(at), this.#vectors.count)
  }

  /** Of the width that was asked for last: all widths would be a hundred megabytes. */
  #cosinesAt(at: number): Float64Array {
    if (this.#cosinesOf !== at) cosinesAt(this.#totals, at, this.#cosines)
    this.#cosinesOf = at
    return this.#cosines
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

/** Asks the worker that holds the vectors of one space. The page itself never has more than one of them. */
import type { HeatColours } from '../charts/vectors/ramp.ts'
import type { Arranged, Order, RawVector, View } from './vectors/vector-space.ts'

/** What can be asked, and what comes back. */
export interface Questions {
  /** The body of an answer. It is moved, not copied. */
  readonly load: { readonly asked: ArrayBuffer; readonly answered: Loaded }
  readonly view: { readonly asked: number; readonly answered: View }
  readonly kept: { readonly asked: number; readonly answered: number }
  /** Finds the map of a width before somebody looks at it. */
  readonly prepare: { readonly asked: number; readonly answered: undefined }
  readonly square: { readonly asked: SquareWish; readonly answered: Square }
  /** The body of an answer with one vector; undefined forgets the query. */
  readonly query: { readonly asked: ArrayBuffer | undefined; readonly answered: number }
  readonly raw: { readonly asked: number; readonly answered: RawVector }
  readonly lines: { readonly asked: readonly string[]; readonly answered: Blob }
}

export type Asking = {
  [Kind in keyof Questions]: {
    readonly id: number
    readonly kind: Kind
    readonly asked: Questions[Kind]['asked']
  }
}[keyof Questions]

export interface Answering {
  readonly id: number
  readonly answered?: unknown
  readonly problem?: string
}

export interface Loaded {
  readonly count: number
  readonly width: number
  readonly widths: readonly number[]
  readonly tokens: number
}

export interface SquareWish {
  readonly at: number
  readonly by: Order
  readonly groupOf: readonly number[]
  readonly colours: HeatColours
}

/** All cosines in an order, and as a picture with one pixel a cell. */
export interface Square extends Arranged {
  readonly picture: ImageBitmap
}

export type { Order, RawVector, View }

interface Waiting {
  readonly resolve: (answered: never) => void
  readonly reject: (error: Error) => void
}

export class VectorsDesk {
  readonly #worker = new Worker(new URL('./vectors.worker.ts', import.meta.url), { type: 'module' })
  readonly #waiting = new Map<number, Waiting>()
  #last = 0

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<Answering>) => {
      const waiting = this.#waiting.get(data.id)
      this.#waiting.delete(data.id)
      if (data.problem === undefined) waiting?.resolve(data.answered as never)
      else waiting?.reject(new Error(data.problem))
    }
    this.#worker.onerror = (event) => this.#refuseAll(new Error(event.message))
  }

  ask<Kind extends keyof Questions>(
    kind: Kind,
    asked: Questions[Kind]['asked'],
  ): Promise<Questions[Kind]['answered']> {
    const id = ++this.#last
    const { promise, resolve, reject } = Promise.withResolvers<Questions[Kind]['answered']>()
    this.#waiting.set(id, { resolve, reject })
    this.#worker.postMessage({ id, kind, asked }, asked instanceof ArrayBuffer ? [asked] : [])
    return promise
  }

  close(): void {
    this.#worker.terminate()
    this.#refuseAll(new Error('the worker was closed'))
  }

  #refuseAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

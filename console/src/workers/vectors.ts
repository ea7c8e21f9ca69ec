/** Starts the worker that holds the vectors of one space. The page itself never has more than one vector. */
import type { HeatColours } from '../charts/vectors/ramp.ts'
import type { KeptByType } from './vectors/types.ts'
import type { Arranged, Order, RawVector, View } from './vectors/vector-space.ts'
import { WorkerClient } from './worker-client.ts'

export interface VectorTasks {
  /** The body of an answer. It is moved, not copied. */
  readonly load: { readonly request: ArrayBuffer; readonly response: Loaded }
  /** Everything the views show at one width, by its index. */
  readonly view: { readonly request: number; readonly response: View }
  /** The mean share of nearest neighbours that one width keeps. */
  readonly kept: { readonly request: number; readonly response: number }
  /** Computes the map of a width before it is shown. */
  readonly prepare: { readonly request: number; readonly response: void }
  readonly heatMap: { readonly request: HeatMapRequest; readonly response: HeatMapCells }
  /** The body of an answer with one vector; undefined removes the query. */
  readonly query: { readonly request: ArrayBuffer | undefined; readonly response: number }
  /** What each type keeps of the ten nearest, cut to one width. */
  readonly types: { readonly request: number; readonly response: KeptByType }
  readonly raw: { readonly request: number; readonly response: RawVector }
  /** All vectors as lines of JSON, with their texts. */
  readonly lines: { readonly request: readonly string[]; readonly response: Blob }
}

export interface Loaded {
  readonly count: number
  readonly width: number
  readonly widths: readonly number[]
  readonly tokens: number
  /** By kind of part, where the answer says it. */
  readonly tokensByKind?: Readonly<Record<string, number>> | undefined
}

export interface HeatMapRequest {
  readonly at: number
  readonly by: Order
  readonly groupOf: readonly number[]
  readonly colours: HeatColours
}

/** All cosines in an order, and as an image with one pixel per cell. */
export interface HeatMapCells extends Arranged {
  readonly image: ImageBitmap
}

export type { Order, RawVector, View }

export type VectorClient = WorkerClient<VectorTasks>

export function startVectorWorker(): VectorClient {
  return new WorkerClient(new Worker(new URL('./vectors.worker.ts', import.meta.url), { type: 'module' }))
}

/** Vectors that were made before, so that the same text is not paid for twice. */
import type { EmbeddingModel, InputType } from '#core/catalog/catalog.ts'
import type { Input } from '#core/embedding/input.ts'

/** A full-width vector and how it was made. Holders must not change `values`: it may be the cache's own. */
export interface CachedVector {
  readonly values: Float32Array
  /** Tokens that the upstream counted for this text; where it counted several at once, this text's share. */
  readonly tokens: number
  /** The deployment that made it: if that turns out to have left its space, its vectors since its last good probe are dropped. */
  readonly deployment: string
  /** Unix milliseconds. */
  readonly madeAtMs: number
}

/**
 * A short-lived store of vectors. It is only a cache: a failure in it is a miss or a dropped entry, never a failed request,
 * and is reported to its owner. A vector comes back bit for bit, or not at all.
 */
export interface VectorCache {
  /** One entry for each digest, in order; undefined where there is none, or it is too old. At most one round trip. */
  getMany(digests: readonly string[]): Promise<readonly (CachedVector | undefined)[]>
  /** Keeps them for `ttlMs`. Callers do not wait for it. */
  setMany(entries: readonly { readonly digest: string; readonly vector: CachedVector }[], ttlMs: number): void
  /** How full it is, for metrics. */
  size(): { readonly entries: number; readonly bytes: number }
  close(): Promise<void>
}

/** Everything but the input that decides on a vector, and who may find it. */
interface VectorTerms {
  readonly project: string
  readonly space: string
  readonly inputType: InputType | undefined
  readonly model: EmbeddingModel
}

/** The digests of inputs under which vectors of these terms are cached, one for each input. */
export type VectorDigests = (terms: VectorTerms) => (input: Input) => readonly string[]

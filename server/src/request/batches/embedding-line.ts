import type { EmbeddingRequest } from '#core/embedding/request.ts'
import type { Fault } from '#core/fault/fault.ts'

/** A line as its route reads it. */
export interface EmbeddingLine {
  readonly customId: string
  /** Undefined when the line asks for nothing that can run; the fault says why. */
  readonly request: EmbeddingRequest | undefined
  readonly fault: Fault | undefined
  /** The bytes that its request reads. Their holder discards them. */
  readonly media: AsyncDisposable | undefined
}

/** Media that Torana fetches for lines, until their holder discards them. */
export interface FetchedMedia extends AsyncDisposable {
  /** The request with media in place of addresses, where Torana fetches them. Rejects with a fault. */
  fetch(request: EmbeddingRequest): Promise<EmbeddingRequest>
}

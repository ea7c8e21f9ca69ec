import type { Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import type { Limits } from '#core/settings.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { Observer } from '#ports/observer.ts'
import type { TokenCounter } from '#ports/tokens.ts'
import type { EmbeddingUpstream } from '#ports/upstream.ts'
import type { MoneyOutside } from '../money/admission.ts'

/** What an embeddings request needs from outside. */
export interface EmbedOutside extends MoneyOutside {
  readonly upstream: EmbeddingUpstream
  readonly tokens: TokenCounter
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly observer: Observer
  readonly limits: Limits
  /** Undefined for calls of the node itself. */
  readonly guard?: CallGuard | undefined
  /** Yields the event loop to other requests; a large request works in steps. */
  readonly yieldLoop: () => Promise<unknown>
}

/** What the space guard asks of calls. Cheap: both are called after every call. */
export interface CallGuard {
  /** A call has ended. `inputs`: its texts, or 0 where it had contents. */
  noteCall(model: EmbeddingModel, deployment: Deployment, inputs: number, tokens: number): void
  /** Whether nothing of a deployment may be sent. */
  isOutside(model: EmbeddingModel, deployment: Deployment): boolean
}

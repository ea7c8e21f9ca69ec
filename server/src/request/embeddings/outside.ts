import type { Limits } from '#core/settings.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { Observer } from '#ports/observer.ts'
import type { TokenCounter } from '#ports/tokens.ts'
import type { EmbeddingUpstream } from '#ports/upstream.ts'
import type { MoneyOutside } from '../money/admission.ts'
import type { Rides } from './due-ride.ts'

/** What an embeddings request needs from outside. */
export interface EmbedOutside extends MoneyOutside {
  readonly upstream: EmbeddingUpstream
  readonly tokens: TokenCounter
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly observer: Observer
  readonly limits: Limits
  /** Undefined for calls of the node itself, which carry no riders. */
  readonly rides?: Rides | undefined
  /** Yields the event loop to other requests; a large request works in steps. */
  readonly yieldLoop: () => Promise<unknown>
}

/** Follows the catalogue that is in force, and loads the configuration again with its facts. */
import { chosenSequence } from '#core/feed/choice.ts'
import type { FeedStore } from '#ports/catalog-feed.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { CatalogLog } from './in-force.ts'

/** A catalogue that a configuration is loaded with. */
export interface UsedFeed {
  readonly sequence: number
  /** The canonical text. Undefined: the catalogue in the program. */
  readonly document: string | undefined
}

export interface FeedParts {
  readonly store: Pick<FeedStore, 'state' | 'document'>
  /** The sequence of the catalogue in the program. */
  readonly builtInSequence: number
  /** The one that the start used. */
  readonly used: UsedFeed
  /** Loads the configuration again. What can't be loaded stays as it was, and is reported there. */
  readonly reload: () => Promise<void>
  /** Keeps a copy for a start without the store. */
  readonly keep: (used: UsedFeed) => Promise<void>
  readonly log: CatalogLog
}

export class FeedInForce {
  readonly #parts: FeedParts
  #used: UsedFeed

  constructor(parts: FeedParts) {
    this.#parts = parts
    this.#used = parts.used
  }

  /** Configurations are loaded with it from now on. */
  get used(): UsedFeed {
    return this.#used
  }

  /** Resolves when what the store says is in force. While the store is unreachable, its last answer holds. */
  async follow(): Promise<void> {
    const { store, builtInSequence, reload, keep, log } = this.#parts
    let next: UsedFeed
    try {
      const sequence = chosenSequence(await store.state(), builtInSequence)
      if ((sequence ?? builtInSequence) === this.#used.sequence) return
      const document = sequence === undefined ? undefined : await store.document(sequence)
      // Deleted meanwhile: the next change of the store says what counts.
      if (sequence !== undefined && document === undefined) return
      next = { sequence: sequence ?? builtInSequence, document }
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
      log.warn('the catalogue in force could not be read; the last one stays', error)
      return
    }
    this.#used = next
    await keep(next).catch((error: unknown) =>
      log.warn('the copy of the catalogue in the data folder could not be written', error),
    )
    await reload()
  }
}

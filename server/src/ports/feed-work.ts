/** What a node does with catalogue feeds beside storing them. */
import type { FactChange, FeedEffects } from '#core/feed/effects.ts'
import type { NewFeed } from './catalog-feed.ts'

/** A feed whose signature is valid. */
export type VerifiedFeed = Omit<NewFeed, 'source'>

export interface FeedPreview extends FeedEffects {
  readonly changes: readonly FactChange[]
  /** Why torana.yaml, or an entry of the store, would be invalid. */
  readonly problems: readonly string[]
}

export interface FeedWork {
  /** The catalogue in the program. */
  readonly builtIn: { readonly sequence: number; readonly madeOn: string }
  /** The sequence that the configuration of this node was loaded with. */
  usedSequence(): number
  /** `catalog.url` of torana.yaml. */
  defaultUrl(): string | undefined
  /** The text of a feed. Rejects with a fault when it can't be fetched. */
  download(url: string): Promise<string>
  /** Throws a fault when it can't be read, or no trusted key signed it. */
  verify(text: string): VerifiedFeed
  /** What a catalogue would change on this node. `document` is the text of its document; undefined: the one in the program. */
  preview(document: string | undefined): Promise<FeedPreview>
}

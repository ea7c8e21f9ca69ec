/** Catalogue feeds that admins pulled, and which of them is in force. */
import type { Actor } from './audit.ts'

/** A feed without its facts. */
export interface StoredFeed {
  readonly sequence: number
  /** `2026-11-18`. */
  readonly madeOn: string
  /** SHA-256 of its canonical text, in hex. */
  readonly digest: string
  /** The id of the key that signed it. */
  readonly keyId: string
  /** Its URL, or the name of its file. */
  readonly source: string
  readonly by: string
  readonly atMs: number
}

export interface NewFeed extends Omit<StoredFeed, 'by' | 'atMs'> {
  /** The canonical text of the document. */
  readonly document: string
}

/** The sequence of a stored feed, or the catalogue of the program. */
export type PinnedTo = number | 'built-in'

export interface FeedState {
  /** The newest first. */
  readonly feeds: readonly StoredFeed[]
  /** Undefined: the newest of the stored feeds and the built-in catalogue counts. */
  readonly pinned: PinnedTo | undefined
}

export const NO_FEEDS: FeedState = { feeds: [], pinned: undefined }

/** The outcome of a change. */
export interface ChangedFeeds {
  /** False: it was so already. */
  readonly isChanged: boolean
  /** As it was committed. */
  readonly state: FeedState
}

/**
 * Every change is one step with its audit entry and the next version of the directory, so that all nodes learn of it within
 * two seconds. A change that can't be made rejects with `ChangeRefused`; trouble with the store with `StoreUnreachable`.
 */
export interface FeedStore {
  state(): Promise<FeedState>
  /** The canonical text of a stored document. */
  document(sequence: number): Promise<string | undefined>
  /**
   * Adds the feed, and forgets the oldest beyond a bound. One that is there already changes nothing. Refused: `exists` when its
   * sequence is not above all that are stored, `in-use` while a feed is pinned.
   */
  add(feed: NewFeed, actor: Actor): Promise<ChangedFeeds>
  /** Undefined: the newest counts again. Refused: `missing`. */
  pin(to: PinnedTo | undefined, actor: Actor): Promise<ChangedFeeds>
}

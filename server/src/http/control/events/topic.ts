/** What a topic of the one stream has to be. A new one is an object of this kind in the list that `compose/control.ts` gives. */
import type { Permission } from '#core/permission.ts'
import type { Caller } from '../access/caller.ts'

export interface EventTopic {
  /** The name of its events, and the word that a stream asks for it with. */
  readonly name: string
  /** Whoever lacks it is refused the stream that asks for the topic. */
  readonly permission: Permission
  /** Called once for each stream that asked for the topic. */
  open(listener: Listener): TopicFeed
}

/** Who reads a stream, and what of it they want to see. */
export interface Listener {
  readonly caller: Caller
  /** The only projects whose rows may be sent. Undefined: all. */
  readonly projects: readonly string[] | undefined
  /** What else stands in the address, such as the filters of a live tail. */
  readonly query: Readonly<Record<string, unknown>>
}

/** One topic in one stream. */
export interface TopicFeed {
  /**
   * What happened since the last time, in order: each becomes an event. It is asked once a second, and never while the
   * answer before is under way or the reader is slow, so a feed bounds what it keeps in between.
   */
  news(): readonly unknown[] | Promise<readonly unknown[]>
  /** The stream has ended. */
  close?(): void
}

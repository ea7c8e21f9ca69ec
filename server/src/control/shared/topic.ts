/** Topics of the one live stream. Each stands in the list that `control/api.ts` gives to `registerEvents`. */
import type { Permission } from '#core/access/permission.ts'
import type { Caller } from './caller.ts'

export interface EventTopic {
  /** The name of its events, and the word that a stream asks for it with. */
  readonly name: string
  /** A stream that asks for the topic is refused to callers without it. */
  readonly permission: Permission
  /** Called once for each stream that asked for the topic. */
  open(listener: Listener): TopicFeed
}

/** The reader of a stream, and its filters. */
export interface Listener {
  readonly caller: Caller
  /** The only projects whose rows may be sent. Undefined: all. */
  readonly projects: readonly string[] | undefined
  /** Other fields of the query, such as the filters of a live tail. */
  readonly query: Readonly<Record<string, unknown>>
}

/** One topic in one stream. */
export interface TopicFeed {
  /**
   * What happened since the last call, in order: each entry becomes an event. It is called once a second, and never while the
   * call before runs or the reader is slow, so a feed bounds what it keeps in between.
   */
  news(): readonly unknown[] | Promise<readonly unknown[]>
  /** The stream has ended. */
  close?(): void
}

/** Sends each row that has changed, oldest first. The first look sends none, because the page has just asked for all of them. */
export function changeFeed<Row extends { readonly id: string }>(
  read: () => Promise<readonly Row[]>,
): TopicFeed {
  let before: ReadonlyMap<string, string> | undefined
  return {
    async news() {
      const rows = await read()
      const known = before
      before = new Map(rows.map((row) => [row.id, JSON.stringify(row)]))
      return known === undefined
        ? []
        : rows.filter(({ id }) => known.get(id) !== before?.get(id)).toReversed()
    },
  }
}

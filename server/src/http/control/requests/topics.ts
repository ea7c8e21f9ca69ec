/** What is live about requests: the tail of the log, and the first request of a new key. */
import { z } from 'zod'
import type { LoggedRequest, RequestFilter, RequestReports, RequestTail } from '#ports/request-reports.ts'
import type { EventTopic, Listener, TopicFeed } from '../events/topic.ts'
import { invalidField } from '../wire/faults.ts'
import { isoOf } from '../wire/times.ts'
import { matches } from './matches.ts'
import { filterOf } from './routes.ts'
import { requestFilters } from './schemas.ts'
import { rowBody } from './shapes.ts'

export interface LiveRequests {
  readonly tail: RequestTail
  readonly reports: RequestReports
  /** This node, as its rows name it. */
  readonly node: string
  readonly liveNodes: () => number
  readonly nowMs: () => number
}

/** Nobody reads faster. */
const MOST_ROWS = 20
/** Of other nodes: what began no longer ago and has ended since is seen. */
const LOOK_BACK_MS = 60_000
const MOST_OF_OTHERS = 200
/** Ids of other nodes' rows that were sent, so that none is sent twice. */
const MOST_REMEMBERED = 2000

export function requestTopic(live: LiveRequests): EventTopic {
  return {
    name: 'request',
    permission: 'requests.read',
    open: (listener) => requestFeed(live, filterIn(listener, live.nowMs())),
  }
}

function filterIn({ caller, query, projects }: Listener, nowMs: number): RequestFilter {
  const given = requestFilters.safeParse(query)
  if (!given.success) throw invalidField('A filter of the live tail can not be read.', 'topics')
  return { ...filterOf(given.data, caller, nowMs), projects }
}

function requestFeed(live: LiveRequests, filter: RequestFilter): TopicFeed {
  const reader = live.tail.open()
  const others = new OtherNodes(live, filter)
  return {
    async news() {
      const { rows, skipped } = reader.take()
      const found = [...rows.filter((row) => matches(row, filter)), ...(await others.news())]
      if (found.length === 0) return []
      const shown = found.slice(-MOST_ROWS).toReversed()
      return [{ rows: shown.map(rowBody), skipped: skipped + found.length - shown.length }]
    },
    close: () => reader.close(),
  }
}

/** Rows that other nodes wrote, looked for in the log. Alone, a node has nothing to look for. */
class OtherNodes {
  readonly #live: LiveRequests
  readonly #filter: RequestFilter
  #sent: Set<string> | undefined

  constructor(live: LiveRequests, filter: RequestFilter) {
    this.#live = live
    this.#filter = filter
  }

  async news(): Promise<readonly LoggedRequest[]> {
    const { liveNodes, reports, nowMs, node } = this.#live
    if (liveNodes() < 2) return []
    const toMs = nowMs()
    const { rows } = await reports.list(
      { ...this.#filter, fromMs: toMs - LOOK_BACK_MS, toMs },
      { sort: '-at', limit: MOST_OF_OTHERS },
    )
    const theirs = rows.filter((row) => row.node !== node)
    const isFirst = this.#sent === undefined
    const sent = (this.#sent ??= new Set())
    const fresh = theirs.filter(({ id }) => !sent.has(id))
    if (sent.size > MOST_REMEMBERED) sent.clear()
    for (const { id } of theirs) sent.add(id)
    // What had ended before somebody began to watch is in the list already.
    return isFirst ? [] : fresh.toReversed()
  }
}

const keyQuery = z.object({
  key: z.preprocess(
    (given) => (given === undefined || Array.isArray(given) ? given : [given]),
    z.array(z.string().max(512)).min(1).max(20),
  ),
})

/** Tells of keys that a person waits for: their first request, and each refusal. */
export function keyTopic(live: LiveRequests): EventTopic {
  return {
    name: 'key',
    permission: 'requests.read',
    open({ query, projects }) {
      const given = keyQuery.safeParse(query)
      if (!given.success)
        throw invalidField('The topic key needs key=<project>/<name>, once or more.', 'topics')
      const { key: keys } = given.data
      const filter = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, keys, projects }
      const reader = live.tail.open()
      const others = new OtherNodes(live, filter)
      const hasAsked = new Set<string>()
      return {
        async news() {
          const rows = [...reader.take().rows.filter((row) => matches(row, filter)), ...(await others.news())]
          return rows.flatMap((row) => keyNews(row, hasAsked) ?? [])
        },
        close: () => reader.close(),
      }
    },
  }
}

function keyNews(row: LoggedRequest, hasAsked: Set<string>): object | undefined {
  const { key: id, fault, atMs } = row
  if (id === undefined) return undefined
  const isFirst = !hasAsked.has(id)
  hasAsked.add(id)
  if (!isFirst && fault === undefined) return undefined
  return {
    id,
    first_request: isFirst ? rowBody(row) : null,
    refused: fault === undefined ? null : { at: isoOf(atMs), fault },
  }
}

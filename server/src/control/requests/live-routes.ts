/** Live topics of requests: the tail of the log, and the first request of a new key. */
import { z } from 'zod'
import { invalidField } from '../shared/faults.ts'
import type { ControlNode } from '../shared/node.ts'
import type { EventTopic, Listener } from '../shared/topic.ts'
import { requestFilters, type RequestFilter } from './filter-queries.ts'
import { matches, rowOfRecord } from './live-rules.ts'
import { listRequests, type RequestRow } from './queries.ts'
import { filterOf } from './routes.ts'

export type LiveNode = Pick<ControlNode, 'reports' | 'requestTail' | 'hostname' | 'liveNodes' | 'clock'>

/** Rows of one event: more in a second cannot be read. */
const MAX_ROWS = 20
/** Age of the oldest row of another node that is looked for: requests begin before they are in the log. */
const LOOK_BACK_MS = 60_000
/** Rows of other nodes in one look. */
const MAX_OF_OTHERS = 200
/** Ids of other nodes' rows that were sent, kept so that none is sent twice. */
const MAX_REMEMBERED = 2000

export function requestTopic(node: LiveNode): EventTopic {
  return {
    name: 'request',
    permission: 'requests.read',
    open(listener) {
      const tail = openTail(node, filterIn(listener, node.clock.nowMs()))
      return {
        async news() {
          const { rows, left } = await tail.take(MAX_ROWS)
          return rows.length === 0 ? [] : [{ rows: rows.toReversed(), skipped: left }]
        },
        close: tail.close,
      }
    },
  }
}

function filterIn({ caller, query, projects }: Listener, nowMs: number): RequestFilter {
  const given = requestFilters.safeParse(query)
  if (!given.success) throw invalidField('A filter of the live tail can not be read.', 'topics')
  return { ...filterOf(given.data, caller, nowMs), projects }
}

const keyQuery = z.object({
  key: z.preprocess(
    (given) => (given === undefined || Array.isArray(given) ? given : [given]),
    z.array(z.string().max(512)).min(1).max(20),
  ),
})

/** Reports the first request of keys that a person waits for, and each refusal. */
export function keyTopic(node: LiveNode): EventTopic {
  return {
    name: 'key',
    permission: 'requests.read',
    open({ query, projects }) {
      const given = keyQuery.safeParse(query)
      if (!given.success)
        throw invalidField('The topic key needs key=<project>/<name>, once or more.', 'topics')
      const filter = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, key: given.data.key, projects }
      const tail = openTail(node, filter)
      const used = new Set<string>()
      return {
        async news() {
          const { rows } = await tail.take(Number.POSITIVE_INFINITY)
          return rows.flatMap((row) => keyNews(row, used))
        },
        close: tail.close,
      }
    },
  }
}

function keyNews(row: RequestRow, used: Set<string>): readonly object[] {
  const { key: id, fault, at } = row
  if (id === null) return []
  const isFirst = !used.has(id)
  used.add(id)
  if (!isFirst && fault === null) return []
  return [{ id, first_request: isFirst ? row : null, refused: fault === null ? null : { at, fault } }]
}

/** Requests of all nodes that a filter lets through. */
function openTail(node: LiveNode, filter: RequestFilter) {
  const reader = node.requestTail.open()
  const others = new OtherNodes(node, filter)
  return {
    /** What ended since the last call, oldest first: the newest `limit`, and how many are left out. */
    async take(limit: number): Promise<{ readonly rows: readonly RequestRow[]; readonly left: number }> {
      const { records, skipped } = reader.take()
      const own = records.filter((record) => matches(record, filter))
      const theirs = await others.take()
      const shown = own.slice(-limit).map((record) => rowOfRecord(record, node.hostname))
      const rows = [...shown, ...theirs].slice(-limit)
      return { rows, left: skipped + own.length + theirs.length - rows.length }
    },
    close: () => reader.close(),
  }
}

/** Rows that other nodes wrote, read from the log. A single node reads nothing. */
class OtherNodes {
  readonly #node: LiveNode
  readonly #filter: RequestFilter
  #sent: Set<string> | undefined

  constructor(node: LiveNode, filter: RequestFilter) {
    this.#node = node
    this.#filter = filter
  }

  async take(): Promise<readonly RequestRow[]> {
    const { liveNodes, reports, clock, hostname } = this.#node
    if (liveNodes() < 2) return []
    const nowMs = clock.nowMs()
    // Clocks of other nodes may be ahead.
    const filter = { ...this.#filter, fromMs: nowMs - LOOK_BACK_MS, toMs: nowMs + LOOK_BACK_MS }
    const { data } = await listRequests(reports, filter, { sort: '-at', limit: MAX_OF_OTHERS })
    const theirs = data.filter(({ node }) => node !== hostname)
    const isFirst = this.#sent === undefined
    const sent = (this.#sent ??= new Set())
    const fresh = theirs.filter(({ id }) => !sent.has(id))
    if (sent.size > MAX_REMEMBERED) sent.clear()
    for (const { id } of theirs) sent.add(id)
    // The list already has what ended before the stream began.
    return isFirst ? [] : fresh.toReversed()
  }
}

/** Reads the request log for people. */
import { OUTCOMES, type Outcome } from '#core/request-outcome.ts'
import { KIND_OF_ROUTE, UnreadableCursor } from '#ports/request-reports.ts'
import type {
  FacetName,
  ForgottenRequest,
  RequestDetail,
  RequestFilter,
  RequestHistogram,
  RequestPage,
  RequestReports,
  RequestRows,
} from '#ports/request-reports.ts'
import { momentOf } from '#core/ledger.ts'
import { reachable } from '../away.ts'
import type { Database } from '../database.ts'
import { lowestIdAt } from '../books/upkeep-ids.ts'
import { Conditions, OUTCOME_NUMBER } from './request-conditions.ts'
import { bookedCall, detailOf, rowOf, type EntryRow, type RequestRow } from './request-rows.ts'

/**
 * Rows that one question looks at. They take a fifth of a second; of more, the newest are told, and from when on.
 * A list goes on from there with its next page.
 */
const MOST_LOOKED_AT = 250_000
/** For the menus of the filters a part is enough: they say which values there are, and about how many. */
const MOST_FOR_FACETS = 50_000
/** A menu is for choosing. */
const MOST_VALUES = 100

const COLUMNS = `
requests.request_id, route, status, fault, project, key_id, model, deployments, attempts, inputs, tokens, amount_nano,
client_request_id, duration_ms, hits, images, own_ms, waited_ms, trace, steps, end_user, tags,
requests.node_id, nodes.host`

/** As of the last analysis of each partition: to know whether there are too many, that is near enough. */
const ABOUT_ROWS = `
SELECT coalesce(sum(greatest(reltuples, 0)), 0)::float8 AS rows
FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'requests'::regclass`

/** In place of the bits of columns: no row counts by all of them. */
const TAG_FACET = 0b1000000

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

/** What rows are sorted by. A row without a cost stands after all that have one. */
const SORTED_BY = {
  '-at': undefined,
  '-duration': 'duration_ms',
  '-cost': 'coalesce(amount_nano, -1)',
} as const

interface Cursor {
  readonly id: string
  /** Of what the rows are sorted by, as text: amounts are larger than a number can hold. */
  readonly value?: string | undefined
}

export class PostgresRequestReports implements RequestReports {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async list(filter: RequestFilter, { sort, limit, after }: RequestPage): Promise<RequestRows> {
    const cursor = after === undefined ? undefined : cursorOf(after)
    const by = SORTED_BY[sort]
    if (cursor !== undefined && (cursor.value === undefined) !== (by === undefined))
      throw new UnreadableCursor()
    const before = by === undefined ? cursor?.id : undefined
    const conditions = new Conditions()
    const indexed = conditions.indexed(filter, before)
    const other = conditions.other(filter)
    // Rows that come in order until the page is full are bounded by the page.
    const floor = other === undefined && by === undefined ? undefined : await this.#floor(filter, before)
    const where = [
      indexed,
      ...(other === undefined ? [] : [other]),
      ...(by && cursor ? [behind(conditions, by, cursor)] : []),
      ...(floor === undefined ? [] : [`request_id >= ${conditions.of(floor)}::uuid`]),
    ]
    const order = by === undefined ? 'request_id DESC' : `${by} DESC, request_id DESC`
    const rows = await this.#query<RequestRow & { readonly sorted_by: unknown }>(
      `SELECT ${COLUMNS}, ${by ?? 'NULL'}::text AS sorted_by
       FROM (SELECT * FROM requests WHERE ${where.join(' AND ')} ORDER BY ${order}
             LIMIT ${conditions.of(limit + 1)}) AS requests
       LEFT JOIN nodes ON nodes.node_id = requests.node_id
       ORDER BY ${by === undefined ? 'requests.request_id DESC' : `${by} DESC, requests.request_id DESC`}`,
      conditions.values,
    )
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    const rest = by === undefined && floor !== undefined ? { id: floor } : undefined
    const end =
      rows.length > limit && last !== undefined
        ? { id: last.request_id, value: by === undefined ? undefined : String(last.sorted_by) }
        : rest
    return { rows: shown.map(rowOf), next: end && textOf(end) }
  }

  /** The oldest row that a question looks at. Undefined: it may look at all. */
  async #floor(filter: RequestFilter, before?: string): Promise<string | undefined> {
    const [known] = await this.#query<{ rows: number }>(ABOUT_ROWS, [])
    if ((known?.rows ?? 0) <= MOST_LOOKED_AT) return undefined
    const conditions = new Conditions()
    const indexed = conditions.indexed(filter, before)
    const [row] = await this.#query<{ request_id: string }>(
      `SELECT request_id FROM requests WHERE ${indexed} ORDER BY request_id DESC OFFSET ${MOST_LOOKED_AT - 1} LIMIT 1`,
      conditions.values,
    )
    return row?.request_id
  }

  async histogram(
    filter: RequestFilter,
    options: { readonly slots: number; readonly facets: boolean },
  ): Promise<RequestHistogram> {
    const [counted, facets] = await Promise.all([
      this.#counted(filter, options.slots),
      options.facets ? this.#facets(filter) : undefined,
    ])
    return { ...counted, facets }
  }

  async #counted(filter: RequestFilter, count: number): Promise<Omit<RequestHistogram, 'facets'>> {
    const { fromMs, toMs } = filter
    const slotMs = Math.max(1000, Math.ceil((toMs - fromMs) / count / 1000) * 1000)
    const starts = Array.from(
      { length: Math.ceil((toMs - fromMs) / slotMs) },
      (_, slot) => fromMs + slot * slotMs,
    )
    const conditions = new Conditions()
    const indexed = conditions.indexed(filter)
    const other = conditions.other(filter)
    const thresholds = conditions.of(starts.map(lowestIdAt))
    const floor = await this.#floor(filter)
    const where = [
      indexed,
      ...(other === undefined ? [] : [other]),
      ...(floor === undefined ? [] : [`request_id >= ${conditions.of(floor)}::uuid`]),
    ]
    const rows = await this.#query<{ slot: number; outcome: number; requests: number }>(
      `SELECT width_bucket(request_id, ${thresholds}::uuid[]) - 1 AS slot, ${OUTCOME_NUMBER} AS outcome,
         count(*)::integer AS requests
       FROM requests WHERE ${where.join(' AND ')} GROUP BY 1, 2`,
      conditions.values,
    )
    const slots = starts.map((atMs) => ({ atMs, counts: noCounts() }))
    let total = 0
    for (const { slot, outcome, requests } of rows) {
      const counts = slots[slot]?.counts
      if (counts !== undefined) counts[OUTCOMES[outcome] as Outcome] += requests
      total += requests
    }
    return { slotMs, total, slots, cappedAtMs: floor === undefined ? undefined : momentOf(floor) }
  }

  /** Of the whole range: a menu also shows what is not chosen now. */
  async #facets({ fromMs, toMs, projects }: RequestFilter): Promise<RequestHistogram['facets']> {
    const conditions = new Conditions()
    const indexed = conditions.indexed({ fromMs, toMs, projects })
    const rows = await this.#query<FacetRow>(
      `WITH recent AS MATERIALIZED (
         SELECT ${OUTCOME_NUMBER} AS outcome, route, model, key_id, fault, end_user, tags FROM requests
         WHERE ${indexed} ORDER BY request_id DESC LIMIT ${MOST_FOR_FACETS}
       )
       (SELECT outcome, route, model, key_id, fault, end_user, NULL AS tag,
          grouping(outcome, route, model, key_id, fault, end_user) AS without, count(*)::integer AS requests
        FROM recent GROUP BY GROUPING SETS ((outcome), (route), (model), (key_id), (fault), (end_user)))
       UNION ALL
       (SELECT NULL, NULL, NULL, NULL, NULL, NULL, key || ':' || value, ${TAG_FACET}, count(*)::integer
        FROM recent, jsonb_each_text(tags) GROUP BY key, value ORDER BY count(*) DESC LIMIT ${MOST_VALUES})`,
      conditions.values,
    )
    const found = rows.toSorted((a, b) => b.requests - a.requests)
    const facet = (without: number, nameOf: (row: FacetRow) => string | null | undefined) =>
      Object.fromEntries(
        found
          .flatMap((row) => {
            const name = row.without === without ? nameOf(row) : undefined
            return name === undefined || name === null ? [] : [[name, row.requests] as const]
          })
          .slice(0, MOST_VALUES),
      )
    return {
      outcome: facet(0b011111, ({ outcome }) => (outcome === null ? null : OUTCOMES[outcome])),
      kind: facet(0b101111, ({ route }) => (route === null ? null : KIND_OF_ROUTE.get(route))),
      model: facet(0b110111, ({ model }) => model),
      key: facet(0b111011, ({ key_id }) => key_id),
      fault: facet(0b111101, ({ fault }) => fault),
      user: facet(0b111110, ({ end_user }) => end_user),
      tag: facet(TAG_FACET, ({ tag }) => tag),
    } satisfies Record<FacetName, Readonly<Record<string, number>>>
  }

  async find(id: string): Promise<RequestDetail | ForgottenRequest | undefined> {
    if (!UUID.test(id)) return undefined
    const [entries, [row]] = await Promise.all([
      this.#query<EntryRow>(
        `SELECT attempt, call_id, kind, deployment, model, usage, tokens, images, amount_nano, remarks, written_at, project, key_id
         FROM usage_events WHERE request_id = $1 ORDER BY attempt, written_at`,
        [id],
      ),
      this.#query<RequestRow>(
        `SELECT ${COLUMNS} FROM requests LEFT JOIN nodes ON nodes.node_id = requests.node_id WHERE request_id = $1`,
        [id],
      ),
    ])
    if (row !== undefined) return detailOf(row, entries)
    const [first] = entries
    if (first === undefined) return undefined
    const { project, key_id: key, model } = first
    return { id, project, key, model, booked: entries.map(bookedCall) }
  }

  #query<Row>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return reachable(this.#database.query<Row>(text, values))
  }
}

interface FacetRow {
  readonly outcome: number | null
  readonly route: string | null
  readonly model: string | null
  readonly key_id: string | null
  readonly fault: string | null
  readonly end_user: string | null
  readonly tag: string | null
  /** One bit for each column that the row does not count by, the last column lowest. */
  readonly without: number
  readonly requests: number
}

function noCounts(): Record<Outcome, number> {
  return { answered: 0, refused: 0, limited: 0, failed: 0, unknown: 0 }
}

function behind(conditions: Conditions, by: string, { id, value }: Cursor): string {
  const type = by === 'duration_ms' ? 'real' : 'bigint'
  return `(${by}, request_id) < (${conditions.of(value)}::${type}, ${conditions.of(id)}::uuid)`
}

function textOf({ id, value }: Cursor): string {
  return Buffer.from(value === undefined ? id : `${id} ${value}`).toString('base64url')
}

function cursorOf(text: string): Cursor {
  const [id = '', value] = Buffer.from(text, 'base64url').toString('latin1').split(' ')
  if (!UUID.test(id) || (value !== undefined && !/^-?\d{1,19}(?:\.\d{1,9})?(?:e[+-]?\d{1,2})?$/.test(value)))
    throw new UnreadableCursor()
  return { id, value }
}

import {
  ACTIVITY_DAYS,
  type Activity,
  type ActivityQuestion,
  type KeyReports,
  type WebhookPage,
  type WebhookRecord,
} from '#ports/key-reports.ts'
import { reachable } from '../away.ts'
import type { Database } from '../database.ts'

const DAY_MS = 86_400_000

type Owner = 'key' | 'project'

/** Days of projects are read without their keys. Names sort byte by byte, as in `keys`. */
const DAYS_OF = {
  key: { days: 'usage_days', name: 'key_id COLLATE "C"' },
  project: { days: 'usage_group_days', name: 'project' },
} as const

/**
 * $1: names; $2, $3: since when each has spent, and at the earliest; $4: the first day; $5: from when on hours are read. Rows from
 * before requests were counted have calls alone.
 */
const days = (owner: Owner) => `
  SELECT asked.id, day::text AS day, sum(CASE WHEN requests = 0 THEN posts ELSE requests END)::bigint AS requests,
    coalesce(sum(amount_nano) FILTER (WHERE day >= (asked.since AT TIME ZONE 'UTC')::date), 0)::bigint AS spent_nano
  FROM unnest($1::text[], $2::timestamptz[]) AS asked (id, since)
  JOIN ${DAYS_OF[owner].days} ON ${DAYS_OF[owner].name} = asked.id COLLATE "C"
    AND day >= least($3::date, $4::date) AND day < ($5::timestamptz AT TIME ZONE 'UTC')::date
  GROUP BY 1, 2`

/** $1, $2: as above; $3: a day ago; $4: from when on. */
const hours = (owner: Owner) => `
  SELECT asked.id, (hour AT TIME ZONE 'UTC')::date::text AS day,
    coalesce(sum(amount_nano) FILTER (WHERE hour >= asked.since), 0)::bigint AS spent_nano,
    sum(CASE WHEN requests = 0 THEN posts ELSE requests END)::bigint AS requests,
    coalesce(sum(CASE WHEN requests = 0 THEN posts ELSE requests END) FILTER (WHERE hour >= $3::timestamptz), 0)::bigint
      AS last_day
  FROM unnest($1::text[], $2::timestamptz[]) AS asked (id, since)
  JOIN usage_hours ON ${owner === 'key' ? 'key_id' : 'project'} = asked.id AND hour >= $4::timestamptz
  GROUP BY 1, 2`

const EVENTS = `
  SELECT event_id, project, type, url, md5(url) AS mark, tries, created_at, ended_at, coalesce(outcome, 'waiting') AS outcome
  FROM webhook_events
  WHERE ($1::text[] IS NULL OR project = ANY ($1)) AND ($2::text IS NULL OR coalesce(outcome, 'waiting') = $2)
    AND ($3::timestamptz IS NULL OR (date_trunc('milliseconds', created_at), event_id, md5(url)) < ($3, $4, $5))
  ORDER BY date_trunc('milliseconds', created_at) DESC, event_id DESC, md5(url) DESC LIMIT $6`

const LAST_EVENTS = `
  SELECT DISTINCT ON (project, url)
    event_id, project, type, url, md5(url) AS mark, tries, created_at, ended_at, coalesce(outcome, 'waiting') AS outcome
  FROM webhook_events WHERE project = ANY ($1) ORDER BY project, url, created_at DESC`

const MEMBERS = `
  SELECT asked.project, count(*)::integer AS members FROM unnest($1::text[]) AS asked (project)
  JOIN members ON members.projects IS NULL OR asked.project = ANY (members.projects)
  WHERE members.disabled_at IS NULL GROUP BY 1`

interface EventRow {
  readonly event_id: string
  readonly project: string
  readonly type: string
  readonly url: string
  readonly mark: string
  readonly tries: number
  readonly created_at: Date
  readonly ended_at: Date | null
  readonly outcome: WebhookRecord['outcome']
}

/** One day of one key or project. */
interface ActivityRow {
  readonly id: string
  readonly day: string
  readonly requests: bigint
  readonly spent_nano: bigint
  /** Of the last 24 hours. Days that are not read by the hour are older. */
  readonly last_day?: bigint
}

const NO_DAYS: readonly number[] = Array.from({ length: ACTIVITY_DAYS }, () => 0)

export class PostgresKeyReports implements KeyReports {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  ofKeys(keys: readonly ActivityQuestion[], nowMs: number): Promise<ReadonlyMap<string, Activity>> {
    return this.#activity('key', keys, nowMs)
  }

  ofProjects(projects: readonly ActivityQuestion[], nowMs: number): Promise<ReadonlyMap<string, Activity>> {
    return this.#activity('project', projects, nowMs)
  }

  async #activity(
    owner: Owner,
    asked: readonly ActivityQuestion[],
    nowMs: number,
  ): Promise<ReadonlyMap<string, Activity>> {
    if (asked.length === 0) return new Map()
    const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS
    const firstDayMs = todayMs - (ACTIVITY_DAYS - 1) * DAY_MS
    // Days are made of hours every ten minutes: those of yesterday and today are read as they are now.
    const freshMs = todayMs - DAY_MS
    const lastDayMs = nowMs - DAY_MS
    const sinceMs = asked.map(({ spentSinceMs }) => spentSinceMs ?? lastDayMs)
    const whose = [asked.map(({ id }) => id), sinceMs.map((ms) => new Date(ms))]
    const earliestMs = sinceMs.reduce((least, ms) => Math.min(least, ms))
    const [dayRows, hourRows] = await Promise.all([
      this.#rows(days(owner), [...whose, dayText(earliestMs), dayText(firstDayMs), new Date(freshMs)]),
      this.#rows(hours(owner), [...whose, new Date(lastDayMs), new Date(freshMs)]),
    ])
    const activities = new Map<string, { requests30d: number[]; requests24h: number; spentNanoUsd: bigint }>()
    for (const { id, day, requests, spent_nano: spent, last_day: lastDay = 0n } of [
      ...dayRows,
      ...hourRows,
    ]) {
      const own = activities.get(id) ?? { requests30d: [...NO_DAYS], requests24h: 0, spentNanoUsd: 0n }
      activities.set(id, own)
      const place = Math.round((Date.parse(day) - firstDayMs) / DAY_MS)
      if (place >= 0) own.requests30d[place] = Number(requests)
      own.requests24h += Number(lastDay)
      own.spentNanoUsd += spent
    }
    return activities
  }

  #rows(text: string, values: readonly unknown[]): Promise<readonly ActivityRow[]> {
    return reachable(this.#database.query<ActivityRow>(text, values))
  }

  async membersOf(projects: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await reachable(
      this.#database.query<{ project: string; members: number }>(MEMBERS, [projects]),
    )
    return new Map(rows.map(({ project, members }) => [project, members]))
  }

  async webhookEvents({ projects, outcome, after, limit }: WebhookPage): Promise<readonly WebhookRecord[]> {
    const rows = await reachable(
      this.#database.query<EventRow>(EVENTS, [
        projects ?? null,
        outcome ?? null,
        after === undefined ? null : new Date(after.createdAtMs),
        after?.id ?? null,
        after?.mark ?? null,
        limit,
      ]),
    )
    return rows.map(recordOf)
  }

  async lastWebhookEvents(projects: readonly string[]): Promise<readonly WebhookRecord[]> {
    const rows = await reachable(this.#database.query<EventRow>(LAST_EVENTS, [projects]))
    return rows.map(recordOf)
  }
}

function recordOf(row: EventRow): WebhookRecord {
  return {
    id: row.event_id,
    project: row.project,
    type: row.type,
    url: row.url,
    mark: row.mark,
    tries: row.tries,
    createdAtMs: row.created_at.getTime(),
    endedAtMs: row.ended_at?.getTime(),
    outcome: row.outcome,
  }
}

function dayText(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10)
}

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

type Owner = 'key_id' | 'project'

/** Rows from before requests were counted have calls alone. */
const days = (owner: Owner) => `
  SELECT ${owner} AS id, day::text AS day, sum(CASE WHEN requests = 0 THEN posts ELSE requests END)::bigint AS requests
  FROM usage_days WHERE ${owner} = ANY ($1) AND day >= $2::date AND day <= $3::date
  GROUP BY 1, 2`

const hours = (owner: Owner) => `
  SELECT asked.id,
    coalesce(sum(amount_nano) FILTER (WHERE hour >= asked.since), 0)::bigint AS spent_nano,
    coalesce(sum(CASE WHEN requests = 0 THEN posts ELSE requests END) FILTER (WHERE hour >= $3::timestamptz), 0)::bigint
      AS requests,
    coalesce(sum(CASE WHEN requests = 0 THEN posts ELSE requests END) FILTER (WHERE hour >= $4::timestamptz), 0)::bigint
      AS today
  FROM unnest($1::text[], $2::timestamptz[]) AS asked (id, since)
  JOIN usage_hours ON ${owner} = asked.id AND hour >= least(asked.since, $3::timestamptz)
  GROUP BY asked.id`

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

interface HoursRow {
  readonly id: string
  readonly spent_nano: bigint
  readonly requests: bigint
  readonly today: bigint
}

const NO_DAYS: readonly number[] = Array.from({ length: ACTIVITY_DAYS }, () => 0)

export class PostgresKeyReports implements KeyReports {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  ofKeys(keys: readonly ActivityQuestion[], nowMs: number): Promise<ReadonlyMap<string, Activity>> {
    return this.#activity('key_id', keys, nowMs)
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
    const ids = asked.map(({ id }) => id)
    const today = Math.floor(nowMs / DAY_MS) * DAY_MS
    const firstDay = today - (ACTIVITY_DAYS - 1) * DAY_MS
    const dayRows = await reachable(
      this.#database.query<{ id: string; day: string; requests: bigint }>(days(owner), [
        ids,
        dayText(firstDay),
        dayText(today),
      ]),
    )
    const lastDay = new Date(nowMs - DAY_MS)
    const hourRows = await reachable(
      this.#database.query<HoursRow>(hours(owner), [
        ids,
        asked.map(({ spentSinceMs }) => (spentSinceMs === undefined ? lastDay : new Date(spentSinceMs))),
        lastDay,
        new Date(today),
      ]),
    )
    const requests = new Map<string, number[]>()
    for (const row of dayRows) {
      const own = requests.get(row.id) ?? [...NO_DAYS]
      own[Math.round((Date.parse(row.day) - firstDay) / DAY_MS)] = Number(row.requests)
      requests.set(row.id, own)
    }
    const sums = new Map(hourRows.map((row) => [row.id, row]))
    const found = new Set([...requests.keys(), ...sums.keys()])
    return new Map([...found].map((id) => [id, activityOf(requests.get(id), sums.get(id))]))
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

/** Sums of days are made once an hour; those of today come from the hours. */
function activityOf(days: readonly number[] = NO_DAYS, hours: HoursRow | undefined): Activity {
  return {
    requests30d: hours === undefined ? days : [...days.slice(0, -1), Number(hours.today)],
    requests24h: Number(hours?.requests ?? 0n),
    spentNanoUsd: hours?.spent_nano ?? 0n,
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

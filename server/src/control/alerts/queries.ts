/** Incidents, deliveries and queues, as the store has them. */
import { z } from 'zod'
import { ALERT_KINDS } from '#core/alerts/kind.ts'
import { NOTICE_PHASES } from '#core/alerts/notice.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { time } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'

export const alertKind = z.enum(ALERT_KINDS).meta({ id: 'AlertKind' })

export const alertScope = z
  .union([
    z.strictObject({ installation: z.literal(true) }),
    z.strictObject({ project: z.string().describe('`*`: each project separately.') }),
  ])
  .meta({ id: 'AlertScope' })

const phase = z
  .enum(NOTICE_PHASES)
  .describe(
    '`worse`: a further mark was reached. `past`: it started and ended while quiet hours held its notice.',
  )

export const delivery = z
  .object({
    at: time,
    test: z.boolean(),
    ok: z.boolean(),
    status: z.int().nullable().describe('null: there was no answer, or the channel has none.'),
    ms: z.int(),
    attempt: z.int(),
    problem: z.string().nullable().describe('null: it arrived.'),
  })
  .meta({ id: 'AlertDelivery' })

const incidentNotice = z
  .object({
    phase,
    channel: z.string(),
    at: time.nullable().describe('When it arrived. null: it has not.'),
    held_until: time.nullable().describe('The end of the quiet hours, or of the mute, that hold or held it.'),
    outcome: z
      .enum(['waiting', 'sent', 'given-up', 'dropped'])
      .describe('`dropped`: its channel was deleted, or all was muted while it happened.'),
  })
  .meta({ id: 'AlertNotice' })

export const incident = z
  .object({
    id: z.string(),
    rules: z.array(z.string()),
    kind: alertKind,
    scope: alertScope,
    severity: z.enum(['critical', 'drift', 'warning']),
    title: z.string(),
    lines: z.array(z.string()).describe('What the notice says.'),
    subjects: z.array(z.string()).describe('What it consists of, such as deployments.'),
    figures: z.record(z.string(), z.union([z.string(), z.number()])),
    path: z.string().describe('The page of the console that shows more.'),
    grouped: z.int().describe('Alerts that this incident stands for.'),
    started_at: time,
    ended_at: time.nullable(),
    notices: z.array(incidentNotice),
  })
  .meta({ id: 'AlertIncident' })

export const incidentDetail = incident
  .extend({
    deliveries: z.array(delivery.extend({ channel: z.string(), phase: phase.nullable() })),
  })
  .meta({ id: 'AlertIncidentDetail' })

export type Incident = z.output<typeof incident>
type Delivery = z.output<typeof delivery>

/** Notices and deliveries of one incident that are shown: those of every channel, and some tries of each. */
const MAX_SHOWN = 500
/** Days of the figures on top. */
const DAYS = 7

/** $1: projects; $2: state; $3: the last incident of the page before; $4: the limit; $5: one incident; $6: ended since. */
const INCIDENTS = `
SELECT incident_id AS id, rules, kind, project, severity, title, detail, grouped, started_at, ended_at,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('phase', phase, 'channel', channel_id,
      'at', CASE outcome WHEN 'sent' THEN to_json(notices.ended_at) END,
      'held_until', CASE WHEN is_muted OR held_until IS NOT NULL THEN
        to_json(CASE WHEN notices.ended_at IS NULL THEN due_at ELSE held_until END) END,
      'outcome', coalesce(outcome, 'waiting')) ORDER BY created_at, channel_id, sequence), '[]')
   FROM (SELECT * FROM alert_notices AS own WHERE own.incident_id = alert_incidents.incident_id
         ORDER BY created_at, channel_id, sequence LIMIT ${MAX_SHOWN}) AS notices) AS notices
FROM alert_incidents
WHERE ($1::text[] IS NULL OR project = ANY ($1))
  AND ($2::text IS NULL OR (ended_at IS NULL) = ($2 = 'open'))
  AND ($3::uuid IS NULL OR (ended_at IS NULL, incident_id) <
    (SELECT last.ended_at IS NULL, last.incident_id FROM alert_incidents AS last WHERE last.incident_id = $3))
  AND ($5::uuid IS NULL OR incident_id = $5)
  AND ($6::timestamptz IS NULL OR ended_at IS NULL OR ended_at > $6)
ORDER BY ended_at IS NULL DESC, incident_id DESC LIMIT $4`

const DELIVERIES = `
SELECT channel_id AS channel, phase, at, incident_id IS NULL AS test, is_ok AS ok, status, ms, attempt, problem
FROM alert_deliveries WHERE incident_id = $1 ORDER BY at DESC LIMIT ${MAX_SHOWN}`

/** Of each channel that ever had a notice or a test. */
const QUEUES = `
SELECT channel_id AS channel, failures, failing_since, next_at, last.*,
  (SELECT count(*) FROM alert_notices WHERE alert_notices.channel_id = asked.channel_id AND ended_at IS NULL
    AND due_at <= now()) AS queued
FROM unnest($1::text[]) AS asked (channel_id)
LEFT JOIN alert_queues USING (channel_id)
LEFT JOIN LATERAL (
  SELECT at AS "last.at", incident_id IS NULL AS "last.test", is_ok AS "last.ok", status AS "last.status",
    ms AS "last.ms", attempt AS "last.attempt", problem AS "last.problem"
  FROM alert_deliveries WHERE alert_deliveries.channel_id = asked.channel_id ORDER BY at DESC LIMIT 1
) AS last ON true`

const LAST_OF_RULES = `
SELECT rule, max(started_at) AS at FROM alert_incidents, unnest(rules) AS rule
WHERE ($1::text[] IS NULL OR project = ANY ($1)) GROUP BY rule`

const COUNTS = `
SELECT count(*) FILTER (WHERE ended_at IS NULL) AS open,
  count(*) FILTER (WHERE ended_at IS NULL AND severity = 'critical') AS critical,
  count(*) FILTER (WHERE ended_at > $2) AS resolved_7d,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM ended_at - started_at) / 60)
    FILTER (WHERE ended_at > $2) AS median_minutes
FROM alert_incidents WHERE ($1::text[] IS NULL OR project = ANY ($1)) AND (ended_at IS NULL OR ended_at > $2)`

/** Time to notify: from the incident to the arrival of its first notice, where nothing held it. */
const NOTICE_COUNTS = `
SELECT count(*) AS notifications_7d, count(*) FILTER (WHERE outcome = 'sent') AS delivered,
  count(*) FILTER (WHERE outcome IS NULL AND tries > 0) AS retrying,
  percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM notices.ended_at - created_at) * 1000)
    FILTER (WHERE outcome = 'sent' AND phase = 'start' AND held_until IS NULL AND NOT is_muted) AS p95_notify_ms
FROM alert_notices AS notices JOIN alert_incidents USING (incident_id)
WHERE created_at > $2 AND ($1::text[] IS NULL OR project = ANY ($1))`

interface IncidentRow extends Pick<Incident, 'id' | 'rules' | 'kind' | 'severity' | 'title' | 'grouped'> {
  readonly project: string
  readonly detail: Pick<Incident, 'lines' | 'subjects' | 'figures' | 'path'>
  readonly started_at: string
  readonly ended_at: string | null
  readonly notices: Incident['notices']
}

export interface IncidentQuestion {
  /** Undefined: all, with those of the installation. */
  readonly projects: readonly string[] | undefined
  readonly state?: 'open' | 'resolved' | undefined
  readonly after?: string | undefined
  readonly id?: string | undefined
  /** Left out: those that ended before. */
  readonly endedSinceMs?: number | undefined
  readonly limit: number
}

/** Open ones first, then the newest first. */
export async function listIncidents(sql: Sql, asked: IncidentQuestion): Promise<Incident[]> {
  const rows = await answersOf<IncidentRow>(sql, INCIDENTS, [
    asked.projects ?? null,
    asked.state ?? null,
    asked.after ?? null,
    asked.limit,
    asked.id ?? null,
    asked.endedSinceMs === undefined ? null : new Date(asked.endedSinceMs),
  ])
  return rows.map(({ detail, project, notices, ...row }) => ({
    ...row,
    ...detail,
    scope: project === '' ? { installation: true as const } : { project },
    notices: notices.map((one) => ({ ...one, at: isoOf(one.at), held_until: isoOf(one.held_until) })),
  }))
}

/** JSON of PostgreSQL has the offset of the session. */
function isoOf(time: string | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

export function listDeliveries(sql: Sql, incidentId: string) {
  return answersOf<z.output<typeof incidentDetail>['deliveries'][number]>(sql, DELIVERIES, [incidentId])
}

/** The queue of a channel. Fields are null where it never had a notice. */
export interface ChannelQueue {
  readonly channel: string
  readonly queued: number
  readonly failures: number | null
  readonly failing_since: string | null
  readonly next_at: string | null
  readonly last: Delivery | null
}

export async function readQueues(
  sql: Sql,
  channels: readonly string[],
): Promise<ReadonlyMap<string, ChannelQueue>> {
  const rows = await answersOf<ChannelQueue>(sql, QUEUES, [channels])
  return new Map(rows.map((row) => [row.channel, row]))
}

/** When each rule last started an incident, by id. */
export async function lastOfRules(
  sql: Sql,
  projects: readonly string[] | undefined,
): Promise<ReadonlyMap<string, string>> {
  const rows = await answersOf<{ rule: string; at: string }>(sql, LAST_OF_RULES, [projects ?? null])
  return new Map(rows.map(({ rule, at }) => [rule, at]))
}

export interface AlertCounts {
  readonly open: number
  readonly critical: number
  readonly resolved_7d: number
  readonly median_minutes: number | null
  readonly notifications_7d: number
  readonly delivered: number
  readonly retrying: number
  readonly p95_notify_ms: number | null
}

export async function countAlerts(
  sql: Sql,
  projects: readonly string[] | undefined,
  nowMs: number,
): Promise<AlertCounts> {
  const values = [projects ?? null, new Date(nowMs - DAYS * 86_400_000)]
  const [incidents] = await answersOf<AlertCounts>(sql, COUNTS, values)
  const [notices] = await answersOf<AlertCounts>(sql, NOTICE_COUNTS, values)
  if (incidents === undefined || notices === undefined) throw new Error('a count without a row')
  return { ...incidents, ...notices }
}

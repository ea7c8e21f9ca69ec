/** Incidents, and the notices that wait for channels. */
import type { IncidentStep, NewNotice, OpenIncident } from '#core/alerts/incident.ts'
import type { Notice } from '#core/alerts/notice.ts'
import type { AfterTry, DeliveryResult, DueNotice } from '#ports/alerts.ts'
import type { Database, Sql } from '../database.ts'
import { reachable } from '../unreachable.ts'

/** Hold of a channel by the node that sends to it: longer than a try may take. */
const CHANNEL_HOLD_MS = 30_000

const OPEN = `
SELECT incident_id AS id, kind, cause, project, rules, severity, title, detail, level, grouped, started_at
FROM alert_incidents WHERE ended_at IS NULL ORDER BY incident_id`

const START = `
INSERT INTO alert_incidents
  (incident_id, kind, cause, project, rules, severity, title, detail, level, grouped, started_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT DO NOTHING RETURNING 1`

const CHANGE = `
UPDATE alert_incidents SET rules = $2, severity = $3, title = $4, detail = $5, level = $6, grouped = $7
WHERE incident_id = $1 AND ended_at IS NULL AND level <= $6 RETURNING 1`

/** Where another node was first, its notices are there already. */
const WORSE = CHANGE.replace('level <= $6', 'level < $6')

const END = `
UPDATE alert_incidents SET ended_at = $2 WHERE incident_id = $1 AND ended_at IS NULL RETURNING 1`

const QUEUE = `INSERT INTO alert_queues (channel_id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`

/** A mute that began after the node looked holds the notice too. */
const NOTICE = `
INSERT INTO alert_notices (incident_id, channel_id, sequence, phase, notice, held_until, is_muted, due_at)
SELECT $1, $2, $3, $4, $5, $6::timestamptz, muted.until IS NOT NULL,
  greatest(coalesce($6::timestamptz, now()), coalesce(muted.until, now()))
FROM (SELECT (SELECT muted_until FROM alert_mute WHERE muted_until > now()) AS until) AS muted
ON CONFLICT DO NOTHING`

/** An incident that ends while its first notice is muted is not sent at all. */
const DROP_MUTED = `
UPDATE alert_notices SET ended_at = now(), outcome = 'dropped'
WHERE incident_id = $1 AND channel_id = $2 AND ended_at IS NULL AND tries = 0 AND is_muted AND due_at > now()
  AND sequence = 0 RETURNING 1`

/** One notice that says both, where quiet hours still hold the first. */
const MERGE_HELD = `
UPDATE alert_notices SET phase = 'past', notice = $3
WHERE incident_id = $1 AND channel_id = $2 AND sequence = 0 AND ended_at IS NULL AND tries = 0 AND due_at > now()
RETURNING 1`

/** A channel that heard of no start hears of no end. */
const HEARD = `
SELECT DISTINCT channel_id FROM alert_notices WHERE incident_id = $1 AND outcome IS DISTINCT FROM 'dropped'`

/** What is held of an incident that is over would come after its end. */
const DROP_HELD = `
UPDATE alert_notices SET ended_at = now(), outcome = 'dropped'
WHERE incident_id = $1 AND channel_id = $2 AND ended_at IS NULL AND tries = 0 AND due_at > now() AND sequence > 0`

const IS_DUE = `
  alert_notices.channel_id = queues.channel_id AND ended_at IS NULL AND due_at <= now()
  AND NOT EXISTS (
    SELECT 1 FROM alert_notices AS earlier WHERE earlier.incident_id = alert_notices.incident_id
      AND earlier.channel_id = alert_notices.channel_id AND earlier.sequence < alert_notices.sequence
      AND earlier.ended_at IS NULL
  )`

/** Channels that other nodes are taking at this moment are skipped. */
const TAKE_CHANNELS = `
SELECT channel_id FROM alert_queues AS queues WHERE next_at <= now() AND held_until <= now()
  AND EXISTS (SELECT 1 FROM alert_notices WHERE ${IS_DUE})
ORDER BY next_at, channel_id LIMIT $1 FOR UPDATE SKIP LOCKED`

/** A statement of its own: it sees what was committed until the channels were locked. First tries come before repeated ones. */
const TAKE_NOTICES = `
WITH due AS (
  SELECT queues.channel_id, queues.failures, own.incident_id, own.sequence
  FROM alert_queues AS queues CROSS JOIN LATERAL (
    SELECT incident_id, sequence FROM alert_notices WHERE ${IS_DUE}
    ORDER BY tries, created_at, sequence, incident_id LIMIT 1
  ) AS own
  WHERE queues.channel_id = ANY ($1) AND queues.next_at <= now() AND queues.held_until <= now()
), held AS (
  UPDATE alert_queues SET held_until = now() + interval '${CHANNEL_HOLD_MS} ms'
  FROM due WHERE alert_queues.channel_id = due.channel_id
)
UPDATE alert_notices SET tries = tries + 1 FROM due
WHERE alert_notices.incident_id = due.incident_id AND alert_notices.channel_id = due.channel_id
  AND alert_notices.sequence = due.sequence
RETURNING alert_notices.incident_id, alert_notices.channel_id, alert_notices.sequence, phase, notice, tries, due_at,
  due.failures`

const END_NOTICE = `
UPDATE alert_notices SET ended_at = now(), outcome = $4
WHERE incident_id = $1 AND channel_id = $2 AND sequence = $3 AND ended_at IS NULL`

const RELEASE = `
UPDATE alert_queues SET held_until = now(), failures = 0, failing_since = NULL, next_at = now() + $2 * interval '1 ms'
WHERE channel_id = $1`

const POSTPONE = `
UPDATE alert_queues SET held_until = now(), failures = failures + 1, failing_since = coalesce(failing_since, now()),
  next_at = now() + $2 * interval '1 ms'
WHERE channel_id = $1`

const DELIVERY = `
INSERT INTO alert_deliveries (channel_id, incident_id, phase, at, is_ok, status, ms, attempt, problem)
VALUES ($1, $2, $3, coalesce($4, now()), $5, $6, $7, $8, $9)`

/** Rows that one statement deletes: a fraction of a second. */
const PAGE_ROWS = 500

const DELETE_INCIDENTS = `
DELETE FROM alert_incidents WHERE incident_id IN (
  SELECT incident_id FROM alert_incidents WHERE ended_at < now() - $1 * interval '1 ms' LIMIT ${PAGE_ROWS}
) RETURNING 1`

const DELETE_TESTS = `
DELETE FROM alert_deliveries WHERE incident_id IS NULL AND at < now() - $1 * interval '1 ms'`

type OpenRow = Omit<OpenIncident, 'startedAtMs'> & { readonly started_at: Date }

interface DueRow {
  readonly incident_id: string
  readonly channel_id: string
  readonly sequence: number
  readonly phase: DueNotice['phase']
  readonly notice: Notice
  readonly tries: number
  readonly failures: number
  readonly due_at: Date
}

/**
 * Incidents and their notices. An incident starts once and ends once, whichever nodes report it. Notices are written with the
 * step that they announce, are sent at least once, and in order for each incident and channel: a node that dies between
 * sending one and recording it leaves it to another. Every method may be repeated after a lost answer, and rejects with
 * `StoreUnreachable`.
 */
export class PostgresAlertOutbox {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Those that have not ended. */
  async openIncidents(): Promise<readonly OpenIncident[]> {
    const rows = await reachable(this.#database.query<OpenRow>(OPEN))
    return rows.map(({ started_at: startedAt, ...row }) => ({ ...row, startedAtMs: startedAt.getTime() }))
  }

  /** A step that was done already adds nothing. Returns the steps that were done now. */
  async record(steps: readonly IncidentStep[]): Promise<readonly IncidentStep[]> {
    const done: IncidentStep[] = []
    // One transaction for each step: a storm holds no lock for long, and a bad step stops no other.
    for (const step of steps)
      if (await reachable(this.#database.transaction((sql) => recordStep(sql, step)))) done.push(step)
    return done
  }

  /** Takes at most one due notice of each channel that no node holds. */
  async due(limit: number): Promise<readonly DueNotice[]> {
    const rows = await reachable(
      this.#database.transaction(async (sql) => {
        const free = await sql.query<{ readonly channel_id: string }>(
          TAKE_CHANNELS,
          [limit],
          'alert-channels',
        )
        if (free.length === 0) return []
        const channels = free.map(({ channel_id: id }) => id)
        return sql.query<DueRow>(TAKE_NOTICES, [channels], 'alert-notices')
      }),
    )
    return rows.map(({ incident_id, channel_id, due_at, ...row }) => ({
      ...row,
      incident: incident_id,
      channel: channel_id,
      dueAtMs: due_at.getTime(),
    }))
  }

  /** Records a try, and gives the channel back. */
  async tried(due: DueNotice, result: DeliveryResult, after: AfterTry): Promise<void> {
    const { incident, channel, sequence, phase, tries } = due
    await reachable(
      this.#database.transaction(async (sql) => {
        if (after.outcome === 'sent') await sql.query(RELEASE, [channel, after.pauseMs])
        else await sql.query(POSTPONE, [channel, after.retryInMs])
        if (after.outcome !== 'failed')
          await sql.query(END_NOTICE, [incident, channel, sequence, after.outcome])
        await sql.query(
          DELIVERY,
          deliveryValues({ channel, incident, phase, attempt: tries }, result, undefined),
        )
      }),
    )
  }

  /** Records a test. */
  async tested(channel: string, result: DeliveryResult, atMs: number): Promise<void> {
    const values = deliveryValues({ channel, incident: null, phase: null, attempt: 1 }, result, atMs)
    await reachable(this.#database.query(DELIVERY, values))
  }

  /** Lets a failing channel be tried at once. */
  async retryNow(channel: string): Promise<void> {
    await reachable(
      this.#database.query('UPDATE alert_queues SET next_at = now() WHERE channel_id = $1', [channel]),
    )
  }

  /** Deletes incidents that ended, and tests made, more than `keptMs` ago; returns how many incidents. */
  async deleteOld(keptMs: number): Promise<number> {
    await reachable(this.#database.query(DELETE_TESTS, [keptMs]))
    let deleted = 0
    for (;;) {
      const rows = await reachable(this.#database.query(DELETE_INCIDENTS, [keptMs]))
      deleted += rows.length
      if (rows.length < PAGE_ROWS) return deleted
    }
  }
}

/** False: it was done before. */
async function recordStep(sql: Sql, { step, incident, notices, endedAtMs }: IncidentStep): Promise<boolean> {
  const { id, kind, cause, project, rules, severity, title, detail, level, grouped, startedAtMs } = incident
  const shown = [rules, severity, title, JSON.stringify(detail), level, grouped]
  const rows =
    step === 'start'
      ? await sql.query(START, [id, kind, cause, project, ...shown, new Date(startedAtMs)])
      : step === 'end'
        ? await sql.query(END, [id, new Date(endedAtMs ?? startedAtMs)])
        : await sql.query(step === 'worse' ? WORSE : CHANGE, [id, ...shown])
  if (rows.length === 0) return false
  if (step === 'end') {
    const heard = await sql.query<{ readonly channel_id: string }>(HEARD, [id])
    for (const notice of notices)
      if (heard.some((one) => one.channel_id === notice.channel)) await recordEnd(sql, id, notice)
  } else if (notices.length > 0) {
    await sql.query(QUEUE, [notices.map(({ channel }) => channel).sort()])
    for (const notice of notices) await recordNotice(sql, id, notice)
  }
  return true
}

/** An end that no one has to hear of is not written. */
async function recordEnd(sql: Sql, incident: string, given: NewNotice): Promise<void> {
  const { channel, notice } = given
  const past = JSON.stringify({ ...notice, id: `${incident}.0`, phase: 'past' })
  const isDropped = (await sql.query(DROP_MUTED, [incident, channel])).length > 0
  const isMerged = !isDropped && (await sql.query(MERGE_HELD, [incident, channel, past])).length > 0
  await sql.query(DROP_HELD, [incident, channel])
  if (!isDropped && !isMerged) await recordNotice(sql, incident, given)
}

async function recordNotice(sql: Sql, incident: string, given: NewNotice): Promise<void> {
  const { channel, phase, sequence, notice, heldUntilMs } = given
  const held = heldUntilMs === undefined ? null : new Date(heldUntilMs)
  await sql.query(NOTICE, [incident, channel, sequence, phase, JSON.stringify(notice), held])
}

interface Try {
  readonly channel: string
  readonly incident: string | null
  readonly phase: string | null
  readonly attempt: number
}

function deliveryValues(
  { channel, incident, phase, attempt }: Try,
  { isOk, status, ms, problem }: DeliveryResult,
  atMs: number | undefined,
): unknown[] {
  const at = atMs === undefined ? null : new Date(atMs)
  return [channel, incident, phase, at, isOk, status ?? null, Math.round(ms), attempt, problem ?? null]
}

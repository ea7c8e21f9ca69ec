import type { ProjectTraffic } from '#core/alerts/facts.ts'
import { OUTCOMES } from '#core/request/request-outcome.ts'
import { DEPLOYMENT_STATES, type DeploymentStateName } from '#core/schedule/scheduler.ts'
import { LatencyCounts, type SparseCounts } from '#core/traffic/latency-counts.ts'
import type { Clock } from '#ports/clock.ts'
import {
  COARSE_SLOT_MS,
  FINE_KEPT_MS,
  FINE_SLOT_MS,
  type DeploymentEvent,
  type DeploymentSlot,
  type ProjectSlot,
  type TimeSpan,
  type TrafficPage,
  type TrafficSlot,
  type WorstState,
} from '#ports/traffic-history.ts'
import { plainArray, textArray } from './arrays.ts'
import { reachable } from './unreachable.ts'
import type { Database } from './database.ts'

const DAY_MS = 86_400_000
/** Two weeks show whether what happens today happened before. */
const DEPLOYMENT_DAYS = 14
/** Age up to which half hours are kept: a month and two days. */
const COARSE_MS = 32 * DAY_MS
/** Rows that one statement removes: a fraction of a second. */
const PORTION = 5000

/** Arrays of arrays must have one length each, so the lists travel as text and are read as arrays by the server. */
const WRITE_DEPLOYMENTS = `
INSERT INTO deployment_slots (
  deployment, at, node_id, worst, calls, failed, latency_classes, latency_counts, in_flight, call_limit
)
SELECT deployment, to_timestamp(at_ms / 1000.0), $1, worst, calls, failed, classes::smallint[], counts::integer[], in_flight,
  call_limit
FROM unnest(
  $2::text[], $3::bigint[], $4::smallint[], $5::integer[], $6::integer[], $7::text[], $8::text[], $9::integer[], $10::real[]
) AS given (deployment, at_ms, worst, calls, failed, classes, counts, in_flight, call_limit)
ON CONFLICT (deployment, at, node_id) DO UPDATE SET
  worst = excluded.worst, calls = excluded.calls, failed = excluded.failed, latency_classes = excluded.latency_classes,
  latency_counts = excluded.latency_counts, in_flight = excluded.in_flight, call_limit = excluded.call_limit`

const WRITE_EVENTS = `
INSERT INTO deployment_events (deployment, at, node_id, state, reason)
SELECT deployment, to_timestamp(at_ms / 1000.0), $1, state, reason
FROM unnest($2::text[], $3::bigint[], $4::smallint[], $5::text[]) AS given (deployment, at_ms, state, reason)
ON CONFLICT DO NOTHING`

const WRITE_PROJECTS = `
INSERT INTO traffic_slots (
  slot_seconds, at, project, node_id, answered, refused, limited, failed, unknown, inputs, hits, amount_nano,
  latency_classes, latency_counts, own_classes, own_counts
)
SELECT slot_seconds, to_timestamp(at_ms / 1000.0), project, $1, answered, refused, limited, failed, unknown, inputs, hits,
  amount_nano, latency_classes::smallint[], latency_counts::integer[], own_classes::smallint[], own_counts::integer[]
FROM unnest(
  $2::integer[], $3::bigint[], $4::text[], $5::integer[], $6::integer[], $7::integer[], $8::integer[], $9::integer[],
  $10::bigint[], $11::bigint[], $12::bigint[], $13::text[], $14::text[], $15::text[], $16::text[]
) AS given (
  slot_seconds, at_ms, project, answered, refused, limited, failed, unknown, inputs, hits, amount_nano,
  latency_classes, latency_counts, own_classes, own_counts
)
ON CONFLICT (slot_seconds, at, project, node_id) DO UPDATE SET
  answered = excluded.answered, refused = excluded.refused, limited = excluded.limited, failed = excluded.failed,
  unknown = excluded.unknown, inputs = excluded.inputs, hits = excluded.hits, amount_nano = excluded.amount_nano,
  latency_classes = excluded.latency_classes, latency_counts = excluded.latency_counts,
  own_classes = excluded.own_classes, own_counts = excluded.own_counts`

/** Where a slot of $2 milliseconds begins, in Unix milliseconds. */
const SLOT = 'floor(extract(epoch FROM at) * 1000 / $2)::bigint * $2::bigint'

/** $1 and $3: the first moment of a span, and the first after it, in Unix milliseconds. */
const IN_SPAN = 'at >= to_timestamp($1::bigint / 1000.0) AND at < to_timestamp($3::bigint / 1000.0)'

const WORST = `
SELECT deployment, ${SLOT} AS at_ms, max(worst) AS worst FROM deployment_slots
WHERE at >= to_timestamp($1::bigint / 1000.0) GROUP BY 1, 2 ORDER BY 1, 2`

const DEPLOYMENT = `
SELECT ${SLOT} AS at_ms, max(worst) AS worst, sum(calls)::integer AS calls, sum(failed)::integer AS failed,
  max(in_flight) AS in_flight, max(call_limit) AS call_limit
FROM deployment_slots WHERE deployment = $4 AND ${IN_SPAN} GROUP BY 1 ORDER BY 1`

const DEPLOYMENT_LATENCY = `
SELECT at_ms, class, sum(count)::integer AS count FROM (
  SELECT ${SLOT} AS at_ms, unnest(latency_classes) AS class, unnest(latency_counts) AS count
  FROM deployment_slots WHERE deployment = $4 AND ${IN_SPAN}
) AS each GROUP BY 1, 2`

const EVENTS = `
SELECT at, state, reason FROM deployment_events
WHERE deployment = $2 AND ${IN_SPAN} ORDER BY at DESC LIMIT $4`

const OF_PROJECTS = `slot_seconds = $4 AND ${IN_SPAN} AND ($5::text[] IS NULL OR project = ANY($5))`

const TRAFFIC = `
SELECT ${SLOT} AS at_ms, sum(answered)::integer AS answered, sum(refused)::integer AS refused, sum(limited)::integer AS limited,
  sum(failed)::integer AS failed, sum(unknown)::integer AS unknown, sum(inputs)::bigint AS inputs, sum(hits)::bigint AS hits,
  sum(amount_nano)::bigint AS amount_nano
FROM traffic_slots WHERE ${OF_PROJECTS} GROUP BY 1 ORDER BY 1`

const TRAFFIC_LATENCY = `
SELECT at_ms, class, sum(count)::integer AS count FROM (
  SELECT ${SLOT} AS at_ms, unnest(latency_classes) AS class, unnest(latency_counts) AS count
  FROM traffic_slots WHERE ${OF_PROJECTS}
) AS each GROUP BY 1, 2`

/** $1: from; $2: to. */
const FINE_SPAN = `slot_seconds = ${FINE_SLOT_MS / 1000} AND at >= to_timestamp($1::bigint / 1000.0) AND at < to_timestamp($2::bigint / 1000.0)`

const PROJECTS = `
SELECT project, sum(answered + refused + limited + failed + unknown)::integer AS requests,
  sum(failed + unknown)::integer AS failed
FROM traffic_slots WHERE ${FINE_SPAN} GROUP BY 1 ORDER BY 1`

const PROJECT_LATENCY = `
SELECT project, class, sum(count)::integer AS count FROM (
  SELECT project, unnest(latency_classes) AS class, unnest(latency_counts) AS count FROM traffic_slots WHERE ${FINE_SPAN}
) AS each GROUP BY 1, 2`

const dropFrom = (table: string, condition: string): string =>
  `DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${PORTION}) RETURNING 1`

interface CountRow {
  readonly at_ms: bigint
  readonly class: number
  readonly count: number
}

/** The history of deployments and traffic over days. Every method rejects with `StoreUnreachable`. */
export class PostgresTrafficHistory {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /** The same slot of the same node written again replaces what was written before. */
  async write(nodeId: string, { deployments, events, projects }: TrafficPage): Promise<void> {
    if (deployments.length > 0)
      await this.#run(WRITE_DEPLOYMENTS, [nodeId, ...deploymentColumns(deployments)])
    if (events.length > 0) await this.#run(WRITE_EVENTS, [nodeId, ...eventColumns(events)])
    if (projects.length > 0) await this.#run(WRITE_PROJECTS, [nodeId, ...projectColumns(projects)])
  }

  /** The worst state of each deployment in each slot of this length since then; slots in which nothing happened are left out. */
  async worstStates(sinceMs: number, slotMs: number): Promise<readonly WorstState[]> {
    const rows = await this.#run<{ deployment: string; at_ms: bigint; worst: number }>(WORST, [
      sinceMs,
      slotMs,
    ])
    return rows.map(({ deployment, at_ms: atMs, worst }) => ({
      deployment,
      atMs: Number(atMs),
      worst: stateOf(worst),
    }))
  }

  /** One deployment, all nodes together, slot by slot, oldest first. */
  async deploymentSlots(
    deployment: string,
    { fromMs, toMs }: TimeSpan,
    slotMs: number,
  ): Promise<readonly DeploymentSlot[]> {
    interface Row {
      readonly at_ms: bigint
      readonly worst: number
      readonly calls: number
      readonly failed: number
      readonly in_flight: number
      readonly call_limit: number | null
    }
    const asked = [fromMs, slotMs, toMs, deployment]
    const rows = await this.#run<Row>(DEPLOYMENT, asked)
    const latency = countsBySlot(await this.#run<CountRow>(DEPLOYMENT_LATENCY, asked))
    return rows.map((row) => ({
      deployment,
      atMs: Number(row.at_ms),
      worst: stateOf(row.worst),
      calls: row.calls,
      failed: row.failed,
      latency: latency.get(Number(row.at_ms))?.sparse() ?? { classes: [], counts: [] },
      inFlight: row.in_flight,
      limit: row.call_limit ?? undefined,
    }))
  }

  /** Newest first. */
  async events(
    deployment: string,
    { fromMs, toMs }: TimeSpan,
    limit: number,
  ): Promise<readonly DeploymentEvent[]> {
    const rows = await this.#run<{ at: Date; state: number; reason: string }>(EVENTS, [
      fromMs,
      deployment,
      toMs,
      limit,
    ])
    return rows.map(({ at, state, reason }) => ({
      deployment,
      atMs: at.getTime(),
      state: stateOf(state),
      reason,
    }))
  }

  /** Oldest first; slots without traffic are left out. `projects` undefined: all. */
  async traffic(
    { fromMs, toMs }: TimeSpan,
    slotMs: number,
    projects: readonly string[] | undefined,
  ): Promise<readonly TrafficSlot[]> {
    interface Row {
      readonly at_ms: bigint
      readonly answered: number
      readonly refused: number
      readonly limited: number
      readonly failed: number
      readonly unknown: number
      readonly inputs: bigint
      readonly hits: bigint
      readonly amount_nano: bigint
    }
    const kept = slotMs < COARSE_SLOT_MS ? FINE_SLOT_MS : COARSE_SLOT_MS
    const asked = [fromMs, slotMs, toMs, kept / 1000, projects === undefined ? null : textArray(projects)]
    const rows = await this.#run<Row>(TRAFFIC, asked)
    const latency = countsBySlot(await this.#run<CountRow>(TRAFFIC_LATENCY, asked))
    const own = countsBySlot(await this.#run<CountRow>(TRAFFIC_LATENCY.replaceAll('latency_', 'own_'), asked))
    return rows.map((row) => {
      const atMs = Number(row.at_ms)
      const { answered, refused, limited, failed, unknown } = row
      return {
        atMs,
        outcomes: { answered, refused, limited, failed, unknown },
        inputs: Number(row.inputs),
        hits: Number(row.hits),
        nanoUsd: row.amount_nano,
        p50Ms: latency.get(atMs)?.quantile(0.5),
        p95Ms: latency.get(atMs)?.quantile(0.95),
        p99Ms: latency.get(atMs)?.quantile(0.99),
        ownP95Ms: own.get(atMs)?.quantile(0.95),
      }
    })
  }

  /** Each project that had requests in the fine slots of a span, whose begin is that of a slot. */
  async projectTraffic({ fromMs, toMs }: TimeSpan): Promise<readonly ProjectTraffic[]> {
    const rows = await this.#run<Omit<ProjectTraffic, 'latency'>>(PROJECTS, [fromMs, toMs])
    const counts = await this.#run<Omit<CountRow, 'at_ms'> & { readonly project: string }>(PROJECT_LATENCY, [
      fromMs,
      toMs,
    ])
    const byProject = Map.groupBy(counts, ({ project }) => project)
    return rows.map((row) => {
      const own = byProject.get(row.project) ?? []
      const latency = { classes: own.map((one) => one.class), counts: own.map(({ count }) => count) }
      return { ...row, latency }
    })
  }

  /** Deletes what has reached the end of its retention. */
  async dropOld(): Promise<void> {
    const nowMs = this.#clock.nowMs()
    const old = new Date(nowMs - DEPLOYMENT_DAYS * DAY_MS)
    await this.#drop(dropFrom('deployment_slots', 'at < $1'), [old])
    await this.#drop(dropFrom('deployment_events', 'at < $1'), [old])
    const drop = dropFrom('traffic_slots', 'slot_seconds = $1 AND at < $2')
    await this.#drop(drop, [FINE_SLOT_MS / 1000, new Date(nowMs - FINE_KEPT_MS)])
    await this.#drop(drop, [COARSE_SLOT_MS / 1000, new Date(nowMs - COARSE_MS)])
  }

  async #drop(statement: string, values: readonly unknown[]): Promise<void> {
    let rows: readonly unknown[]
    do rows = await this.#run(statement, values)
    while (rows.length === PORTION)
  }

  #run<Row>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return reachable(this.#database.query<Row>(text, values))
  }
}

function stateOf(rank: number): DeploymentStateName {
  return DEPLOYMENT_STATES[rank] ?? 'healthy'
}

function rankOf(state: DeploymentStateName): number {
  return DEPLOYMENT_STATES.indexOf(state)
}

function listText(values: readonly number[]): string {
  return `{${values.join()}}`
}

function deploymentColumns(slots: readonly DeploymentSlot[]): readonly string[] {
  return [
    textArray(slots.map(({ deployment }) => deployment)),
    plainArray(slots.map(({ atMs }) => atMs)),
    plainArray(slots.map(({ worst }) => rankOf(worst))),
    plainArray(slots.map(({ calls }) => calls)),
    plainArray(slots.map(({ failed }) => failed)),
    ...countColumns(slots.map(({ latency }) => latency)),
    plainArray(slots.map(({ inFlight }) => inFlight)),
    plainArray(slots.map(({ limit }) => limit)),
  ]
}

function eventColumns(events: readonly DeploymentEvent[]): readonly string[] {
  return [
    textArray(events.map(({ deployment }) => deployment)),
    plainArray(events.map(({ atMs }) => atMs)),
    plainArray(events.map(({ state }) => rankOf(state))),
    textArray(events.map(({ reason }) => reason)),
  ]
}

function projectColumns(slots: readonly ProjectSlot[]): readonly string[] {
  return [
    plainArray(slots.map(({ slotMs }) => slotMs / 1000)),
    plainArray(slots.map(({ atMs }) => atMs)),
    textArray(slots.map(({ project }) => project)),
    ...OUTCOMES.map((outcome) => plainArray(slots.map(({ outcomes }) => outcomes[outcome]))),
    plainArray(slots.map(({ inputs }) => inputs)),
    plainArray(slots.map(({ hits }) => hits)),
    plainArray(slots.map(({ nanoUsd }) => nanoUsd)),
    ...countColumns(slots.map(({ latency }) => latency)),
    ...countColumns(slots.map(({ own }) => own)),
  ]
}

function countColumns(all: readonly SparseCounts[]): readonly [string, string] {
  return [
    textArray(all.map(({ classes }) => listText(classes))),
    textArray(all.map(({ counts }) => listText(counts))),
  ]
}

function countsBySlot(rows: readonly CountRow[]): ReadonlyMap<number, LatencyCounts> {
  const bySlot = new Map<number, LatencyCounts>()
  for (const { at_ms: atMs, class: index, count } of rows) {
    const counts = bySlot.get(Number(atMs)) ?? new LatencyCounts()
    counts.addAll({ classes: [index], counts: [count] })
    bySlot.set(Number(atMs), counts)
  }
  return bySlot
}

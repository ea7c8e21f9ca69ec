/**
 * Thirty days of invented history, written straight into the database of a demo: rollups of usage, slots of traffic and of
 * deployments. The ledger itself is left alone, so nothing of it is ever paid or reserved.
 */
import { Client } from 'pg'
import { chanceFrom, type Chance } from './chance.ts'
import { inventedLooks } from './looks.ts'
import { busyness, USES } from './uses.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const DAYS = 30
const DEPLOYMENT_DAYS = 7
/** No node of today: its rows stand beside those of the nodes that run. */
const NODE = '00000000-0000-7000-8000-00000000de30'

export async function fillHistory(databaseUrl: string, nowMs: number): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('BEGIN')
    await fillUsage(client, nowMs, chanceFrom(11))
    await fillTraffic(client, nowMs, chanceFrom(12))
    await fillDeployments(client, nowMs, chanceFrom(13))
    await fillLooks(client, nowMs)
    await client.query('COMMIT')
  } finally {
    await client.end()
  }
}

/** The hours that run are left to the traffic of now, which reconciles them. */
async function fillUsage(client: Client, nowMs: number, chance: Chance): Promise<void> {
  const lastMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS - 3 * HOUR_MS
  const rows: unknown[][] = []
  for (let atMs = lastMs - DAYS * DAY_MS; atMs <= lastMs; atMs += HOUR_MS)
    for (const use of USES) {
      const requests = Math.round(use.peak * busyness(atMs, chance))
      if (requests === 0) continue
      const hits = Math.round(requests * use.hitShare)
      const paid = requests - hits
      rows.push([
        new Date(atMs),
        use.project,
        `${use.project}/${use.key}`,
        use.model,
        `${use.model}/${use.deployment}`,
        paid,
        paid * use.tokens,
        use.isImage ? requests : 0,
        paid * use.nanoUsd,
        requests,
        hits,
        hits * use.nanoUsd,
      ])
    }
  await insertAll(
    client,
    'usage_hours (hour, project, key_id, model, deployment, shard, posts, tokens, images, amount_nano, requests, hits, saved_nano)',
    (at) =>
      `(${at(1)}, ${at(2)}, ${at(3)}, ${at(4)}, ${at(5)}, 0, ${at(6)}, ${at(7)}, ${at(8)}, ${at(9)}, ${at(10)}, ${at(11)}, ${at(12)})`,
    rows,
  )
  await client.query(
    `INSERT INTO usage_days (day, project, key_id, model, deployment, posts, unknowns, tokens, images, amount_nano, unpriced,
       requests, hits, saved_nano)
     SELECT (hour AT TIME ZONE 'UTC')::date, project, key_id, model, deployment, sum(posts), sum(unknowns), sum(tokens),
       sum(images), sum(amount_nano), sum(unpriced), sum(requests), sum(hits), sum(saved_nano)
     FROM usage_hours WHERE hour <= $1 GROUP BY 1, 2, 3, 4, 5
     ON CONFLICT DO NOTHING`,
    [new Date(lastMs)],
  )
}

/** A class of latency counts, as the server counts them: a tenth wider than the one before. */
function classOf(ms: number): number {
  return Math.max(0, Math.ceil(Math.log(ms / 0.1) / Math.log(1.1)))
}

/** Most take about as long as usual, a few much longer. */
function latencies(
  count: number,
  usualMs: number,
): { readonly classes: number[]; readonly counts: number[] } {
  const spread = [0.6, 0.8, 1, 1.2, 1.6, 2.4, 4] as const
  const shares = [0.1, 0.24, 0.3, 0.2, 0.1, 0.045, 0.015] as const
  const counts = shares.map((share) => Math.round(count * share))
  return { classes: spread.map((times) => classOf(usualMs * times)), counts }
}

const list = (values: readonly number[]): string => `{${values.join()}}`

async function fillTraffic(client: Client, nowMs: number, chance: Chance): Promise<void> {
  const rows: unknown[][] = []
  const add = (slotMs: number, fromMs: number): void => {
    const lastMs = Math.floor(nowMs / slotMs) * slotMs
    for (let atMs = Math.ceil(fromMs / slotMs) * slotMs; atMs < lastMs; atMs += slotMs)
      for (const project of ['search', 'catalog', 'research', 'ads', 'studio']) {
        const uses = USES.filter((use) => use.project === project)
        const share = (busyness(atMs, chance) * slotMs) / HOUR_MS
        const requests = Math.round(uses.reduce((sum, { peak }) => sum + peak, 0) * share)
        const hits = Math.round(uses.reduce((sum, { peak, hitShare }) => sum + peak * hitShare, 0) * share)
        const nano = Math.round(uses.reduce((sum, { peak, nanoUsd }) => sum + peak * nanoUsd, 0) * share)
        const isBad = chance.share() < 0.03
        const failed = isBad ? Math.round(requests * 0.06) : Math.round(requests * 0.0004)
        const usualMs = uses.find(({ isImage }) => !isImage)?.usualMs ?? 9400
        const all = latencies(requests, usualMs * (isBad ? 2 : 1) * (0.9 + chance.share() * 0.2))
        const own = latencies(requests, 1.1)
        rows.push([
          slotMs / 1000,
          new Date(atMs),
          project,
          requests - failed,
          Math.round(requests * 0.0005),
          Math.round(requests * 0.001),
          failed,
          project === 'studio' ? requests : requests * 3,
          project === 'studio' ? 0 : hits,
          nano,
          list(all.classes),
          list(all.counts),
          list(own.classes),
          list(own.counts),
        ])
      }
  }
  add(MINUTE_MS, nowMs - 26 * HOUR_MS)
  add(30 * MINUTE_MS, nowMs - DAYS * DAY_MS)
  await insertAll(
    client,
    `traffic_slots (slot_seconds, at, project, node_id, answered, refused, limited, failed, unknown, inputs, hits, amount_nano,
       latency_classes, latency_counts, own_classes, own_counts)`,
    (at) =>
      `(${at(1)}, ${at(2)}, ${at(3)}, '${NODE}', ${at(4)}, ${at(5)}, ${at(6)}, ${at(7)}, 0, ${at(8)}, ${at(9)}, ${at(10)}, ${at(11)}, ${at(12)}, ${at(13)}, ${at(14)})`,
    rows,
  )
}

/** As the server ranks states. */
const HEALTHY = 2
const LIMITED = 3
const EJECTED = 5
const QUARANTINED = 6

async function fillDeployments(client: Client, nowMs: number, chance: Chance): Promise<void> {
  const slotMs = 5 * MINUTE_MS
  const lastMs = Math.floor(nowMs / slotMs) * slotMs
  const slots: unknown[][] = []
  const events: unknown[][] = []
  for (const deployment of new Set(USES.map(({ model, deployment: name }) => `${model}/${name}`))) {
    const uses = USES.filter((use) => `${use.model}/${use.deployment}` === deployment)
    const [first] = uses
    if (first === undefined) continue
    let unhealthyUntilMs = 0
    let state = HEALTHY
    for (let atMs = lastMs - DEPLOYMENT_DAYS * DAY_MS; atMs < lastMs; atMs += slotMs) {
      if (atMs >= unhealthyUntilMs && state !== HEALTHY) {
        state = HEALTHY
        events.push([deployment, new Date(atMs), HEALTHY, ''])
      }
      if (state === HEALTHY && chance.share() < 0.002) {
        state = chance.share() < 0.6 ? LIMITED : EJECTED
        unhealthyUntilMs = atMs + (1 + chance.below(6)) * slotMs
        events.push([
          deployment,
          new Date(atMs),
          state,
          state === LIMITED ? '429, retry after 4 s' : 'connection refused',
        ])
      }
      const isOut = deployment.endsWith('/azure-us') && atMs > nowMs - 5 * HOUR_MS
      const worst = isOut ? QUARANTINED : state
      const calls = isOut
        ? 0
        : Math.round(
            uses.reduce((sum, { peak }) => sum + peak, 0) * busyness(atMs, chance) * (slotMs / HOUR_MS),
          )
      const { classes, counts } = latencies(calls, first.usualMs * (0.85 + chance.share() * 0.3))
      const failed = worst === EJECTED ? Math.round(calls * 0.4) : Math.round(calls * 0.0005)
      slots.push([
        deployment,
        new Date(atMs),
        worst,
        calls,
        failed,
        list(classes),
        list(counts),
        1 + chance.below(6),
        16 + chance.below(8),
      ])
    }
  }
  await insertAll(
    client,
    'deployment_slots (deployment, at, node_id, worst, calls, failed, latency_classes, latency_counts, in_flight, call_limit)',
    (at) =>
      `(${at(1)}, ${at(2)}, '${NODE}', ${at(3)}, ${at(4)}, ${at(5)}, ${at(6)}, ${at(7)}, ${at(8)}, ${at(9)})`,
    slots,
  )
  await insertAll(
    client,
    'deployment_events (deployment, at, node_id, state, reason)',
    (at) => `(${at(1)}, ${at(2)}, '${NODE}', ${at(3)}, ${at(4)})`,
    events,
  )
}

const DRIFTING = 'text-embedding-3-large'

async function fillLooks(client: Client, nowMs: number): Promise<void> {
  const left = `${DRIFTING}/azure-us`
  const rows = inventedLooks([`${DRIFTING}/openai`, left], left, nowMs).map((look) => [
    DRIFTING,
    new Date(look.atMs),
    look.deployment,
    look.verdict,
    look.cosine,
    look.lengthDrift,
  ])
  await insertAll(
    client,
    'space_probes (model, at, deployment, target, space, verdict, least_cosine, norm_drift)',
    (at) =>
      `(${at(1)}, ${at(2)}, ${at(3)}, 'invented', '${DRIFTING}@3072:invented', ${at(4)}, ${at(5)}, ${at(6)})`,
    rows,
  )
}

/** Below PostgreSQL's 65,535 parameters of one statement. */
const PORTION = 2000

async function insertAll(
  client: Client,
  into: string,
  rowText: (at: (column: number) => string) => string,
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += PORTION) {
    const portion = rows.slice(start, start + PORTION)
    const values = portion.map((row, index) => rowText((column) => `$${index * row.length + column}`))
    await client.query(
      `INSERT INTO ${into} VALUES ${values.join(', ')} ON CONFLICT DO NOTHING`,
      portion.flat(),
    )
  }
}

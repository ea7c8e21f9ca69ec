/** Where work waits in the store, as part of the heartbeat. Each part reads a few entries of an index, or a table of some rows. */
import { MAX_CLOCK_SKEW_MS } from '#ports/upkeep.ts'
import { WANTED_MS } from '#ports/node-news.ts'
import type { WaitingWork } from '#ports/ledger.ts'

/** Time for which a silent node counts as live. */
export const LIVE_SECONDS = 5

const MAY_LEAD = `role IN ('all', 'worker') AND abs(clock_skew_ms) <= ${MAX_CLOCK_SKEW_MS}`
const LEADERS = `nodes WHERE ended_at IS NULL AND seen_at > now() - interval '${LIVE_SECONDS} seconds' AND ${MAY_LEAD}`

/** The node that does what one node does for all. */
export const ELDEST = `SELECT node_id FROM ${LEADERS} ORDER BY started_at, node_id LIMIT 1`

/** True if that is the node of `beat`, by what its heartbeat has just written: no other part of the statement sees it. */
const IS_ELDEST = `EXISTS (
  SELECT FROM beat WHERE ${MAY_LEAD} AND NOT EXISTS (
    SELECT FROM ${LEADERS} AND (nodes.started_at, nodes.node_id) < (beat.started_at, beat.node_id)))`

/** Changes with every row that is added, changed or deleted: a later transaction has a larger number. For tables of some hundred rows. */
const stateOf = (table: string): string =>
  `(SELECT concat(count(*), '/', sum(xmin::text::bigint)) FROM ${table})`

/** `beat`: the row of the node, as its heartbeat leaves it. */
const WORK: Readonly<Record<keyof WaitingWork, string>> = {
  directory: '(SELECT version::text FROM directory_version)',
  isEldest: IS_ELDEST,
  webhooks: 'EXISTS (SELECT FROM webhook_events WHERE ended_at IS NULL AND due_at <= now())',
  notices: 'EXISTS (SELECT FROM alert_notices WHERE ended_at IS NULL)',
  alerts: `(EXISTS (SELECT FROM alert_rules WHERE is_on) OR EXISTS (SELECT FROM alert_incidents WHERE ended_at IS NULL))`,
  batches: 'EXISTS (SELECT FROM batches WHERE ended_at IS NULL)',
  imageJobs: `EXISTS (SELECT FROM image_jobs WHERE state IN ('leased', 'dispatched'))`,
  files: 'EXISTS (SELECT FROM files WHERE ends_at <= now())',
  standings: stateOf('space_standings'),
  suspects: `(EXISTS (SELECT FROM suspect_windows WHERE until_at IS NULL)
    OR EXISTS (SELECT FROM suspect_windows WHERE next_listing_at <= now()))`,
  news: `EXISTS (SELECT FROM node_news_wanted WHERE at > now() - interval '${WANTED_MS} milliseconds')`,
}

export const WAITING_WORK = `jsonb_build_object(${Object.entries(WORK)
  .map(([topic, is]) => `'${topic}', ${is}`)
  .join(', ')})`

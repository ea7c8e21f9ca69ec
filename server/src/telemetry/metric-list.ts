/**
 * Every metric of a node, in the order of `/metrics`. The code counts by these names, and docs/metrics.md is
 * generated from this list. Keys are no label: an install has thousands. Models, deployments and projects are
 * bounded: further ones become `other`. All bounds together stay below 5,000 series, which one small
 * Prometheus takes from a hundred nodes.
 */
import { counter, gauge, histogram, type Metric } from './metric.ts'
import { PROCESS_METRICS } from './process-metric-list.ts'

/** From a quick upstream to a slow image. Few, because each is a series for each model. */
const BY_MODEL_SECONDS = [0.01, 0.05, 0.1, 0.5, 2, 10, 60, 300]
/** Torana's own work is below a millisecond when all is well. */
const OWN_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5]
/** From a commit on the same machine to the two seconds after which a record goes to the spool. */
const COMMIT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5]
/** A batch takes up to a thousand entries, and the rest of the last request. */
const BATCH_ENTRIES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]

const BY_MODEL = { labels: ['model'], most: 100 }
const BY_DEPLOYMENT = { labels: ['deployment'], most: 100 }
const BY_PROJECT = { labels: ['project', 'model'], most: 200 }
const BY_ROUTE = { labels: ['route'], most: 5 }
const BY_PLACE = { labels: ['where'], most: 2 }

const TRAFFIC = {
  torana_requests_total: counter('Requests answered.', {
    labels: ['route', 'model', 'status', 'fault'],
    most: 350,
  }),
  torana_request_duration_seconds: histogram(
    'From the first byte of a request to the last byte of its answer.',
    BY_MODEL_SECONDS,
    { labels: ['route', 'model'], most: 100 },
  ),
  torana_request_own_duration_seconds: histogram(
    "Torana's own work on a request: without upstreams, and without the wait for a turn.",
    OWN_SECONDS,
    BY_ROUTE,
  ),
  torana_request_wait_duration_seconds: histogram(
    'How long a request was in line for its turns at deployments.',
    OWN_SECONDS,
    BY_ROUTE,
  ),
  torana_tokens_total: counter('Input tokens reported to callers.', BY_MODEL),
  torana_inputs_total: counter('Inputs embedded, and images asked for.', BY_MODEL),
  torana_images_total: counter('Images made for callers.', BY_PROJECT),
  torana_spend_usd_total: counter(
    'US dollars of answered requests, by the configured prices. The ledger is exact; this is for graphs and alerts.',
    BY_PROJECT,
  ),
  torana_cache_inputs_total: counter('Inputs of models with a cache, by hit or miss.', {
    labels: ['model', 'outcome'],
    most: 200,
  }),
  torana_upstream_calls_total: counter('Calls to upstreams by outcome.', {
    labels: ['model', 'deployment', 'outcome'],
    most: 250,
  }),
  torana_upstream_call_duration_seconds: histogram('Duration of one call to an upstream.', BY_MODEL_SECONDS, {
    labels: ['model', 'deployment'],
    most: 100,
  }),
  torana_upstream_overcounts_total: counter(
    'Calls whose upstream counted, or charged, more than Torana expected of them at most: all of it was charged to the caller, or only a part, since it cannot be true.',
    { labels: ['model', 'deployment', 'charged'], most: 50 },
  ),
  torana_upstream_undercounts_total: counter(
    'Priced calls whose upstream counted fewer tokens than inputs; the tokens were estimated.',
    { labels: ['model', 'deployment'], most: 25 },
  ),
  torana_substituted_answers_total: counter(
    'Answers that name another model than the one that was asked for, by the names.',
    { labels: ['deployment', 'asked', 'answered'], most: 50 },
  ),
  torana_deployments: gauge('Deployments, by state.', { labels: ['state'], most: 7 }),
  torana_deployment_state: gauge('1 for the present state of a deployment. Other states are absent.', {
    labels: ['deployment', 'state'],
    most: 100,
  }),
  torana_deployment_calls_in_flight: gauge('Calls in flight.', BY_DEPLOYMENT),
  torana_deployment_calls_limit: gauge('Limit of calls in flight.', BY_DEPLOYMENT),
  torana_requests_waiting: gauge('Requests in the queue for a deployment.', BY_MODEL),
  torana_overload_refusals_total: counter('Requests refused by load shedding, before they were read.'),
  torana_connections_dropped_total: counter(
    'Connections closed at once because there were as many as allowed.',
  ),
  torana_connections_stalled_total: counter(
    'Connections closed because their client did not read the answer.',
  ),
  torana_refusals_unlogged_total: counter(
    'Requests refused without a valid key that were counted only, because too many came in a second.',
  ),
  torana_cache_entries: gauge('Vectors in the cache of this process.'),
  torana_cache_bytes: gauge('Bytes of the vectors in the cache of this process.'),
}

const LEDGER = {
  torana_ledger_entries_total: counter('Durable usage records, by place.', BY_PLACE),
  torana_ledger_batch_entries: histogram('Usage records written together.', BATCH_ENTRIES, BY_PLACE),
  torana_ledger_write_duration_seconds: histogram(
    'Time to make one batch of usage records durable; answers wait for it.',
    COMMIT_SECONDS,
    BY_PLACE,
  ),
  torana_ledger_refused_total: counter('Usage records that PostgreSQL refused and that were set aside.'),
  torana_request_log_dropped_total: counter('Request log records dropped because the buffer was full.'),
  torana_reconciliations_total: counter('Comparisons of the ledger with its sums by this node.'),
  torana_budget_corrections_total: counter('Budgets that differed from the ledger and were corrected.'),
  torana_store_away: gauge('1 while PostgreSQL is unreachable.'),
  torana_spool_waiting: gauge('Usage records that wait on the disk of this node for PostgreSQL.'),
  torana_journal_open: gauge('Calls to upstreams in flight.'),
  torana_disk_failing: gauge('1 while the data folder cannot be written: the node takes no requests.'),
  torana_clock_skew_seconds: gauge(
    'How far the clock of this node is ahead of the clock of PostgreSQL; negative: behind.',
  ),
  torana_limiter_shared: gauge('1 while limits are counted in Redis.'),
  torana_limiter_takes_total: counter('Requests checked against rate limits.'),
  torana_limiter_local_decisions_total: counter('Of those, decided by this node without Redis.'),
  torana_limiter_calls_total: counter('Calls of the rate limit script in Redis.'),
  torana_limiter_timeouts_total: counter('Of those, not answered in time.'),
  torana_limiter_errors_total: counter('Of those, failed with another error.'),
  torana_ledger_refused: gauge(
    'Usage records that are set aside until PostgreSQL takes them: see torana ledger refused. Must be 0.',
  ),
  torana_ledger_differences: gauge('Projects and hours in which the ledger and its sums differ. Must be 0.'),
  torana_ledger_export_waiting_days: gauge('Complete days of the ledger that are not exported yet.'),
  torana_ledger_sealed_through_seconds: gauge('Unix time before which the hours of the ledger are sealed.'),
  torana_ledger_waits_seconds: gauge(
    'Time for which an hour that is due has waited to be compared or sealed, without progress.',
    { labels: ['step'], most: 2 },
  ),
  torana_upkeep_failing: gauge('1 while a background job of the ledger fails.', {
    labels: ['chore'],
    most: 10,
  }),
  torana_partitions_missing: gauge('Partitions that are due and could not be created.'),
  torana_unknowns_open: gauge('Calls with an unknown outcome.'),
  torana_unknowns_open_usd: gauge('Amount with which unknown calls count as spent.'),
  torana_nodes: gauge('Nodes that have not ended.', { labels: ['state'], most: 2 }),
  torana_lost_leases_usd: gauge('Budget leased by nodes that are gone.'),
  torana_rest_rows: gauge('Rows outside of all partitions.', { labels: ['table'], most: 2 }),
  torana_deleted_projects: gauge('Projects that wait for deletion.'),
  torana_usage_labels_overflowed: gauge(
    'Users and tags of projects that had more values in the last day than Torana counts apart; the rest is counted as other.',
  ),
  torana_budget_spent_ratio: gauge('Spent share of each hard budget in its present period.', {
    labels: ['budget'],
    most: 200,
  }),
}

const NODE = {
  torana_build_info: gauge('Always 1.', { labels: ['version', 'commit'] }),
  torana_config_info: gauge('Always 1. `hash`: the first digits of the SHA-256 of the file in use.', {
    labels: ['hash'],
  }),
  torana_config_last_reload_successful: gauge(
    '0 while the configuration file is wrong and an earlier one is in use.',
  ),
  torana_config_last_reload_success_timestamp_seconds: gauge('When the configuration in use was read.'),
  torana_data_folder_free_bytes: gauge('Free space on the disk of the data folder.'),
  torana_data_folder_size_bytes: gauge('Size of the disk of the data folder.'),
  torana_image_spool_waiting: gauge(
    'Images that wait on the disk of this node for the bucket of ASSETS_URL.',
  ),
  torana_tls_certificate_begin_timestamp_seconds: gauge(
    'When the certificate of both ports begins to be valid. Absent without TLS.',
  ),
  torana_tls_certificate_end_timestamp_seconds: gauge(
    'When the certificate of both ports ends, or the first one of its chain.',
  ),
  torana_trace_spans_total: counter('Spans for OpenTelemetry, by whether the receiver took them.', {
    labels: ['outcome'],
    most: 2,
  }),
  torana_metric_full: gauge(
    '1 for a metric with as many series as it may have: it counts further models, deployments and projects as `other`.',
    { labels: ['metric'], most: 20 },
  ),
  torana_security_events_total: counter('Security events by kind.', { labels: ['kind'], most: 20 }),
}

export const METRICS = { ...TRAFFIC, ...LEDGER, ...NODE, ...PROCESS_METRICS } satisfies Record<string, Metric>

export type MetricName = keyof typeof METRICS

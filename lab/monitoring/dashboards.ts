/** What the dashboards show. The queries use the names of docs/metrics.md. */
import type { Dashboard } from './dashboard.ts'

const RATE = '[$__rate_interval]'

function quantile(share: number, metric: string, by: string): string {
  return `histogram_quantile(${share}, sum by (le, ${by}) (rate(${metric}_bucket${RATE})))`
}

const TRAFFIC: Dashboard = {
  uid: 'torana-traffic',
  title: 'Torana: traffic',
  panels: [
    {
      title: 'Requests',
      kind: 'timeseries',
      unit: 'reqps',
      queries: [
        {
          expr: `sum by (route, status) (rate(torana_requests_total${RATE}))`,
          legend: '{{route}} {{status}}',
        },
      ],
    },
    {
      title: 'Refusals and failures',
      kind: 'timeseries',
      unit: 'reqps',
      queries: [
        { expr: `sum by (fault) (rate(torana_requests_total{fault!=""}${RATE}))`, legend: '{{fault}}' },
      ],
    },
    {
      title: 'Share of requests that failed (5xx)',
      kind: 'stat',
      unit: 'percentunit',
      queries: [
        {
          expr: `(sum(rate(torana_requests_total{status=~"5.."}${RATE})) or vector(0)) / sum(rate(torana_requests_total${RATE}))`,
          legend: 'failed',
        },
      ],
    },
    {
      title: 'Duration of requests, 95 of 100',
      kind: 'timeseries',
      unit: 's',
      queries: [{ expr: quantile(0.95, 'torana_request_duration_seconds', 'model'), legend: '{{model}}' }],
    },
    {
      title: "Torana's own time",
      kind: 'timeseries',
      unit: 's',
      description: 'Without upstreams, and without the wait for a turn.',
      queries: [
        { expr: quantile(0.5, 'torana_request_own_duration_seconds', 'route'), legend: '{{route}} half' },
        {
          expr: quantile(0.99, 'torana_request_own_duration_seconds', 'route'),
          legend: '{{route}} 99 of 100',
        },
      ],
    },
    {
      title: 'Wait for a turn, 99 of 100',
      kind: 'timeseries',
      unit: 's',
      queries: [
        { expr: quantile(0.99, 'torana_request_wait_duration_seconds', 'route'), legend: '{{route}}' },
      ],
    },
    {
      title: 'Upstream calls by outcome',
      kind: 'timeseries',
      unit: 'ops',
      queries: [
        {
          expr: `sum by (deployment, outcome) (rate(torana_upstream_calls_total${RATE}))`,
          legend: '{{deployment}} {{outcome}}',
        },
      ],
    },
    {
      title: 'Duration of upstream calls, 95 of 100',
      kind: 'timeseries',
      unit: 's',
      queries: [
        {
          expr: quantile(0.95, 'torana_upstream_call_duration_seconds', 'deployment'),
          legend: '{{deployment}}',
        },
      ],
    },
    {
      title: 'Deployments by state',
      kind: 'timeseries',
      unit: 'short',
      description: 'As each node sees them.',
      queries: [{ expr: 'sum by (state) (torana_deployments)', legend: '{{state}}' }],
    },
    {
      title: 'Calls in flight, and requests in line',
      kind: 'timeseries',
      unit: 'short',
      queries: [
        { expr: 'sum by (deployment) (torana_deployment_calls_in_flight)', legend: '{{deployment}}' },
        { expr: 'sum by (model) (torana_requests_waiting)', legend: 'in line for {{model}}' },
      ],
    },
    {
      title: 'Inputs and images',
      kind: 'timeseries',
      unit: 'ops',
      queries: [{ expr: `sum by (model) (rate(torana_inputs_total${RATE}))`, legend: '{{model}}' }],
    },
    {
      title: 'Tokens',
      kind: 'timeseries',
      unit: 'ops',
      queries: [{ expr: `sum by (model) (rate(torana_tokens_total${RATE}))`, legend: '{{model}}' }],
    },
  ],
}

const MONEY: Dashboard = {
  uid: 'torana-money',
  title: 'Torana: money',
  panels: [
    {
      title: 'Dollars an hour, by project',
      kind: 'timeseries',
      unit: 'currencyUSD',
      description: 'For a look. The ledger is exact: `torana usage`.',
      queries: [
        { expr: `3600 * sum by (project) (rate(torana_spend_usd_total${RATE}))`, legend: '{{project}}' },
      ],
    },
    {
      title: 'Dollars in a day, by project and model',
      kind: 'table',
      unit: 'currencyUSD',
      queries: [
        {
          expr: 'sum by (project, model) (increase(torana_spend_usd_total[1d]))',
          legend: '{{project}} {{model}}',
        },
      ],
    },
    {
      title: 'Images in a day, by project and model',
      kind: 'table',
      unit: 'short',
      queries: [
        {
          expr: 'sum by (project, model) (increase(torana_images_total[1d]))',
          legend: '{{project}} {{model}}',
        },
      ],
    },
    {
      title: 'Hard budgets, spent share',
      kind: 'timeseries',
      unit: 'percentunit',
      queries: [{ expr: 'max by (budget) (torana_budget_spent_ratio)', legend: '{{budget}}' }],
    },
    {
      title: 'Calls that may have been paid',
      kind: 'stat',
      unit: 'short',
      queries: [{ expr: 'max(torana_unknowns_open)', legend: 'unknown' }],
    },
    {
      title: 'Differences of the ledger',
      kind: 'stat',
      unit: 'short',
      description: 'Must be 0.',
      queries: [{ expr: 'max(torana_ledger_differences)', legend: 'differences' }],
    },
    {
      title: 'Writes to the ledger, 99 of 100',
      kind: 'timeseries',
      unit: 's',
      queries: [
        { expr: quantile(0.99, 'torana_ledger_write_duration_seconds', 'where'), legend: '{{where}}' },
      ],
    },
    {
      title: 'Records on the disks of nodes',
      kind: 'timeseries',
      unit: 'short',
      queries: [{ expr: 'sum by (instance) (torana_spool_waiting)', legend: '{{instance}}' }],
    },
  ],
}

const NODES: Dashboard = {
  uid: 'torana-nodes',
  title: 'Torana: nodes',
  panels: [
    {
      title: 'Versions',
      kind: 'table',
      unit: 'short',
      queries: [{ expr: 'count by (version, commit) (torana_build_info)', legend: '{{version}} {{commit}}' }],
    },
    {
      title: 'Configurations',
      kind: 'table',
      unit: 'short',
      queries: [{ expr: 'count by (hash) (torana_config_info)', legend: '{{hash}}' }],
    },
    {
      title: 'Last change of the configuration',
      kind: 'stat',
      unit: 'dateTimeAsIso',
      queries: [
        {
          expr: 'max by (instance) (torana_config_last_reload_success_timestamp_seconds) * 1000',
          legend: '{{instance}}',
        },
      ],
    },
    {
      title: 'CPU',
      kind: 'timeseries',
      unit: 'percentunit',
      queries: [
        { expr: `sum by (instance) (rate(torana_process_cpu_seconds_total${RATE}))`, legend: '{{instance}}' },
      ],
    },
    {
      title: 'Memory',
      kind: 'timeseries',
      unit: 'bytes',
      queries: [{ expr: 'sum by (instance) (torana_process_resident_memory_bytes)', legend: '{{instance}}' }],
    },
    {
      title: 'Lag of the event loop, 99 of 100',
      kind: 'timeseries',
      unit: 's',
      queries: [
        { expr: 'max by (instance) (torana_nodejs_eventloop_lag_p99_seconds)', legend: '{{instance}}' },
      ],
    },
    {
      title: 'Free disk space',
      kind: 'timeseries',
      unit: 'bytes',
      queries: [{ expr: 'min by (instance) (torana_data_folder_free_bytes)', legend: '{{instance}}' }],
    },
    {
      title: "Clock against PostgreSQL's",
      kind: 'timeseries',
      unit: 's',
      queries: [{ expr: 'max by (instance) (abs(torana_clock_skew_seconds))', legend: '{{instance}}' }],
    },
    {
      title: 'Refused by load shedding, dropped connections',
      kind: 'timeseries',
      unit: 'ops',
      queries: [
        {
          expr: `sum by (instance) (rate(torana_overload_refusals_total${RATE}))`,
          legend: '{{instance}} refused',
        },
        {
          expr: `sum by (instance) (rate(torana_connections_dropped_total${RATE}))`,
          legend: '{{instance}} dropped',
        },
      ],
    },
    {
      title: 'Security events',
      kind: 'timeseries',
      unit: 'ops',
      queries: [{ expr: `sum by (kind) (rate(torana_security_events_total${RATE}))`, legend: '{{kind}}' }],
    },
    {
      title: 'Vectors in the cache',
      kind: 'timeseries',
      unit: 'short',
      queries: [{ expr: 'sum by (instance) (torana_cache_entries)', legend: '{{instance}}' }],
    },
  ],
}

export const DASHBOARDS: readonly Dashboard[] = [TRAFFIC, MONEY, NODES]

/** Metrics of the process, with the names and help texts of prom-client, which dashboards for Node know. */
import { counter, gauge, histogram } from './metric.ts'

const BY_TYPE = { labels: ['type'], most: 15 }
const BY_SPACE = { labels: ['space'], most: 15 }

export const PROCESS_METRICS = {
  torana_process_cpu_user_seconds_total: counter('Total user CPU time spent in seconds.'),
  torana_process_cpu_system_seconds_total: counter('Total system CPU time spent in seconds.'),
  torana_process_cpu_seconds_total: counter('Total user and system CPU time spent in seconds.'),
  torana_process_start_time_seconds: gauge('Start time of the process since unix epoch in seconds.'),
  torana_process_resident_memory_bytes: gauge('Resident memory size in bytes.'),
  torana_process_virtual_memory_bytes: gauge('Virtual memory size in bytes.'),
  torana_process_heap_bytes: gauge('Process heap size in bytes.'),
  torana_process_open_fds: gauge('Number of open file descriptors.'),
  torana_process_max_fds: gauge('Maximum number of open file descriptors.'),
  torana_nodejs_eventloop_lag_seconds: gauge('Lag of event loop in seconds.'),
  torana_nodejs_eventloop_lag_min_seconds: gauge('The minimum recorded event loop delay.'),
  torana_nodejs_eventloop_lag_max_seconds: gauge('The maximum recorded event loop delay.'),
  torana_nodejs_eventloop_lag_mean_seconds: gauge('The mean of the recorded event loop delays.'),
  torana_nodejs_eventloop_lag_stddev_seconds: gauge(
    'The standard deviation of the recorded event loop delays.',
  ),
  torana_nodejs_eventloop_lag_p50_seconds: gauge('The 50th percentile of the recorded event loop delays.'),
  torana_nodejs_eventloop_lag_p90_seconds: gauge('The 90th percentile of the recorded event loop delays.'),
  torana_nodejs_eventloop_lag_p99_seconds: gauge('The 99th percentile of the recorded event loop delays.'),
  torana_nodejs_active_resources: gauge(
    'Number of active resources that are currently keeping the event loop alive, grouped by async resource type.',
    BY_TYPE,
  ),
  torana_nodejs_active_handles: gauge(
    'Number of active libuv handles grouped by handle type. Every handle type is C++ class name.',
    BY_TYPE,
  ),
  torana_nodejs_active_requests: gauge(
    'Number of active libuv requests grouped by request type. Every request type is C++ class name.',
    BY_TYPE,
  ),
  torana_nodejs_heap_size_total_bytes: gauge('Process heap size from Node.js in bytes.'),
  torana_nodejs_heap_size_used_bytes: gauge('Process heap size used from Node.js in bytes.'),
  torana_nodejs_external_memory_bytes: gauge('Node.js external memory size in bytes.'),
  torana_nodejs_heap_space_size_total_bytes: gauge(
    'Process heap space size total from Node.js in bytes.',
    BY_SPACE,
  ),
  torana_nodejs_heap_space_size_used_bytes: gauge(
    'Process heap space size used from Node.js in bytes.',
    BY_SPACE,
  ),
  torana_nodejs_heap_space_size_available_bytes: gauge(
    'Process heap space size available from Node.js in bytes.',
    BY_SPACE,
  ),
  torana_nodejs_version_info: gauge('Node.js version info.', {
    labels: ['version', 'major', 'minor', 'patch'],
  }),
  torana_nodejs_gc_duration_seconds: histogram(
    'Garbage collection duration by kind, one of major, minor, incremental or weakcb.',
    [0.001, 0.01, 0.1, 1, 2, 5],
    { labels: ['kind'], most: 4 },
  ),
}

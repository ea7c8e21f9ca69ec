/** Metrics of this process. */
import { readdirSync, readFileSync } from 'node:fs'
import {
  constants,
  monitorEventLoopDelay,
  PerformanceObserver,
  type PerformanceNodeEntry,
} from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { histograms, samplesText, valueText } from './series.ts'

const LAG_RESOLUTION_MS = 10
const COLLECTION_KINDS = new Map<unknown, string>([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
])

export class ProcessMetrics {
  readonly #lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS })
  readonly #collections = histograms('torana_nodejs_gc_duration_seconds')

  constructor() {
    this.#lag.enable()
    new PerformanceObserver((list) => {
      for (const { detail, duration } of list.getEntries() as PerformanceNodeEntry[]) {
        const kind = COLLECTION_KINDS.get((detail as { readonly kind: number }).kind)
        if (kind !== undefined) this.#collections.get({ kind }).observe(duration / 1000)
      }
    }).observe({ entryTypes: ['gc'] })
  }

  async text(): Promise<string> {
    const lag = await this.#lagText()
    return processText() + lag + activityText() + heapText() + versionText() + this.#collections.text()
  }

  /** Each scrape covers the time since the scrape before it. */
  async #lagText(): Promise<string> {
    const startMs = performance.now()
    await setImmediate()
    const nowNs = (performance.now() - startMs) * 1e6
    const { min, max, mean, stddev } = this.#lag
    const percentile = (share: number): number => this.#lag.percentile(share) / 1e9
    const text = [
      valueText('torana_nodejs_eventloop_lag_seconds', nowNs / 1e9),
      valueText('torana_nodejs_eventloop_lag_min_seconds', min / 1e9),
      valueText('torana_nodejs_eventloop_lag_max_seconds', max / 1e9),
      valueText('torana_nodejs_eventloop_lag_mean_seconds', mean / 1e9),
      valueText('torana_nodejs_eventloop_lag_stddev_seconds', stddev / 1e9),
      valueText('torana_nodejs_eventloop_lag_p50_seconds', percentile(50)),
      valueText('torana_nodejs_eventloop_lag_p90_seconds', percentile(90)),
      valueText('torana_nodejs_eventloop_lag_p99_seconds', percentile(99)),
    ].join('')
    this.#lag.reset()
    return text
  }
}

function processText(): string {
  const { user, system } = process.cpuUsage()
  const [status, limits] = [linuxFile('status'), linuxFile('limits')]
  const bytesOf = (field: string) => numberIn(status, new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm'), 1024)
  const maxFiles = numberIn(limits, /^Max open files\s+(\d+)/m)
  // One of them is the folder itself, opened for reading.
  const openFiles = maxFiles === undefined ? undefined : readdirSync('/proc/self/fd').length - 1
  const startSeconds = Math.round(Date.now() / 1000 - process.uptime())
  return [
    valueText('torana_process_cpu_user_seconds_total', user / 1e6),
    valueText('torana_process_cpu_system_seconds_total', system / 1e6),
    valueText('torana_process_cpu_seconds_total', (user + system) / 1e6),
    valueText('torana_process_start_time_seconds', startSeconds),
    valueText('torana_process_resident_memory_bytes', process.memoryUsage.rss()),
    valueText('torana_process_virtual_memory_bytes', bytesOf('VmSize')),
    valueText('torana_process_heap_bytes', bytesOf('VmData')),
    valueText('torana_process_open_fds', openFiles),
    valueText('torana_process_max_fds', maxFiles),
  ].join('')
}

/** Empty on other systems, which have no such files. */
function linuxFile(name: string): string {
  return process.platform === 'linux' ? readFileSync(`/proc/self/${name}`, 'utf8') : ''
}

function numberIn(text: string, pattern: RegExp, times = 1): number | undefined {
  const digits = pattern.exec(text)?.[1]
  return digits === undefined ? undefined : Number(digits) * times
}

function activityText(): string {
  const active = (what: 'resources' | 'handles' | 'requests', types: readonly string[]): string =>
    samplesText(
      `torana_nodejs_active_${what}`,
      Array.from(Map.groupBy(types, String), ([type, same]) => ({ labels: { type }, value: same.length })),
    )
  return [
    active('resources', process.getActiveResourcesInfo()),
    active('handles', classesIn('_getActiveHandles')),
    active('requests', classesIn('_getActiveRequests')),
  ].join('')
}

/** Node does not document these functions, but has had them for longer than `getActiveResourcesInfo`. */
function classesIn(list: '_getActiveHandles' | '_getActiveRequests'): string[] {
  const objects = (process as unknown as Record<typeof list, (() => readonly object[]) | undefined>)[list]?.()
  return (objects ?? []).map((one) => one.constructor.name)
}

function heapText(): string {
  const { heapTotal, heapUsed, external } = process.memoryUsage()
  const spaces = getHeapSpaceStatistics()
  const bySpace = (
    kind: 'total' | 'used' | 'available',
    field: `space_${'' | 'used_' | 'available_'}size`,
  ): string =>
    samplesText(
      `torana_nodejs_heap_space_size_${kind}_bytes`,
      spaces.map((space) => ({
        labels: { space: space.space_name.replace('_space', '') },
        value: space[field],
      })),
    )
  return [
    valueText('torana_nodejs_heap_size_total_bytes', heapTotal),
    valueText('torana_nodejs_heap_size_used_bytes', heapUsed),
    valueText('torana_nodejs_external_memory_bytes', external),
    bySpace('total', 'space_size'),
    bySpace('used', 'space_used_size'),
    bySpace('available', 'space_available_size'),
  ].join('')
}

function versionText(): string {
  const [major = '', minor = '', patch = ''] = process.versions.node.split('.')
  const labels = { version: process.version, major, minor, patch }
  return samplesText('torana_nodejs_version_info', [{ labels, value: 1 }])
}

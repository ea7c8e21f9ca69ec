/** Figures of this process, under the names and with the help texts of prom-client: dashboards know them. */
import { readdirSync, readFileSync } from 'node:fs'
import {
  constants,
  monitorEventLoopDelay,
  PerformanceObserver,
  type PerformanceNodeEntry,
} from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { counterText, gaugeText, histograms, samplesText, type Sample } from './series.ts'

const LAG_RESOLUTION_MS = 10
const COLLECTION_SECONDS = [0.001, 0.01, 0.1, 1, 2, 5]
const COLLECTION_KINDS = new Map<unknown, string>([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
])

export class ProcessMetrics {
  readonly #lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS })
  readonly #collections = histograms(
    'torana_nodejs_gc_duration_seconds',
    'Garbage collection duration by kind, one of major, minor, incremental or weakcb.',
    COLLECTION_SECONDS,
  )

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

  /** Each scrape tells of the time since the scrape before it. */
  async #lagText(): Promise<string> {
    const startMs = performance.now()
    await setImmediate()
    const nowNs = (performance.now() - startMs) * 1e6
    const { min, max, mean, stddev } = this.#lag
    const gauge = (name: string, help: string, valueNs: number): string =>
      gaugeText(`torana_nodejs_eventloop_lag${name}_seconds`, help, valueNs / 1e9)
    const text = [
      gauge('', 'Lag of event loop in seconds.', nowNs),
      gauge('_min', 'The minimum recorded event loop delay.', min),
      gauge('_max', 'The maximum recorded event loop delay.', max),
      gauge('_mean', 'The mean of the recorded event loop delays.', mean),
      gauge('_stddev', 'The standard deviation of the recorded event loop delays.', stddev),
      ...[50, 90, 99].map((share) => {
        const help = `The ${share}th percentile of the recorded event loop delays.`
        return gauge(`_p${share}`, help, this.#lag.percentile(share))
      }),
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
  // One of them is the folder itself, open to be read.
  const openFiles = maxFiles === undefined ? undefined : readdirSync('/proc/self/fd').length - 1
  const startSeconds = Math.round(Date.now() / 1000 - process.uptime())
  const counter = (name: string, help: string, microseconds: number): string =>
    counterText(`torana_process_cpu_${name}`, help, microseconds / 1e6)
  const gauge = (name: string, help: string, value: number | undefined): string =>
    gaugeText(`torana_process_${name}`, help, value)
  return [
    counter('user_seconds_total', 'Total user CPU time spent in seconds.', user),
    counter('system_seconds_total', 'Total system CPU time spent in seconds.', system),
    counter('seconds_total', 'Total user and system CPU time spent in seconds.', user + system),
    gauge('start_time_seconds', 'Start time of the process since unix epoch in seconds.', startSeconds),
    gauge('resident_memory_bytes', 'Resident memory size in bytes.', process.memoryUsage.rss()),
    gauge('virtual_memory_bytes', 'Virtual memory size in bytes.', bytesOf('VmSize')),
    gauge('heap_bytes', 'Process heap size in bytes.', bytesOf('VmData')),
    gauge('open_fds', 'Number of open file descriptors.', openFiles),
    gauge('max_fds', 'Maximum number of open file descriptors.', maxFiles),
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
  const active = (what: string, grouped: string, types: readonly string[]): string => {
    const samples = Array.from(Map.groupBy(types, String), ([type, same]) => ({
      labels: { type },
      value: same.length,
    }))
    return (
      gauges(`active_${what}`, `Number of active ${grouped}`, samples) +
      gauges(`active_${what}_total`, `Total number of active ${what}.`, [{ value: types.length }])
    )
  }
  const libuv = (word: string): string =>
    `libuv ${word}s grouped by ${word} type. Every ${word} type is C++ class name.`
  const resources =
    'resources that are currently keeping the event loop alive, grouped by async resource type.'
  return [
    active('resources', resources, process.getActiveResourcesInfo()),
    active('handles', libuv('handle'), classesIn('_getActiveHandles')),
    active('requests', libuv('request'), classesIn('_getActiveRequests')),
  ].join('')
}

/** Node does not document these functions, and has had them for longer than `getActiveResourcesInfo`. */
function classesIn(list: '_getActiveHandles' | '_getActiveRequests'): string[] {
  const objects = (process as unknown as Record<typeof list, (() => readonly object[]) | undefined>)[list]?.()
  return (objects ?? []).map((one) => one.constructor.name)
}

function heapText(): string {
  const { heapTotal, heapUsed, external } = process.memoryUsage()
  const spaces = getHeapSpaceStatistics()
  const bySpace = (kind: string, field: `space_${'' | 'used_' | 'available_'}size`): string => {
    const samples = spaces.map((space) => ({
      labels: { space: space.space_name.replace('_space', '') },
      value: space[field],
    }))
    return gauges(
      `heap_space_size_${kind}_bytes`,
      `Process heap space size ${kind} from Node.js in bytes.`,
      samples,
    )
  }
  return [
    gauges('heap_size_total_bytes', 'Process heap size from Node.js in bytes.', [{ value: heapTotal }]),
    gauges('heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', [{ value: heapUsed }]),
    gauges('external_memory_bytes', 'Node.js external memory size in bytes.', [{ value: external }]),
    bySpace('total', 'space_size'),
    bySpace('used', 'space_used_size'),
    bySpace('available', 'space_available_size'),
  ].join('')
}

function versionText(): string {
  const [major = '', minor = '', patch = ''] = process.versions.node.split('.')
  const labels = { version: process.version, major, minor, patch }
  return gauges('version_info', 'Node.js version info.', [{ labels, value: 1 }])
}

function gauges(name: string, help: string, samples: readonly Sample[]): string {
  return samplesText(`torana_nodejs_${name}`, help, 'gauge', samples)
}

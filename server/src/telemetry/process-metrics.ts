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
import { counterText, gaugeText, histograms, samplesText } from './series.ts'

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
    const texts = [...cpuTexts(), ...memoryTexts(), ...fileTexts(), ...(await this.#lagTexts())]
    return [...texts, ...activityTexts(), ...heapTexts(), versionText(), this.#collections.text()].join('')
  }

  /** Each scrape tells of the time since the scrape before it. */
  async #lagTexts(): Promise<string[]> {
    const startMs = performance.now()
    await setImmediate()
    const nowNs = (performance.now() - startMs) * 1e6
    const { min, max, mean, stddev } = this.#lag
    const shares = [50, 90, 99].map((share) => [share, this.#lag.percentile(share)] as const)
    this.#lag.reset()
    const gauge = (name: string, help: string, valueNs: number): string =>
      gaugeText(`torana_nodejs_eventloop_lag${name}_seconds`, help, valueNs / 1e9)
    return [
      gauge('', 'Lag of event loop in seconds.', nowNs),
      gauge('_min', 'The minimum recorded event loop delay.', min),
      gauge('_max', 'The maximum recorded event loop delay.', max),
      gauge('_mean', 'The mean of the recorded event loop delays.', mean),
      gauge('_stddev', 'The standard deviation of the recorded event loop delays.', stddev),
      ...shares.map(([share, valueNs]) =>
        gauge(`_p${share}`, `The ${share}th percentile of the recorded event loop delays.`, valueNs),
      ),
    ]
  }
}

function cpuTexts(): string[] {
  const { user, system } = process.cpuUsage()
  const counter = (name: string, help: string, microseconds: number): string =>
    counterText(`torana_process_cpu_${name}`, help, microseconds / 1e6)
  const startSeconds = Math.round(Date.now() / 1000 - process.uptime())
  const startHelp = 'Start time of the process since unix epoch in seconds.'
  return [
    counter('user_seconds_total', 'Total user CPU time spent in seconds.', user),
    counter('system_seconds_total', 'Total system CPU time spent in seconds.', system),
    counter('seconds_total', 'Total user and system CPU time spent in seconds.', user + system),
    gaugeText('torana_process_start_time_seconds', startHelp, startSeconds),
  ]
}

function memoryTexts(): string[] {
  const status = linuxFile('status')
  const bytesOf = (field: string): number | undefined => {
    const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  }
  const residentBytes = process.memoryUsage.rss()
  return [
    gaugeText('torana_process_resident_memory_bytes', 'Resident memory size in bytes.', residentBytes),
    gaugeText('torana_process_virtual_memory_bytes', 'Virtual memory size in bytes.', bytesOf('VmSize')),
    gaugeText('torana_process_heap_bytes', 'Process heap size in bytes.', bytesOf('VmData')),
  ]
}

function fileTexts(): string[] {
  const limit = /^Max open files\s+(\d+)/m.exec(linuxFile('limits'))?.[1]
  if (limit === undefined) return []
  // One of them is the folder itself, open to be read.
  const open = readdirSync('/proc/self/fd').length - 1
  return [
    gaugeText('torana_process_open_fds', 'Number of open file descriptors.', open),
    gaugeText('torana_process_max_fds', 'Maximum number of open file descriptors.', Number(limit)),
  ]
}

/** Empty on other systems, which have no such files. */
function linuxFile(name: string): string {
  return process.platform === 'linux' ? readFileSync(`/proc/self/${name}`, 'utf8') : ''
}

function activityTexts(): string[] {
  // Node does not document these two, and has had them for longer than the first.
  const { _getActiveHandles: handles, _getActiveRequests: requests } = process as unknown as Record<
    string,
    (() => readonly object[]) | undefined
  >
  const classesOf = (objects: readonly object[] = []) => objects.map((one) => one.constructor.name)
  return [
    ...activeTexts(
      'resources',
      'Number of active resources that are currently keeping the event loop alive, grouped by async resource type.',
      process.getActiveResourcesInfo(),
    ),
    ...activeTexts(
      'handles',
      'Number of active libuv handles grouped by handle type. Every handle type is C++ class name.',
      classesOf(handles?.()),
    ),
    ...activeTexts(
      'requests',
      'Number of active libuv requests grouped by request type. Every request type is C++ class name.',
      classesOf(requests?.()),
    ),
  ]
}

function activeTexts(what: string, help: string, types: readonly string[]): string[] {
  const samples = Array.from(Map.groupBy(types, String), ([type, same]) => ({
    labels: { type },
    value: same.length,
  }))
  return [
    samplesText(`torana_nodejs_active_${what}`, help, 'gauge', samples),
    gaugeText(`torana_nodejs_active_${what}_total`, `Total number of active ${what}.`, types.length),
  ]
}

function heapTexts(): string[] {
  const { heapTotal, heapUsed, external } = process.memoryUsage()
  const spaces = getHeapSpaceStatistics()
  const bySpace = (
    kind: string,
    field: 'space_size' | 'space_used_size' | 'space_available_size',
  ): string => {
    const samples = spaces.map((space) => ({
      labels: { space: space.space_name.replace('_space', '') },
      value: space[field],
    }))
    const help = `Process heap space size ${kind} from Node.js in bytes.`
    return samplesText(`torana_nodejs_heap_space_size_${kind}_bytes`, help, 'gauge', samples)
  }
  return [
    gaugeText('torana_nodejs_heap_size_total_bytes', 'Process heap size from Node.js in bytes.', heapTotal),
    gaugeText(
      'torana_nodejs_heap_size_used_bytes',
      'Process heap size used from Node.js in bytes.',
      heapUsed,
    ),
    gaugeText('torana_nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', external),
    bySpace('total', 'space_size'),
    bySpace('used', 'space_used_size'),
    bySpace('available', 'space_available_size'),
  ]
}

function versionText(): string {
  const [major = '', minor = '', patch = ''] = process.versions.node.split('.')
  const labels = { version: process.version, major, minor, patch }
  return samplesText('torana_nodejs_version_info', 'Node.js version info.', 'gauge', [{ labels, value: 1 }])
}

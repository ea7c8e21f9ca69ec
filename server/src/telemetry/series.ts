/** Prometheus series as plain numbers: adding to one is an addition, and the text is built at a scrape. */
import type { Metric } from './metric.ts'
import { METRICS, type MetricName } from './metric-list.ts'

export type Labels = Readonly<Record<string, string>>

/** Replaces a name once a metric has its maximum of series. */
const OTHER = 'other'
/** Labels whose values come from configuration, database and upstreams. All others come from our own code, and are few. */
const FOLDED: ReadonlySet<string> = new Set(['model', 'deployment', 'project', 'asked', 'answered'])

export class Counter {
  readonly labels: Labels
  value = 0

  constructor(labels: Labels = {}) {
    this.labels = labels
  }
}

export class Histogram {
  readonly labels: Labels
  readonly #bounds: readonly number[]
  /** Counts of each bucket alone; the text form adds them up. */
  readonly #buckets: number[]
  #sum = 0
  #count = 0

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels
    this.#bounds = bounds
    this.#buckets = bounds.map(() => 0)
  }

  observe(value: number): void {
    this.#sum += value
    this.#count += 1
    const bounds = this.#bounds
    for (let bucket = 0; bucket < bounds.length; bucket += 1) {
      if (value > (bounds[bucket] as number)) continue
      this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1
      return
    }
  }

  lines(name: string): string[] {
    let below = 0
    const lines = this.#bounds.map((bound, index) => {
      below += this.#buckets[index] as number
      return `${name}_bucket${labelText({ ...this.labels, le: String(bound) })} ${below}`
    })
    lines.push(`${name}_bucket${labelText({ ...this.labels, le: '+Inf' })} ${this.#count}`)
    lines.push(`${name}_sum${labelText(this.labels)} ${this.#sum}`)
    lines.push(`${name}_count${labelText(this.labels)} ${this.#count}`)
    return lines
  }
}

/** All series of one metric. Beyond its maximum, new names are added to `other`. */
class Family<Series extends Counter | Histogram> {
  readonly name: MetricName
  readonly #most: number
  readonly #make: (labels: Labels) => Series
  readonly #series = new Map<string, Series>()
  isFull = false

  constructor(name: MetricName, make: (labels: Labels) => Series) {
    this.name = name
    this.#most = METRICS[name].most
    this.#make = make
  }

  get(labels: Labels = {}): Series {
    const id = idOf(labels)
    const series = this.#series.get(id)
    if (series !== undefined) return series
    if (this.#series.size < this.#most) return this.#add(id, labels)
    this.isFull = true
    const folded = foldedOf(labels)
    const foldedId = idOf(folded)
    return this.#series.get(foldedId) ?? this.#add(foldedId, folded)
  }

  #add(id: string, labels: Labels): Series {
    const series = this.#make(labels)
    this.#series.set(id, series)
    return series
  }

  text(): string {
    const lines = [...this.#series.values()].flatMap((one) =>
      one instanceof Histogram ? one.lines(this.name) : `${this.name}${labelText(one.labels)} ${one.value}`,
    )
    return metricText(this.name, lines)
  }
}

function idOf(labels: Labels): string {
  return Object.values(labels).join('\0')
}

function foldedOf(labels: Labels): Labels {
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [name, FOLDED.has(name) ? OTHER : value]),
  )
}

export function counters(name: MetricName): Family<Counter> {
  return new Family(name, (labels) => new Counter(labels))
}

export function histograms(name: MetricName): Family<Histogram> {
  const { bounds }: Metric = METRICS[name]
  return new Family(name, (labels) => new Histogram(labels, bounds))
}

/** A value that is read at a scrape. */
export interface Sample {
  readonly labels?: Labels
  readonly value: number
}

/** Samples beyond the metric's maximum become one: their sum, as `other`. */
export function samplesText(name: MetricName, samples: readonly Sample[]): string {
  const { most }: Metric = METRICS[name]
  const shown = samples.length > most ? samples.slice(0, most - 1) : samples
  const rest = samples.slice(shown.length)
  const [first] = rest
  const lines = shown.map(({ labels = {}, value }) => `${name}${labelText(labels)} ${value}`)
  if (first !== undefined) {
    const labels = Object.fromEntries(Object.keys(first.labels ?? {}).map((label) => [label, OTHER]))
    lines.push(`${name}${labelText(labels)} ${rest.reduce((sum, { value }) => sum + value, 0)}`)
  }
  return metricText(name, lines)
}

/** Undefined when the value is unknown; nothing is written then. */
export function valueText(name: MetricName, value: number | undefined): string {
  return value === undefined ? '' : samplesText(name, [{ value }])
}

function metricText(name: MetricName, lines: readonly string[]): string {
  const { help, type } = METRICS[name]
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)
}

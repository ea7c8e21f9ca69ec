/**
 * Figures in plain numbers, one object per combination of labels, added to on the hot lane and given Prometheus' text form
 * only when somebody scrapes.
 */
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { CallRecord, RequestRecord } from '#ports/observer.ts'

/** From a quick upstream to the longest wait we allow. */
const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

type Labels = Readonly<Record<string, string>>

class Counter {
  readonly labels: Labels
  value = 0

  constructor(labels: Labels) {
    this.labels = labels
  }
}

class Histogram {
  readonly labels: Labels
  /** How many fell into each bucket alone; the text form adds them up. */
  readonly buckets = BUCKETS_SECONDS.map(() => 0)
  sum = 0
  count = 0

  constructor(labels: Labels) {
    this.labels = labels
  }

  observe(seconds: number): void {
    this.sum += seconds
    this.count += 1
    const bucket = BUCKETS_SECONDS.findIndex((bound) => seconds <= bound)
    if (bucket !== -1) this.buckets[bucket] = (this.buckets[bucket] as number) + 1
  }
}

/** All series of one metric. Label values come from the catalog and from our own code, so their number is bounded. */
class Family<Series extends Counter | Histogram> {
  readonly name: string
  readonly help: string
  readonly #make: (labels: Labels) => Series
  readonly #series = new Map<string, Series>()

  constructor(name: string, help: string, make: (labels: Labels) => Series) {
    this.name = name
    this.help = help
    this.#make = make
  }

  get(labels: Labels): Series {
    const id = Object.values(labels).join('\0')
    let series = this.#series.get(id)
    if (series === undefined) {
      series = this.#make(labels)
      this.#series.set(id, series)
    }
    return series
  }

  text(): string {
    const series = [...this.#series.values()]
    const type = series[0] instanceof Histogram ? 'histogram' : 'counter'
    const lines = series.flatMap((one) =>
      one instanceof Histogram ? histogramLines(this.name, one) : [counterLine(this.name, one)],
    )
    return [`# HELP ${this.name} ${this.help}`, `# TYPE ${this.name} ${type}`, ...lines, ''].join('\n')
  }
}

const counter = (labels: Labels): Counter => new Counter(labels)
const histogram = (labels: Labels): Histogram => new Histogram(labels)

interface RequestSeries {
  readonly requests: Counter
  readonly seconds: Histogram
  readonly tokens: Counter
  readonly inputs: Counter
}

interface CallSeries {
  readonly calls: Counter
  readonly seconds: Histogram
}

export class Metrics {
  readonly #process = new Registry()
  readonly #version: string
  readonly #requests = new Family('torana_requests_total', 'Requests answered.', counter)
  readonly #requestSeconds = new Family(
    'torana_request_duration_seconds',
    'From the first byte of a request to the last of its answer.',
    histogram,
  )
  readonly #tokens = new Family('torana_tokens_total', 'Input tokens told to callers.', counter)
  readonly #inputs = new Family('torana_inputs_total', 'Inputs embedded.', counter)
  readonly #calls = new Family(
    'torana_upstream_calls_total',
    'Calls to upstreams by how they ended.',
    counter,
  )
  readonly #callSeconds = new Family(
    'torana_upstream_call_duration_seconds',
    'Time of one call to an upstream.',
    histogram,
  )
  /** Looked up once per request instead of once per metric. */
  readonly #requestSeries = new Map<string, RequestSeries>()
  readonly #callSeries = new Map<string, CallSeries>()
  /** Requests come in runs of the same kind: the series of the last one is often the next one's. */
  #lastRequest:
    | {
        readonly route: string
        readonly model: string
        readonly status: number
        readonly fault: string
        readonly series: RequestSeries
      }
    | undefined

  constructor(version: string) {
    this.#version = version
    collectDefaultMetrics({ register: this.#process, prefix: 'torana_' })
  }

  requestEnded(record: RequestRecord): void {
    const series = this.#requestSeriesOf(record)
    series.requests.value += 1
    series.seconds.observe(record.durationMs / 1000)
    if (record.status !== 200) return
    series.tokens.value += record.promptTokens ?? 0
    series.inputs.value += record.inputs ?? 0
  }

  #requestSeriesOf({ route, model = '', status, fault = '' }: RequestRecord): RequestSeries {
    const last = this.#lastRequest
    if (last?.model === model && last.status === status && last.fault === fault && last.route === route)
      return last.series
    const name = `${route}\0${model}\0${status}\0${fault}`
    let series = this.#requestSeries.get(name)
    if (series === undefined) {
      series = {
        requests: this.#requests.get({ route, model, status: String(status), fault }),
        seconds: this.#requestSeconds.get({ route, model }),
        tokens: this.#tokens.get({ model }),
        inputs: this.#inputs.get({ model }),
      }
      this.#requestSeries.set(name, series)
    }
    this.#lastRequest = { route, model, status, fault, series }
    return series
  }

  callEnded({ model, deployment, outcome, durationMs }: CallRecord): void {
    const name = `${deployment}\0${outcome}`
    let series = this.#callSeries.get(name)
    if (series === undefined) {
      series = {
        calls: this.#calls.get({ model, deployment, outcome }),
        seconds: this.#callSeconds.get({ model, deployment }),
      }
      this.#callSeries.set(name, series)
    }
    series.calls.value += 1
    series.seconds.observe(durationMs / 1000)
  }

  /** Prometheus' text form, version 0.0.4. */
  async text(): Promise<{ readonly contentType: string; readonly text: string }> {
    const families = [
      this.#requests,
      this.#requestSeconds,
      this.#tokens,
      this.#inputs,
      this.#calls,
      this.#callSeconds,
    ]
    const build = `# HELP torana_build_info Always 1.\n# TYPE torana_build_info gauge\ntorana_build_info${labelText({ version: this.#version })} 1\n`
    const text = build + families.map((family) => family.text()).join('') + (await this.#process.metrics())
    return { contentType: this.#process.contentType, text }
  }
}

function counterLine(name: string, { labels, value }: Counter): string {
  return `${name}${labelText(labels)} ${value}`
}

function histogramLines(name: string, { labels, buckets, sum, count }: Histogram): string[] {
  let below = 0
  const lines = BUCKETS_SECONDS.map((bound, index) => {
    below += buckets[index] as number
    return `${name}_bucket${labelText({ ...labels, le: String(bound) })} ${below}`
  })
  lines.push(`${name}_bucket${labelText({ ...labels, le: '+Inf' })} ${count}`)
  lines.push(`${name}_sum${labelText(labels)} ${sum}`, `${name}_count${labelText(labels)} ${count}`)
  return lines
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)
}

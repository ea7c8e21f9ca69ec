/**
 * Figures in plain numbers, one object per combination of labels, added to on the hot lane and given Prometheus' text form
 * only when somebody scrapes.
 */
import type { CallRecord, Overcount, RequestRecord, Undercount } from '#ports/observer.ts'
import { BooksMetrics } from './books-metrics.ts'
import { ProcessMetrics } from './process-metrics.ts'
import type { SecurityLog } from './security-log.ts'
import { TrafficMetrics } from './traffic-metrics.ts'
import { counters, gaugeText, histograms, samplesText, type Counter, type Histogram } from './series.ts'

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
/** From a quick upstream to the longest wait we allow: ten minutes, for pictures. */
const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]

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
  readonly books = new BooksMetrics()
  readonly traffic = new TrafficMetrics()
  readonly #process = new ProcessMetrics()
  readonly #version: string
  readonly #security: SecurityLog | undefined
  readonly #requests = counters('torana_requests_total', 'Requests answered.')
  readonly #requestSeconds = histograms(
    'torana_request_duration_seconds',
    'From the first byte of a request to the last byte of its answer.',
    BUCKETS_SECONDS,
  )
  readonly #tokens = counters('torana_tokens_total', 'Input tokens reported to callers.')
  readonly #inputs = counters('torana_inputs_total', 'Inputs embedded, and images asked for.')
  readonly #cached = counters('torana_cache_inputs_total', 'Inputs of models with a cache, by hit or miss.')
  readonly #calls = counters('torana_upstream_calls_total', 'Calls to upstreams by outcome.')
  readonly #callSeconds = histograms(
    'torana_upstream_call_duration_seconds',
    'Duration of one call to an upstream.',
    BUCKETS_SECONDS,
  )
  readonly #overcounts = counters(
    'torana_upstream_overcounts_total',
    'Calls whose upstream counted more tokens than they can have used; the counts were cut.',
  )
  readonly #undercounts = counters(
    'torana_upstream_undercounts_total',
    'Priced calls whose upstream counted fewer tokens than inputs; the tokens were estimated.',
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

  #config: { readonly loadedAtMs: number; readonly isRefused: boolean } | undefined

  constructor(version: string, security?: SecurityLog) {
    this.#version = version
    this.#security = security
  }

  configLoaded(nowMs: number): void {
    this.#config = { loadedAtMs: nowMs, isRefused: false }
  }

  /** The last good configuration stays in force. */
  configRefused(): void {
    if (this.#config !== undefined) this.#config = { ...this.#config, isRefused: true }
  }

  requestEnded(record: RequestRecord): void {
    const series = this.#requestSeriesOf(record)
    series.requests.value += 1
    series.seconds.observe(record.durationMs / 1000)
    if (record.status !== 200) return
    series.tokens.value += record.promptTokens ?? 0
    series.inputs.value += record.inputs ?? 0
    if (record.cache === undefined) return
    const { model = '' } = record
    this.#cached.get({ model, outcome: 'hit' }).value += record.cache.hits
    this.#cached.get({ model, outcome: 'miss' }).value += record.cache.misses
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

  overcounted({ model, deployment }: Overcount): void {
    this.#overcounts.get({ model, deployment }).value += 1
  }

  undercounted({ model, deployment }: Undercount): void {
    this.#undercounts.get({ model, deployment }).value += 1
  }

  /** Prometheus' text form. */
  async text(): Promise<{ readonly contentType: string; readonly text: string }> {
    const families = [
      this.#requests,
      this.#requestSeconds,
      this.#tokens,
      this.#inputs,
      this.#cached,
      this.#calls,
      this.#callSeconds,
      this.#overcounts,
      this.#undercounts,
    ]
    const build = { labels: { version: this.#version }, value: 1 }
    const text = [
      samplesText('torana_build_info', 'Always 1.', 'gauge', [build]),
      ...families.map((family) => family.text()),
      this.#config === undefined ? '' : configText(this.#config),
      this.books.text(),
      this.traffic.text(),
      this.#security?.text() ?? '',
      await this.#process.text(),
    ].join('')
    return { contentType: CONTENT_TYPE, text }
  }
}

function configText({
  loadedAtMs,
  isRefused,
}: {
  readonly loadedAtMs: number
  readonly isRefused: boolean
}): string {
  return [
    gaugeText(
      'torana_config_last_reload_successful',
      '0 while the configuration file is wrong and an earlier one is in use.',
      Number(!isRefused),
    ),
    gaugeText(
      'torana_config_last_reload_success_timestamp_seconds',
      'When the configuration in use was read.',
      Math.floor(loadedAtMs / 1000),
    ),
  ].join('')
}

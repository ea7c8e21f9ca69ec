/**
 * Metrics as plain numbers, one object per combination of labels, added to on the hot lane and formatted for
 * Prometheus only at a scrape.
 */
import { ownTime } from '#core/request/request-trace.ts'
import { isCut, type CallRecord, type Overcount } from '#ports/observer.ts'
import type { Substitution } from '#core/catalog/substitution.ts'
import type { RequestRecord, Undercount } from '#ports/observer.ts'
import { LedgerMetrics } from './ledger-metrics.ts'
import { NodeMetrics, type Build } from './node-metrics.ts'
import { ProcessMetrics } from './process-metrics.ts'
import type { SecurityLog } from './security-log.ts'
import { TrafficMetrics } from './traffic-metrics.ts'
import { counters, histograms, samplesText, type Counter, type Histogram } from './series.ts'

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
/** Cached series of projects. Projects times models is unbounded, and most of them are `other` then. */
const REMEMBERED_PROJECTS = 1000

export interface MetricsText {
  readonly contentType: string
  readonly text: string
}

interface RequestSeries {
  readonly requests: Counter
  readonly seconds: Histogram
  readonly own: Histogram
  readonly wait: Histogram
  readonly tokens: Counter
  readonly inputs: Counter
}

interface ProjectSeries {
  readonly spend: Counter
  readonly images: Counter
}

interface CallSeries {
  readonly calls: Counter
  readonly seconds: Histogram
}

export class Metrics {
  readonly ledger = new LedgerMetrics()
  readonly traffic = new TrafficMetrics()
  readonly node: NodeMetrics
  readonly #process = new ProcessMetrics()
  readonly #security: SecurityLog | undefined
  readonly #requests = counters('torana_requests_total')
  readonly #requestSeconds = histograms('torana_request_duration_seconds')
  readonly #ownSeconds = histograms('torana_request_own_duration_seconds')
  readonly #waitSeconds = histograms('torana_request_wait_duration_seconds')
  readonly #tokens = counters('torana_tokens_total')
  readonly #inputs = counters('torana_inputs_total')
  readonly #images = counters('torana_images_total')
  readonly #spend = counters('torana_spend_usd_total')
  readonly #cached = counters('torana_cache_inputs_total')
  readonly #calls = counters('torana_upstream_calls_total')
  readonly #callSeconds = histograms('torana_upstream_call_duration_seconds')
  readonly #overcounts = counters('torana_upstream_overcounts_total')
  readonly #undercounts = counters('torana_upstream_undercounts_total')
  readonly #substitutions = counters('torana_substituted_answers_total')
  /** Looked up once per request instead of once per metric. */
  readonly #requestSeries = new Map<string, RequestSeries>()
  readonly #projectSeries = new Map<string, ProjectSeries>()
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
  #lastCall:
    | { readonly deployment: string; readonly outcome: string; readonly series: CallSeries }
    | undefined
  #lastProject:
    | { readonly project: string; readonly model: string; readonly series: ProjectSeries }
    | undefined

  constructor(build: Build, security?: SecurityLog) {
    this.node = new NodeMetrics(build)
    this.#security = security
  }

  requestEnded(record: RequestRecord): void {
    const { trace, durationMs } = record
    const series = this.#requestSeriesOf(record)
    series.requests.value += 1
    series.seconds.observe(durationMs / 1000)
    if (trace !== undefined) {
      const { ownMs, waitedMs } = ownTime(trace, durationMs)
      series.own.observe(ownMs / 1000)
      series.wait.observe(waitedMs / 1000)
    }
    this.#addMoney(record)
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
        own: this.#ownSeconds.get({ route }),
        wait: this.#waitSeconds.get({ route }),
        tokens: this.#tokens.get({ model }),
        inputs: this.#inputs.get({ model }),
      }
      this.#requestSeries.set(name, series)
    }
    this.#lastRequest = { route, model, status, fault, series }
    return series
  }

  #addMoney({ project = '', model = '', amountNanoUsd, trace }: RequestRecord): void {
    // A retry that joined a job made no call: its images and their price are those of the first request.
    if (trace !== undefined && trace.calls.length === 0) return
    const images = trace?.images
    if (amountNanoUsd === undefined && images === undefined) return
    const series = this.#projectSeriesOf(project, model)
    if (amountNanoUsd !== undefined) series.spend.value += Number(amountNanoUsd) / 1e9
    if (images !== undefined) series.images.value += images
  }

  #projectSeriesOf(project: string, model: string): ProjectSeries {
    const last = this.#lastProject
    if (last?.project === project && last.model === model) return last.series
    const name = `${project}\0${model}`
    let series = this.#projectSeries.get(name)
    if (series === undefined) {
      series = { spend: this.#spend.get({ project, model }), images: this.#images.get({ project, model }) }
      if (this.#projectSeries.size < REMEMBERED_PROJECTS) this.#projectSeries.set(name, series)
    }
    this.#lastProject = { project, model, series }
    return series
  }

  callEnded(record: CallRecord): void {
    const series = this.#callSeriesOf(record)
    series.calls.value += 1
    series.seconds.observe(record.durationMs / 1000)
  }

  #callSeriesOf({ model, deployment, outcome }: CallRecord): CallSeries {
    const last = this.#lastCall
    if (last?.deployment === deployment && last.outcome === outcome) return last.series
    const name = `${deployment}\0${outcome}`
    let series = this.#callSeries.get(name)
    if (series === undefined) {
      series = {
        calls: this.#calls.get({ model, deployment, outcome }),
        seconds: this.#callSeconds.get({ model, deployment }),
      }
      this.#callSeries.set(name, series)
    }
    this.#lastCall = { deployment, outcome, series }
    return series
  }

  overcounted(record: Overcount): void {
    const { model, deployment } = record
    this.#overcounts.get({ model, deployment, charged: isCut(record) ? 'part' : 'all' }).value += 1
  }

  undercounted({ model, deployment }: Undercount): void {
    this.#undercounts.get({ model, deployment }).value += 1
  }

  readonly substituted = ({ deployment, asked, answered }: Substitution): void => {
    this.#substitutions.get({ deployment, asked, answered }).value += 1
  }

  /** Prometheus' text form. */
  async text(): Promise<MetricsText> {
    const families = [
      this.#requests,
      this.#requestSeconds,
      this.#ownSeconds,
      this.#waitSeconds,
      this.#tokens,
      this.#inputs,
      this.#images,
      this.#spend,
      this.#cached,
      this.#calls,
      this.#callSeconds,
      this.#overcounts,
      this.#undercounts,
      this.#substitutions,
    ]
    const full = families
      .filter(({ isFull }) => isFull)
      .map(({ name }) => ({ labels: { metric: name }, value: 1 }))
    const text = [
      ...families.map((family) => family.text()),
      this.traffic.text(),
      this.ledger.text(),
      await this.node.text(),
      samplesText('torana_metric_full', full),
      this.#security?.text() ?? '',
      await this.#process.text(),
    ].join('')
    return { contentType: CONTENT_TYPE, text }
  }
}

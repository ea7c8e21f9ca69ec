/**
 * Counters in plain objects, one per combination of labels, added to on the hot lane and given their Prometheus form only
 * when somebody scrapes.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { CallRecord, RequestRecord } from '#ports/observer.ts'

/** From a cache hit to the longest wait we allow. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export class Metrics {
  readonly registry = new Registry()
  readonly #requests = new Counter({
    name: 'torana_requests_total',
    help: 'Requests answered.',
    labelNames: ['route', 'model', 'status', 'fault'],
    registers: [this.registry],
  })
  readonly #requestSeconds = new Histogram({
    name: 'torana_request_duration_seconds',
    help: 'From the first byte of a request to the last of its answer.',
    labelNames: ['route', 'model'],
    buckets: SECONDS,
    registers: [this.registry],
  })
  readonly #tokens = new Counter({
    name: 'torana_tokens_total',
    help: 'Input tokens told to callers.',
    labelNames: ['model'],
    registers: [this.registry],
  })
  readonly #inputs = new Counter({
    name: 'torana_inputs_total',
    help: 'Inputs embedded.',
    labelNames: ['model'],
    registers: [this.registry],
  })
  readonly #calls = new Counter({
    name: 'torana_upstream_calls_total',
    help: 'Calls to upstreams by how they ended.',
    labelNames: ['model', 'deployment', 'outcome'],
    registers: [this.registry],
  })
  readonly #callSeconds = new Histogram({
    name: 'torana_upstream_call_duration_seconds',
    help: 'Time of one call to an upstream.',
    labelNames: ['model', 'deployment'],
    buckets: SECONDS,
    registers: [this.registry],
  })
  readonly #requestSeries = new Map<string, RequestSeries>()
  readonly #callSeries = new Map<string, CallSeries>()

  constructor(version: string) {
    collectDefaultMetrics({ register: this.registry, prefix: 'torana_' })
    new Gauge({
      name: 'torana_build_info',
      help: 'Always 1.',
      labelNames: ['version'],
      registers: [this.registry],
    }).set({ version }, 1)
  }

  requestEnded(record: RequestRecord): void {
    const { route, model = '', status, fault = '' } = record
    const name = `${route} ${model} ${status} ${fault}`
    let series = this.#requestSeries.get(name)
    if (series === undefined) {
      series = {
        requests: this.#requests.labels(route, model, String(status), fault),
        seconds: this.#requestSeconds.labels(route, model),
        tokens: this.#tokens.labels(model),
        inputs: this.#inputs.labels(model),
      }
      this.#requestSeries.set(name, series)
    }
    series.requests.inc()
    series.seconds.observe(record.durationMs / 1000)
    if (record.promptTokens !== undefined) series.tokens.inc(record.promptTokens)
    if (record.inputs !== undefined && status === 200) series.inputs.inc(record.inputs)
  }

  callEnded({ model, deployment, outcome, durationMs }: CallRecord): void {
    const name = `${deployment} ${outcome}`
    let series = this.#callSeries.get(name)
    if (series === undefined) {
      series = {
        calls: this.#calls.labels(model, deployment, outcome),
        seconds: this.#callSeconds.labels(model, deployment),
      }
      this.#callSeries.set(name, series)
    }
    series.calls.inc()
    series.seconds.observe(durationMs / 1000)
  }
}

interface RequestSeries {
  readonly requests: Counter.Internal
  readonly seconds: Histogram.Internal<string>
  readonly tokens: Counter.Internal
  readonly inputs: Counter.Internal
}

interface CallSeries {
  readonly calls: Counter.Internal
  readonly seconds: Histogram.Internal<string>
}

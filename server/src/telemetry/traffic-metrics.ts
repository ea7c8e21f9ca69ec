/** The state of deployments, the requests in line for them, and what was refused: read at each scrape. */
import { DEPLOYMENT_STATES, type DeploymentReport } from '#core/schedule/scheduler.ts'
import { counterText, gaugeText, samplesText } from './series.ts'

export interface TrafficFigures {
  readonly deployments: readonly DeploymentReport[]
  /** Requests in line, by model. */
  readonly waiting: ReadonlyMap<string, number>
  readonly cache: { readonly entries: number; readonly bytes: number }
}

export class TrafficMetrics {
  #read: (() => TrafficFigures) | undefined
  #refused = 0
  #dropped = 0
  #stalled = 0
  #unwritten = 0

  read(figures: () => TrafficFigures): void {
    this.#read = figures
  }

  /** A request was refused before it was read. */
  refused(): void {
    this.#refused += 1
  }

  /** A connection was closed because there were too many. */
  readonly dropped = (): void => {
    this.#dropped += 1
  }

  /** A connection was closed because its client did not read the answer. */
  readonly stalled = (): void => {
    this.#stalled += 1
  }

  /** A refusal of a stranger was counted, and neither logged nor kept in the request log. */
  unwritten(): void {
    this.#unwritten += 1
  }

  text(): string {
    const figures = this.#read?.()
    if (figures === undefined) return ''
    const { deployments, waiting, cache } = figures
    const each = (valueOf: (report: DeploymentReport) => number) =>
      deployments.map((report) => ({ labels: { deployment: report.deployment }, value: valueOf(report) }))
    return [
      samplesText(
        'torana_deployment_calls_in_flight',
        'Calls in flight.',
        'gauge',
        each((one) => one.inFlight),
      ),
      samplesText(
        'torana_deployment_calls_limit',
        'Limit of calls in flight.',
        'gauge',
        each((one) => one.limit),
      ),
      samplesText(
        'torana_deployment_state',
        '1 for the present state of a deployment.',
        'gauge',
        deployments.flatMap(({ deployment, state }) =>
          DEPLOYMENT_STATES.map((name) => ({
            labels: { deployment, state: name },
            value: name === state ? 1 : 0,
          })),
        ),
      ),
      samplesText(
        'torana_requests_waiting',
        'Requests in the queue for a deployment.',
        'gauge',
        Array.from(waiting, ([model, value]) => ({ labels: { model }, value })),
      ),
      counterText(
        'torana_overload_refusals_total',
        'Requests refused by load shedding, before they were read.',
        this.#refused,
      ),
      counterText(
        'torana_connections_dropped_total',
        'Connections closed at once because there were as many as allowed.',
        this.#dropped,
      ),
      counterText(
        'torana_connections_stalled_total',
        'Connections closed because their client did not read the answer.',
        this.#stalled,
      ),
      counterText(
        'torana_refusals_unlogged_total',
        'Requests refused without a valid key that were counted only, because too many came in a second.',
        this.#unwritten,
      ),
      gaugeText('torana_cache_entries', 'Vectors in the cache of this process.', cache.entries),
      gaugeText('torana_cache_bytes', 'Bytes of the vectors in the cache of this process.', cache.bytes),
    ].join('')
  }
}

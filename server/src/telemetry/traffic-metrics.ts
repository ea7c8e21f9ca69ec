/** The state of deployments, their queues, and refused requests: read at each scrape. */
import { DEPLOYMENT_STATES, type DeploymentReport } from '#core/schedule/scheduler.ts'
import { samplesText, valueText } from './series.ts'

export interface TrafficFigures {
  readonly deployments: readonly DeploymentReport[]
  /** Queued requests, by model. */
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

  /** A stranger's refusal was counted, but neither logged nor kept in the request log. */
  unwritten(): void {
    this.#unwritten += 1
  }

  text(): string {
    const figures = this.#read?.()
    if (figures === undefined) return ''
    const { deployments, waiting, cache } = figures
    const each = (valueOf: (report: DeploymentReport) => number) =>
      deployments.map((report) => ({ labels: { deployment: report.deployment }, value: valueOf(report) }))
    const inState = (state: string): number => deployments.filter((one) => one.state === state).length
    return [
      samplesText(
        'torana_deployments',
        DEPLOYMENT_STATES.map((state) => ({ labels: { state }, value: inState(state) })),
      ),
      samplesText(
        'torana_deployment_state',
        deployments.map(({ deployment, state }) => ({ labels: { deployment, state }, value: 1 })),
      ),
      samplesText(
        'torana_deployment_calls_in_flight',
        each((one) => one.inFlight),
      ),
      samplesText(
        'torana_deployment_calls_limit',
        each((one) => one.limit),
      ),
      samplesText(
        'torana_requests_waiting',
        Array.from(waiting, ([model, value]) => ({ labels: { model }, value })),
      ),
      valueText('torana_overload_refusals_total', this.#refused),
      valueText('torana_connections_dropped_total', this.#dropped),
      valueText('torana_connections_stalled_total', this.#stalled),
      valueText('torana_refusals_unlogged_total', this.#unwritten),
      valueText('torana_cache_entries', cache.entries),
      valueText('torana_cache_bytes', cache.bytes),
    ].join('')
  }
}

/** The definition of a metric. */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Most series of this metric. */
  readonly most: number
  /** The upper bounds of a histogram's buckets. */
  readonly bounds: readonly number[]
}

interface Labelled {
  readonly labels?: readonly string[]
  readonly most?: number
}

export function counter(help: string, labelled: Labelled = {}): Metric {
  return { type: 'counter', help, labels: [], most: 1, bounds: [], ...labelled }
}

export function gauge(help: string, labelled: Labelled = {}): Metric {
  return { type: 'gauge', help, labels: [], most: 1, bounds: [], ...labelled }
}

export function histogram(help: string, bounds: readonly number[], labelled: Labelled = {}): Metric {
  return { type: 'histogram', help, labels: [], most: 1, bounds, ...labelled }
}

/** Most series of a metric in Prometheus: a histogram has one for each bucket, and three more. */
export function mostSeries({ type, most, bounds }: Metric): number {
  return type === 'histogram' ? most * (bounds.length + 3) : most
}

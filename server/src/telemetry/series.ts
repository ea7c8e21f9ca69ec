/** Prometheus series in plain numbers: adding to one is an addition, its text is made when somebody scrapes. */

export type Labels = Readonly<Record<string, string>>

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
  /** How many fell into each bucket alone; the text form adds them up. */
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
    const bucket = this.#bounds.findIndex((bound) => value <= bound)
    if (bucket !== -1) this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1
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

/** All series of one metric. Label values come from the catalog and from our own code, so their number is bounded. */
class Family<Series extends Counter | Histogram> {
  readonly #name: string
  readonly #help: string
  readonly #type: 'counter' | 'histogram'
  readonly #make: (labels: Labels) => Series
  readonly #series = new Map<string, Series>()

  constructor(name: string, help: string, type: 'counter' | 'histogram', make: (labels: Labels) => Series) {
    this.#name = name
    this.#help = help
    this.#type = type
    this.#make = make
  }

  get(labels: Labels = {}): Series {
    const id = Object.values(labels).join('\0')
    let series = this.#series.get(id)
    if (series === undefined) {
      series = this.#make(labels)
      this.#series.set(id, series)
    }
    return series
  }

  text(): string {
    const lines = [...this.#series.values()].flatMap((one) =>
      one instanceof Histogram ? one.lines(this.#name) : `${this.#name}${labelText(one.labels)} ${one.value}`,
    )
    return metricText(this.#name, this.#help, this.#type, lines)
  }
}

export function counters(name: string, help: string): Family<Counter> {
  return new Family(name, help, 'counter', (labels) => new Counter(labels))
}

export function histograms(name: string, help: string, bounds: readonly number[]): Family<Histogram> {
  return new Family(name, help, 'histogram', (labels) => new Histogram(labels, bounds))
}

/** A value that is read when it is asked for. */
export interface Sample {
  readonly labels?: Labels
  readonly value: number
}

export function samplesText(
  name: string,
  help: string,
  type: 'gauge' | 'counter',
  samples: readonly Sample[],
): string {
  const lines = samples.map(({ labels = {}, value }) => `${name}${labelText(labels)} ${value}`)
  return metricText(name, help, type, lines)
}

/** Undefined: nothing is known, and nothing is told. */
export function gaugeText(name: string, help: string, value: number | undefined): string {
  return value === undefined ? '' : samplesText(name, help, 'gauge', [{ value }])
}

export function counterText(name: string, help: string, value: number): string {
  return samplesText(name, help, 'counter', [{ value }])
}

function metricText(name: string, help: string, type: string, lines: readonly string[]): string {
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

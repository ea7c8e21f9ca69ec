/** Merges the metrics of several processes of one node. */

export interface CountedText {
  readonly text: string
  /** The label of its gauges; undefined when the process has been replaced, and only its counters stay. */
  readonly worker: string | undefined
}

interface MergedFamily {
  readonly head: readonly string[]
  readonly isGauge: boolean
  /** A series with its labels, and its value. */
  readonly series: Map<string, number>
}

/**
 * Adds up counters and histograms, so that they grow as those of one process would. Gauges describe one
 * process each: their sum would mean nothing.
 */
export function mergeMetrics(parts: readonly CountedText[]): string {
  const families = new Map<string, MergedFamily>()
  for (const part of parts) addTo(families, part)
  return Array.from(families.values(), ({ head, series }) =>
    [...head, ...Array.from(series, ([name, value]) => `${name} ${value}`), ''].join('\n'),
  ).join('')
}

function addTo(families: Map<string, MergedFamily>, { text, worker }: CountedText): void {
  let help: string | undefined
  let family: MergedFamily | undefined
  for (const line of text.split('\n')) {
    if (line === '') continue
    if (line.startsWith('# HELP ')) {
      help = line
      continue
    }
    if (line.startsWith('# TYPE ')) {
      family = familyOf(families, line, help)
      help = undefined
      continue
    }
    if (family === undefined || (family.isGauge && worker === undefined)) continue
    // Label values may contain spaces; the number after the last one does not.
    const space = line.lastIndexOf(' ')
    const [series, value] = [line.slice(0, space), Number(line.slice(space + 1))]
    const name = family.isGauge && worker !== undefined ? labelled(series, worker) : series
    family.series.set(name, (family.series.get(name) ?? 0) + value)
  }
}

function familyOf(families: Map<string, MergedFamily>, type: string, help: string | undefined): MergedFamily {
  const [, , name = '', kind] = type.split(' ')
  let family = families.get(name)
  if (family === undefined) {
    family = {
      head: help === undefined ? [type] : [help, type],
      isGauge: kind === 'gauge',
      series: new Map(),
    }
    families.set(name, family)
  }
  return family
}

function labelled(series: string, worker: string): string {
  const label = `worker="${worker}"`
  return series.endsWith('}') ? `${series.slice(0, -1)},${label}}` : `${series}{${label}}`
}

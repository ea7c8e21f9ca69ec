/** Answers to each project, in the current fine and coarse slots. */
import { ownTime } from '#core/request/request-trace.ts'
import { LatencyCounts } from '#core/traffic/latency-counts.ts'
import { OUTCOMES, outcomeOf, type Outcome } from '#core/request/request-outcome.ts'
import type { RequestRecord } from '#ports/observer.ts'
import { sourceOf } from '#ports/request-reports.ts'
import type { ProjectSlot } from '#ports/traffic-history.ts'

/** Projects that one node records by name. The traffic of others is counted without a name. */
const MAX_PROJECTS = 500

class Counted {
  readonly outcomes: Record<Outcome, number> = { answered: 0, refused: 0, limited: 0, failed: 0, unknown: 0 }
  inputs = 0
  hits = 0
  nanoUsd = 0n
  readonly latency = new LatencyCounts()
  readonly own = new LatencyCounts()

  add(record: RequestRecord): void {
    if (record.amountNanoUsd !== undefined) this.nanoUsd += record.amountNanoUsd
    // Background requests are paid, but say nothing about how callers were answered.
    if (sourceOf(record.route) === 'batches') return
    this.outcomes[outcomeOf(record.status, record.fault)] += 1
    const { durationMs, trace } = record
    this.latency.add(durationMs)
    this.own.add(trace === undefined ? durationMs : ownTime(trace, durationMs).ownMs)
    // Where nothing is shared there are no hits either.
    if (record.cache !== undefined) {
      this.inputs += record.cache.hits + record.cache.misses
      this.hits += record.cache.hits
    }
  }

  addRow({ outcomes, inputs, hits, nanoUsd, latency, own }: ProjectSlot): void {
    for (const outcome of OUTCOMES) this.outcomes[outcome] += outcomes[outcome]
    this.inputs += inputs
    this.hits += hits
    this.nanoUsd += nanoUsd
    this.latency.addAll(latency)
    this.own.addAll(own)
  }
}

/** Successive slots of one length. */
export class ProjectCounts {
  readonly #slotMs: number
  #projects = new Map<string, Counted>()

  constructor(slotMs: number) {
    this.#slotMs = slotMs
  }

  add(record: RequestRecord): void {
    this.#of(record.project ?? '').add(record)
  }

  /** Adds an ended shorter slot that lies in this one. */
  addRows(rows: readonly ProjectSlot[]): void {
    for (const row of rows) this.#of(row.project).addRow(row)
  }

  #of(asked: string): Counted {
    let project = asked
    let counted = this.#projects.get(project)
    if (counted === undefined) {
      if (this.#projects.size >= MAX_PROJECTS) project = ''
      counted = this.#projects.get(project) ?? new Counted()
      this.#projects.set(project, counted)
    }
    return counted
  }

  /** The rows so far of the slot that began at `atMs`. */
  rows(atMs: number): readonly ProjectSlot[] {
    return Array.from(this.#projects, ([project, counted]) => ({
      slotMs: this.#slotMs,
      atMs,
      project,
      outcomes: { ...counted.outcomes },
      inputs: counted.inputs,
      hits: counted.hits,
      nanoUsd: counted.nanoUsd,
      latency: counted.latency.sparse(),
      own: counted.own.sparse(),
    }))
  }

  clear(): void {
    this.#projects = new Map()
  }
}

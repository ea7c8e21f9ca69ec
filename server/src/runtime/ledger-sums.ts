/** Adds up ledger entries: by hour, and by project and model. */
import {
  addedUp,
  SUM_NAMES,
  sumsFrom,
  type EntrySums,
  type GroupTotals,
  type HourTotals,
  type LedgerTotals,
  type SumName,
} from '#core/money/lake.ts'
import type { CanonicalRow } from '#core/money/canonical-entry.ts'
import { HOUR_MS, momentOf } from '#core/money/ledger.ts'
import { HourHash } from './hour-hash.ts'

/** Larger numbers are added as bigints: smaller ones stay exact for `SETTLED_ENTRIES`. */
const MAX_EXACT = 2 ** 40
const SETTLED_ENTRIES = 4096

type Figure = number | bigint | null

/** An entry with what is added up. */
export interface AddedEntry extends CanonicalRow {
  readonly request_id: string
  readonly kind: string
  readonly project: string
  readonly model: string
  readonly tokens: Figure
  readonly images: Figure
  readonly amount_nano: Figure
  readonly requests: Figure
  readonly hits: Figure
  readonly saved_nano: Figure
  readonly unknown_nano: Figure
}

/** Entries must come in the order of their ids. */
export class LedgerAdder {
  readonly #hours: HourTotals[] = []
  readonly #groups = new Map<string, Map<string, RunningSums>>()
  #hourMs = -1
  #sums = new RunningSums()
  #hash = new HourHash()

  add(entry: AddedEntry): void {
    const moment = momentOf(entry.request_id)
    const hourMs = moment - (moment % HOUR_MS)
    if (hourMs !== this.#hourMs) this.#begin(hourMs)
    this.#hash.add(entry, moment)
    this.#sums.add(entry)
    this.#group(entry.project, entry.model).add(entry)
  }

  totals(): LedgerTotals {
    this.#begin(-1)
    const groups: GroupTotals[] = []
    for (const [project, models] of this.#groups)
      for (const [model, sums] of models) groups.push({ project, model, sums: sums.get() })
    return { sums: addedUp(this.#hours.map(({ sums }) => sums)), hours: this.#hours, groups }
  }

  #begin(hourMs: number): void {
    if (this.#hourMs !== -1)
      this.#hours.push({ hourMs: this.#hourMs, sums: this.#sums.get(), hash: this.#hash.digest() })
    this.#hourMs = hourMs
    this.#sums = new RunningSums()
    this.#hash = new HourHash()
  }

  #group(project: string, model: string): RunningSums {
    let models = this.#groups.get(project)
    if (models === undefined) this.#groups.set(project, (models = new Map()))
    let sums = models.get(model)
    if (sums === undefined) models.set(model, (sums = new RunningSums()))
    return sums
  }
}

class RunningSums {
  readonly #exact = SUM_NAMES.map(() => 0n)
  readonly #recent = new Float64Array(SUM_NAMES.length)
  #entries = 0

  add(entry: AddedEntry): void {
    this.#add(0, 1)
    if (entry.kind === 'post') this.#add(1, 1)
    this.#add(2, entry.tokens)
    this.#add(3, entry.images)
    this.#add(4, entry.amount_nano)
    this.#add(5, entry.requests)
    this.#add(6, entry.hits)
    this.#add(7, entry.saved_nano)
    this.#add(8, entry.unknown_nano)
    this.#entries += 1
    if (this.#entries % SETTLED_ENTRIES === 0) this.#settle()
  }

  get(): EntrySums {
    this.#settle()
    const place = (name: SumName): number => SUM_NAMES.indexOf(name)
    return sumsFrom((name) => this.#exact[place(name)] as bigint)
  }

  #add(place: number, value: Figure): void {
    if (value === null) return
    if (typeof value === 'number' && value <= MAX_EXACT && value >= -MAX_EXACT)
      this.#recent[place] = (this.#recent[place] as number) + value
    else this.#exact[place] = (this.#exact[place] as bigint) + BigInt(value)
  }

  #settle(): void {
    for (const [place, value] of this.#recent.entries())
      this.#exact[place] = (this.#exact[place] as bigint) + BigInt(value)
    this.#recent.fill(0)
  }
}

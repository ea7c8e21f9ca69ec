/** The keys of a snapshot, by id and by the digests of their secrets, with the budgets that apply to them. */
import type { Project } from '#core/catalog/catalog.ts'
import { keyBudget, projectBudget } from '#core/keys/terms.ts'
import { isSameBudget, type Budget } from '#core/money/budget.ts'
import type { KeyRecord, ProjectRecord } from '#ports/key-store.ts'
import type { Key } from '#ports/keys.ts'

export interface Entry {
  readonly record: KeyRecord
  /** All digests that lead to this entry, to be removed with it. */
  readonly digests: string[]
  /** Built at the first use, and again after the projects of the configuration have changed. */
  key: Key | undefined
  keyFor: ReadonlyMap<string, Project> | undefined
  notedAtMs: number
}

/** The key that one secret opens. */
export interface Opening {
  readonly entry: Entry
  readonly validUntilMs: number | undefined
}

export class KeyContents {
  /** By key id. */
  readonly entries = new Map<string, Entry>()
  /** By digest. */
  readonly openings = new Map<string, Opening>()
  /** By their ids. */
  readonly budgets = new Map<string, Budget>()
  /** Projects whose inputs are kept. */
  readonly capturing = new Set<string>()

  apply(records: readonly KeyRecord[]): void {
    for (const record of records) {
      this.#keepBudgets(record)
      const before = this.entries.get(record.id)
      for (const digest of before?.digests ?? []) this.openings.delete(digest)
      if (record.revokedAtMs !== undefined) {
        this.entries.delete(record.id)
        continue
      }
      const entry = entryOf(record)
      entry.notedAtMs = before?.notedAtMs ?? entry.notedAtMs
      this.entries.set(record.id, entry)
      for (const { digest, validUntilMs } of record.secrets)
        this.openings.set(digest, { entry, validUntilMs })
    }
  }

  applyProjects(records: readonly ProjectRecord[]): void {
    for (const record of records) {
      const { name, capturesInputs } = record
      this.#keep(`project:${name}`, projectBudget(name, record))
      if (capturesInputs) this.capturing.add(name)
      else this.capturing.delete(name)
    }
  }

  /** A project's terms come with each of its keys: the last ones received are the newest. */
  #keepBudgets(record: KeyRecord): void {
    const { id, project, projectTerms } = record
    this.#keep(`project:${project}`, projectBudget(project, projectTerms))
    this.#keep(`key:${id}`, keyBudget(id, record))
  }

  /** The same object until it changes: leases compare terms by identity. */
  #keep(budgetId: string, budget: Budget | undefined): void {
    if (budget === undefined) this.budgets.delete(budgetId)
    else if (!isSameBudget(this.budgets.get(budgetId), budget)) this.budgets.set(budgetId, budget)
  }
}

export function entryOf(record: KeyRecord): Entry {
  const digests = record.secrets.map(({ digest }) => digest)
  return { record, digests, key: undefined, keyFor: undefined, notedAtMs: -Infinity }
}

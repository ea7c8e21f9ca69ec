/** What a node knows of the stored keys: packed ones, those that changed since, and those used lately as objects. */
import { RecentMap } from '#core/structure/recent-map.ts'
import type { Project } from '#core/catalog/catalog.ts'
import { boundsOf } from '#core/catalog/key-bounds.ts'
import { keyBudget, projectBudget, termsOf } from '#core/keys/terms.ts'
import { isSameBudget, type Budget } from '#core/money/budget.ts'
import type { DirectoryChanges, HeldKey, HeldProject, PackedKeys } from '#ports/key-file.ts'
import type { KeyRecord, Terms } from '#ports/key-store.ts'
import type { Key } from '#ports/keys.ts'

/** Keys held as objects beside the packed ones: as many as have their digests remembered. About 20 MB. */
const MAX_RECENT = 10_000

export interface Entry {
  readonly record: HeldKey & { readonly projectTerms?: Terms | undefined }
  /** Built at the first use, and again after the terms of a project have changed. */
  key: Key | undefined
  keyFor: unknown
  notedAtMs: number
}

/** The key that one secret opens. */
export interface Opening {
  readonly entry: Entry
  readonly validUntilMs: number | undefined
}

/** A key that changed since the others were packed. */
interface Changed {
  readonly record: KeyRecord
  /** Undefined: it is revoked. */
  readonly entry: Entry | undefined
}

interface HeldBudget {
  readonly budget: Budget | undefined
}

export class KeyContents {
  #packed: PackedKeys | undefined
  /** By key id. */
  readonly #changed = new Map<string, Changed>()
  /** Of changed keys, by digest. */
  readonly #changedOpenings = new Map<string, Opening>()
  readonly #changedProjects = new Map<string, HeldProject>()
  readonly #openings = new RecentMap<string, Opening>(MAX_RECENT)
  readonly #entries = new RecentMap<string, Entry>(MAX_RECENT)
  readonly #projects = new RecentMap<string, HeldProject>(MAX_RECENT)
  readonly #budgets = new RecentMap<string, HeldBudget>(MAX_RECENT)
  /** Another object after each change of a project. */
  #termsOfProjects: ReadonlyMap<string, Project> = new Map()

  constructor(packed: PackedKeys | undefined) {
    this.#packed = packed
  }

  get packed(): PackedKeys | undefined {
    return this.#packed
  }

  get size(): number {
    let size = this.#packed?.size ?? 0
    for (const [id, { entry }] of this.#changed) {
      if (this.#packed?.keyOfId(id) !== undefined) size -= 1
      if (entry !== undefined) size += 1
    }
    return size
  }

  get changeCount(): number {
    return this.#changed.size + this.#changedProjects.size
  }

  /** All since the packed ones. */
  get changes(): DirectoryChanges {
    return {
      keys: Array.from(this.#changed.values(), ({ record }) => record),
      projects: [...this.#changedProjects.values()],
    }
  }

  /** The limits and budgets that apply to stored keys of these projects too. */
  setDeclared(declared: ReadonlyMap<string, Project>): void {
    this.#termsOfProjects = declared
  }

  opening(digest: string): Opening | undefined {
    const recent = this.#openings.get(digest)
    if (recent !== undefined) return recent
    const opening = this.#changedOpenings.get(digest) ?? this.#packedOpening(digest)
    if (opening !== undefined) this.#openings.set(digest, opening)
    return opening
  }

  /** Another digest of the same secret. */
  addDigest(digest: string, opening: Opening): void {
    this.#openings.set(digest, opening)
  }

  entry(id: string): Entry | undefined {
    const changed = this.#changed.get(id)
    if (changed !== undefined) return changed.entry
    const recent = this.#entries.get(id)
    if (recent !== undefined) return recent
    const key = this.#packed?.keyOfId(id)
    return key && this.#packedEntry(key)
  }

  project(name: string): HeldProject | undefined {
    const known = this.#changedProjects.get(name) ?? this.#projects.get(name)
    if (known !== undefined) return known
    const packed = this.#packed?.projectOf(name)
    if (packed !== undefined) this.#projects.set(name, packed)
    return packed
  }

  /** The same object until it changes: leases compare terms by identity. */
  budget(budgetId: string): Budget | undefined {
    const known = this.#budgets.get(budgetId)
    if (known !== undefined) return known.budget
    const budget = this.#budgetNow(budgetId)
    this.#budgets.set(budgetId, { budget })
    return budget
  }

  keyIn(entry: Entry): Key {
    if (entry.key === undefined || entry.keyFor !== this.#termsOfProjects) {
      entry.key = this.#keyOf(entry.record)
      entry.keyFor = this.#termsOfProjects
    }
    return entry.key
  }

  apply({ keys, projects }: DirectoryChanges): void {
    const [names, ids] = [new Set<string>(), new Set<string>()]
    for (const project of projects) {
      names.add(project.name)
      this.#changedProjects.set(project.name, project)
    }
    for (const record of keys) {
      ids.add(record.id)
      this.#applyKey(record)
    }
    if (ids.size > 0) this.#openings.deleteWhere(({ entry }) => ids.has(entry.record.id))
    for (const id of ids) this.#entries.delete(id)
    // Keys that were built with the terms of before are built again.
    if (names.size > 0) this.#termsOfProjects = new Map(this.#termsOfProjects)
    for (const name of names) this.#followBudget(`project:${name}`)
    for (const id of ids) this.#followBudget(`key:${id}`)
  }

  /** Goes on with keys that were packed later. Returns those of before. */
  rebase(packed: PackedKeys): PackedKeys | undefined {
    const before = this.#packed
    this.#packed = packed
    const isIn = ({ version }: { readonly version: bigint }): boolean => version <= packed.state.version
    for (const [name, project] of this.#changedProjects) {
      if (!isIn(project)) continue
      this.#changedProjects.delete(name)
      this.#projects.set(name, project)
    }
    for (const [id, { record }] of this.#changed) {
      if (!isIn(record)) continue
      this.#forget(id)
      this.#changed.delete(id)
    }
    return before
  }

  #applyKey(record: KeyRecord): void {
    const { id, project: name, projectTerms, version } = record
    if (this.project(name) === undefined) this.#changedProjects.set(name, { name, ...projectTerms, version })
    const notedAtMs = (this.#changed.get(id)?.entry ?? this.#entries.get(id))?.notedAtMs ?? -Infinity
    this.#forget(id)
    if (record.revokedAtMs !== undefined) {
      this.#changed.set(id, { record, entry: undefined })
      return
    }
    const entry: Entry = { ...entryOf(record), notedAtMs }
    this.#changed.set(id, { record, entry })
    for (const { digest, validUntilMs } of record.secrets)
      this.#changedOpenings.set(digest, { entry, validUntilMs })
  }

  #forget(id: string): void {
    const before = this.#changed.get(id)
    for (const { digest } of before?.record.secrets ?? [])
      if (this.#changedOpenings.get(digest)?.entry === before?.entry) this.#changedOpenings.delete(digest)
  }

  #packedOpening(digest: string): Opening | undefined {
    const found = this.#packed?.find(digest)
    if (found === undefined || this.#changed.has(found.key.id)) return undefined
    const entry = this.#packedEntry(found.key)
    return entry && { entry, validUntilMs: found.validUntilMs }
  }

  #packedEntry(key: HeldKey): Entry | undefined {
    const recent = this.#entries.get(key.id)
    if (recent !== undefined) return recent
    // It was made while the keys were packed. Its project comes with the next changes, and until then the store is asked.
    if (this.project(key.project) === undefined) return undefined
    const entry = entryOf(key)
    this.#entries.set(key.id, entry)
    return entry
  }

  #budgetNow(budgetId: string): Budget | undefined {
    const colon = budgetId.indexOf(':')
    const owner = budgetId.slice(colon + 1)
    if (budgetId.startsWith('project:')) {
      const project = this.project(owner)
      return project && projectBudget(owner, project)
    }
    // Also of a revoked key, whose work may go on.
    const record = this.#changed.get(owner)?.record ?? this.entry(owner)?.record
    return record && keyBudget(owner, record)
  }

  #followBudget(budgetId: string): void {
    const before = this.#budgets.get(budgetId)
    if (before === undefined) return
    const budget = this.#budgetNow(budgetId)
    if (budget === undefined || !isSameBudget(before.budget, budget)) this.#budgets.set(budgetId, { budget })
  }

  #keyOf(record: Entry['record']): Key {
    const { id, name, project, models, expiresAtMs } = record
    const ofProject = this.#termsOfProjects.get(project) ?? this.project(project) ?? record.projectTerms
    if (ofProject === undefined) throw new Error(`the project of key ${id} is not known`)
    return {
      id,
      name,
      project,
      models: models && new Set(models),
      expiresAtMs,
      ...termsOf(project, ofProject, id, record),
      bounds: boundsOf(record),
    }
  }
}

export function entryOf(record: Entry['record']): Entry {
  return { record, key: undefined, keyFor: undefined, notedAtMs: -Infinity }
}

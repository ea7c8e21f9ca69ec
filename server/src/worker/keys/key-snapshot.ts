import type { Budget } from '#core/money/budget.ts'
import type { Project } from '#core/catalog/catalog.ts'
import { MIN_KEY_LENGTH } from '#core/keys/key.ts'
import { boundsOf } from '#core/catalog/key-bounds.ts'
import { termsOf } from '#core/keys/terms.ts'
import type { Clock } from '#ports/clock.ts'
import type { KeyRecord, KeySource, Peppers, SnapshotFile } from '#ports/key-store.ts'
import type { Key, KeyDirectory, KeyEnd } from '#ports/keys.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { DeclaredUses, USE_NOTED_MS } from './declared-uses.ts'
import { entryOf, KeyContents, type Entry, type Opening } from './key-contents.ts'
import { KeyLookUps } from './key-look-ups.ts'

/** Time for which keys stay valid while the store is unreachable: long enough for outages, short enough for revocations. */
export const STALE_KEYS_MS = 3_600_000
/** Delay of the copy on disk after a change; successive changes are written together. */
const SAVE_CHANGE_MS = 5000
/** Interval at which the unchanged copy is rewritten: it states when it was last known to be true, and must not look outdated. */
const SAVE_ANYWAY_MS = 300_000

export interface KeySnapshotOptions {
  readonly source: KeySource
  readonly peppers: Peppers
  readonly clock: Clock
  readonly file: SnapshotFile
  /** After the start: keys, projects or credentials changed on any node, or are there at last. */
  readonly onChange?: (() => void) | undefined
  /** The store became unreachable, or the file could not be used. Undefined when the store is reachable again. */
  readonly onTrouble: (trouble: Error | undefined) => void
}

/**
 * All keys of the store in this node's memory, so that the hot lane asks no store: made for up to 100,000 keys, which take 110
 * MB, 40 MB on disk, and a few seconds to load at a start. After that only changes are loaded. `refresh` is called every second.
 * While the store is unreachable, known keys stay known for `STALE_KEYS_MS`; other keys are neither accepted nor rejected.
 */
export class KeySnapshot implements KeyDirectory {
  readonly #options: KeySnapshotOptions
  readonly #lookUps: KeyLookUps
  #contents = new KeyContents()
  /** The version of the contents; undefined while there are none, or while they come from the file. */
  #version: bigint | undefined
  /** When the contents were last known to be complete, on the monotonic clock. */
  #verifiedMs = -Infinity
  #trouble: Error | undefined
  #isStarting = false
  #declared: ReadonlyMap<string, Project> = new Map()
  #uses = new Map<string, number>()
  readonly #declaredUses = new DeclaredUses()
  #renewals = new Map<string, { readonly digest: string; readonly pepper: string }>()
  #saving: Promise<void> | undefined
  #saved: { readonly version: bigint | undefined; readonly atMs: number } = {
    version: undefined,
    atMs: -Infinity,
  }

  constructor(options: KeySnapshotOptions) {
    this.#options = options
    this.#lookUps = new KeyLookUps(options.source, options.clock)
  }

  /** Whether there is anything to check keys against. */
  get isLoaded(): boolean {
    return this.#verifiedMs > -Infinity
  }

  get size(): number {
    return this.#contents.entries.size
  }

  /** Sets the declared projects, whose limits and budgets also apply to their stored keys. */
  setDeclared(projects: readonly Project[]): void {
    // The first counts: the key of the environment brings a second `default`, without terms.
    this.#declared = new Map(projects.toReversed().map((project) => [project.name, project]))
  }

  /** Notes the use of a declared key, which is written to the store like those of stored keys. */
  declaredUsed(keyId: string): void {
    this.#declaredUses.note(keyId, this.#options.clock.nowMs())
  }

  /** The current budget of a stored key or project in the snapshot. */
  budgetInForce(budgetId: string): Budget | undefined {
    return this.#contents.budgets.get(budgetId)
  }

  /** Whether the inputs of a project's requests are kept. The file takes precedence over the store. */
  captures(project: string): boolean {
    const declared = this.#declared.get(project)
    return declared === undefined ? this.#contents.capturing.has(project) : declared.capturesInputs === true
  }

  /** Whether a missing key is known not to exist: everything was read from the store, and recently enough. */
  get isComplete(): boolean {
    return this.#version !== undefined && this.#isBelieved
  }

  /**
   * The key of this id by its current terms, whether or not it has expired. `stale` when the store has been unreachable for too
   * long.
   */
  ofId(keyId: string): Key | 'stale' | undefined {
    const entry = this.#contents.entries.get(keyId)
    if (entry === undefined) return undefined
    return this.#isBelieved ? this.#keyIn(entry) : 'stale'
  }

  /** Loads from the store or, while it is unreachable, from the copy on disk. */
  async start(): Promise<void> {
    this.#isStarting = true
    await this.refresh()
    if (!this.isLoaded) await this.#loadFile()
    this.#isStarting = false
  }

  find(secret: string, mayAsk = true): Key | undefined | Promise<Key | undefined> {
    if (secret.length < MIN_KEY_LENGTH) return undefined
    const { peppers } = this.#options
    const digest = peppers.current.digestOf(secret)
    const opening = this.#contents.openings.get(digest) ?? this.#underPreviousPepper(secret, digest)
    if (opening !== undefined && this.#isBelieved) return this.#use(opening)
    if (!mayAsk) return undefined
    if (this.#trouble !== undefined)
      return Promise.reject(
        new StoreUnreachable(`keys can't be looked up: ${this.#trouble.message}`, { cause: this.#trouble }),
      )
    const digests = peppers.previous ? [digest, peppers.previous.digestOf(secret)] : [digest]
    return this.#lookUps.find(digests)?.then((record) => record && this.#admit(record, digests))
  }

  endOf(secret: string): KeyEnd | undefined {
    if (secret.length < MIN_KEY_LENGTH) return undefined
    const { current, previous } = this.#options.peppers
    const digest = current.digestOf(secret)
    const { openings } = this.#contents
    const opening = openings.get(digest) ?? (previous && openings.get(previous.digestOf(secret)))
    const atMs = opening?.validUntilMs
    if (opening === undefined || atMs === undefined) return this.#lookUps.endOf(digest)
    return { name: opening.entry.record.name, how: 'rotated', atMs }
  }

  /** Loads changes and writes collected uses. Never rejects: trouble is reported. */
  async refresh(): Promise<void> {
    const { onChange, onTrouble } = this.#options
    try {
      if ((await this.#load()) && !this.#isStarting) onChange?.()
      await this.#handOver()
      if (this.#trouble !== undefined) onTrouble(undefined)
      this.#trouble = undefined
    } catch (error) {
      const isNew = this.#trouble === undefined
      this.#trouble = error as Error
      if (isNew) onTrouble(this.#trouble)
      return
    }
    this.#saving ??= this.#save().finally(() => (this.#saving = undefined))
  }

  /** Waits until nothing more is written. */
  async end(): Promise<void> {
    await this.#saving
  }

  async #load(): Promise<boolean> {
    const { source, clock } = this.#options
    // Read before the keys: what changes while they are loaded has a larger version, and is loaded again.
    const version = await source.directoryVersion()
    const atMs = clock.monotonicMs()
    const known = this.#version
    if (known === undefined || version < known) {
      const contents = new KeyContents()
      for await (const records of source.projectsChangedSince(undefined)) contents.applyProjects(records)
      for await (const records of source.keysChangedSince(undefined)) contents.apply(records)
      this.#contents = contents
    } else if (version > known) {
      for await (const records of source.projectsChangedSince(known)) this.#contents.applyProjects(records)
      for await (const records of source.keysChangedSince(known)) this.#contents.apply(records)
    }
    this.#version = version
    this.#verifiedMs = atMs
    return version !== known
  }

  /** Writes last uses, and digests made with the current pepper. What fails now waits for the next time. */
  async #handOver(): Promise<void> {
    const { source } = this.#options
    if (this.#uses.size > 0) {
      const uses = [...this.#uses]
      await source.markUsed(uses.map(([keyId, atMs]) => ({ keyId, atMs })))
      for (const [keyId, atMs] of uses) if (this.#uses.get(keyId) === atMs) this.#uses.delete(keyId)
    }
    const declared = this.#declaredUses.take()
    if (declared.length > 0) {
      await source.markDeclaredUsed(declared).catch((error: unknown) => {
        this.#declaredUses.putBack(declared)
        throw error
      })
    }
    for (const [digest, renewed] of this.#renewals) {
      await source.renewDigest(digest, renewed)
      this.#renewals.delete(digest)
    }
  }

  async #loadFile(): Promise<void> {
    const { clock, file, onTrouble } = this.#options
    try {
      const content = await file.read()
      if (content === undefined) return
      const ageMs = clock.nowMs() - content.verifiedAtMs
      // A copy from the future was written by a wrong clock: its true age is not known.
      if (Math.abs(ageMs) >= STALE_KEYS_MS)
        throw new Error(`the key snapshot on disk is ${Math.round(ageMs / 60_000)} minutes old: not used`)
      this.#contents.apply([...content.keys])
      this.#verifiedMs = clock.monotonicMs() - Math.max(0, ageMs)
    } catch (error) {
      onTrouble(error as Error)
    }
  }

  async #save(): Promise<void> {
    const { clock, file, onTrouble } = this.#options
    const atMs = clock.monotonicMs()
    const version = this.#version
    const dueMs = version === this.#saved.version ? SAVE_ANYWAY_MS : SAVE_CHANGE_MS
    if (atMs - this.#saved.atMs < dueMs) return
    this.#saved = { version, atMs }
    try {
      const keys = this.#contents.entries
        .values()
        .map(({ record }) => record)
        .toArray()
      await file.write({ verifiedAtMs: clock.nowMs(), keys })
    } catch (error) {
      onTrouble(error as Error)
    }
  }

  #underPreviousPepper(secret: string, digest: string): Opening | undefined {
    const { current, previous } = this.#options.peppers
    if (previous === undefined) return undefined
    const old = previous.digestOf(secret)
    const opening = this.#contents.openings.get(old)
    if (opening === undefined) return undefined
    this.#renewals.set(old, { digest, pepper: current.id })
    this.#contents.openings.set(digest, opening)
    opening.entry.digests.push(digest)
    return opening
  }

  /** Adds a key that only the store knew. A record older than the snapshot was changed meanwhile. */
  #admit(record: KeyRecord, digests: readonly string[]): Key | undefined {
    if (record.version > (this.#version ?? 0n)) this.#contents.apply([record])
    const entry = this.#contents.entries.get(record.id) ?? entryOf(record)
    const secret = record.secrets.find((one) => digests.includes(one.digest))
    return secret && this.#use({ entry, validUntilMs: secret.validUntilMs })
  }

  #use({ entry, validUntilMs }: Opening): Key | undefined {
    const nowMs = this.#options.clock.nowMs()
    if (validUntilMs !== undefined && nowMs >= validUntilMs) return undefined
    if (nowMs - entry.notedAtMs >= USE_NOTED_MS) {
      entry.notedAtMs = nowMs
      this.#uses.set(entry.record.id, nowMs)
    }
    return this.#keyIn(entry)
  }

  get #isBelieved(): boolean {
    return this.#options.clock.monotonicMs() - this.#verifiedMs < STALE_KEYS_MS
  }

  #keyIn(entry: Entry): Key {
    if (entry.key === undefined || entry.keyFor !== this.#declared) {
      entry.key = this.#keyOf(entry.record)
      entry.keyFor = this.#declared
    }
    return entry.key
  }

  #keyOf(record: KeyRecord): Key {
    const { id, name, project, models, expiresAtMs } = record
    return {
      id,
      name,
      project,
      models: models && new Set(models),
      expiresAtMs,
      ...termsOf(project, this.#declared.get(project) ?? record.projectTerms, id, record),
      bounds: boundsOf(record),
    }
  }
}

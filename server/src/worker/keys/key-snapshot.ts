import type { Budget } from '#core/money/budget.ts'
import type { Project } from '#core/catalog/catalog.ts'
import { MIN_KEY_LENGTH } from '#core/keys/key.ts'
import type { Clock } from '#ports/clock.ts'
import type { DirectoryPages, DirectoryState, KeyFile } from '#ports/key-file.ts'
import type { KeyRecord, KeySource, Peppers } from '#ports/key-store.ts'
import type { Key, KeyDirectory, KeyEnd } from '#ports/keys.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { DeclaredUses, USE_NOTED_MS } from './declared-uses.ts'
import { entryOf, KeyContents, type Opening } from './key-contents.ts'
import { KeyLookUps } from './key-look-ups.ts'

/** Time for which keys stay valid while the store is unreachable: long enough for outages, short enough for revocations. */
export const STALE_KEYS_MS = 3_600_000
/** Delay of the copy on disk after a change; successive changes are written together. */
const SAVE_CHANGE_MS = 5000
/** Interval at which the copy is confirmed without a change: it states when it was last known to be true, and must not look outdated. */
const SAVE_ANYWAY_MS = 300_000
/** Changes that are read one by one. Beyond, packing everything again is quicker, and takes no memory of the process. */
const MAX_CHANGES = 50_000
/** Digests renewed at a time, so that changes are still heard of at each heartbeat. */
const MAX_RENEWALS = 200

export interface KeySnapshotOptions {
  readonly source: KeySource
  readonly peppers: Peppers
  readonly clock: Clock
  readonly file: KeyFile
  /** After the start: keys, projects or credentials changed on any node, or are there at last. */
  readonly onChange?: (() => void) | undefined
  /** The store became unreachable, or the file could not be used. Undefined when the store is reachable again. */
  readonly onTrouble: (trouble: Error | undefined) => void
}

/**
 * All keys of the store, at hand without a question to it: packed in a file that the processes of a machine share, and what
 * changed since in memory. A start reads the file and the changes since. `refresh` is called at each heartbeat. While the store
 * is unreachable, known keys stay known for `STALE_KEYS_MS`; other keys are neither accepted nor rejected.
 */
export class KeySnapshot implements KeyDirectory {
  readonly #options: KeySnapshotOptions
  readonly #lookUps: KeyLookUps
  #contents = new KeyContents(undefined)
  /** What the contents are; undefined while there are none. */
  #state: DirectoryState | undefined
  /** The store has confirmed that the contents are its own. Those of the file may be of another one. */
  #isConfirmed = false
  /** When the contents were last known to be complete, on the monotonic clock. */
  #verifiedMs = -Infinity
  #trouble: Error | undefined
  #isStarting = false
  #declared: ReadonlyMap<string, Project> = new Map()
  #uses = new Map<string, number>()
  readonly #declaredUses = new DeclaredUses()
  #renewals = new Map<string, { readonly digest: string; readonly pepper: string }>()
  #refreshed: Promise<void> = Promise.resolve()
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
    return this.#contents.size
  }

  /** Sets the declared projects, whose limits and budgets also apply to their stored keys. */
  setDeclared(projects: readonly Project[]): void {
    // The first counts: the key of the environment brings a second `default`, without terms.
    this.#declared = new Map(projects.toReversed().map((project) => [project.name, project]))
    this.#contents.setDeclared(this.#declared)
  }

  /** Notes the use of a declared key, which is written to the store like those of stored keys. */
  declaredUsed(keyId: string): void {
    this.#declaredUses.note(keyId, this.#options.clock.nowMs())
  }

  /** The current budget of a stored key or project in the snapshot. */
  budgetInForce(budgetId: string): Budget | undefined {
    return this.#contents.budget(budgetId)
  }

  /** Whether a missing key is known not to exist: everything was read from the store, and recently enough. */
  get isComplete(): boolean {
    return this.#isConfirmed && this.#isBelieved
  }

  /**
   * The key of this id by its current terms, whether or not it has expired. `stale` when the store has been unreachable for too
   * long.
   */
  ofId(keyId: string): Key | 'stale' | undefined {
    const entry = this.#contents.entry(keyId)
    if (entry === undefined) return undefined
    return this.#isBelieved ? this.#contents.keyIn(entry) : 'stale'
  }

  /** Loads the copy on disk, and what changed since from the store. While it is unreachable, a recent copy counts as it is. */
  async start(): Promise<void> {
    this.#isStarting = true
    const refusal = await this.#loadFile()
    await this.refresh()
    if (refusal !== undefined) this.#options.onTrouble(refusal)
    else if (!this.#isConfirmed) this.#believeFile()
    this.#isStarting = false
  }

  find(secret: string, mayAsk = true): Key | undefined | Promise<Key | undefined> {
    if (secret.length < MIN_KEY_LENGTH) return undefined
    const { peppers } = this.#options
    const digest = peppers.current.digestOf(secret)
    const opening = this.#contents.opening(digest) ?? this.#underPreviousPepper(secret, digest)
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
    const contents = this.#contents
    const opening = contents.opening(digest) ?? (previous && contents.opening(previous.digestOf(secret)))
    const atMs = opening?.validUntilMs
    if (opening === undefined || atMs === undefined) return this.#lookUps.endOf(digest)
    return { name: opening.entry.record.name, how: 'rotated', atMs }
  }

  /** Loads changes, unless `heard` of the store is the known version, and writes uses. One call after another; never rejects. */
  refresh(heard?: string): Promise<void> {
    this.#refreshed = this.#refreshed.then(() => this.#refresh(heard))
    return this.#refreshed
  }

  async #refresh(heard: string | undefined): Promise<void> {
    const { onChange, onTrouble } = this.#options
    try {
      if ((await this.#load(heard)) && !this.#isStarting) onChange?.()
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

  async #load(heard: string | undefined): Promise<boolean> {
    const { source, clock } = this.#options
    // Read before the keys: what changes while they are loaded has a larger version, and is loaded again.
    const isHeard = heard !== undefined && heard === this.#state?.version.toString()
    const version = isHeard ? BigInt(heard) : await source.directoryVersion()
    const [atMs, verifiedAtMs] = [clock.monotonicMs(), clock.nowMs()]
    const known = this.#state
    const isSame = this.#isConfirmed && version === known?.version
    if (!isSame) {
      // At the same time: a change is to be in force within two seconds, also where the store is slow.
      const [mark, knownMark] = await Promise.all([
        this.#markOf(version),
        known === undefined ? '' : this.#markOf(known.version),
      ])
      const state: DirectoryState = { version, mark, verifiedAtMs }
      if (!(await this.#followed(state, knownMark))) await this.#packAll(state)
    } else this.#state = { ...known, verifiedAtMs }
    this.#isConfirmed = true
    this.#verifiedMs = atMs
    return !isSame
  }

  /** False when everything has to be read: the store does not know the state that the contents are in, or too much has changed. */
  async #followed(state: DirectoryState, knownMark: string): Promise<boolean> {
    const known = this.#state
    if (known === undefined || known.mark === '' || state.version < known.version) return false
    const contents = this.#contents
    if (contents.packed === undefined || knownMark !== known.mark) return false
    if (state.version > known.version) {
      const { source } = this.#options
      for await (const projects of source.projectsChangedSince(known.version))
        contents.apply({ projects, keys: [] })
      for await (const keys of source.keysChangedSince(known.version)) {
        contents.apply({ projects: [], keys })
        if (contents.changeCount > MAX_CHANGES) return false
      }
    }
    this.#state = state
    return true
  }

  async #packAll(state: DirectoryState): Promise<void> {
    const { source, file } = this.#options
    const pages: DirectoryPages = {
      projects: () => source.projectsChangedSince(undefined),
      keys: () => source.keysChangedSince(undefined),
    }
    const packed = await file.pack(state, pages)
    // It may read the file of before.
    await this.#saving
    const before = this.#contents
    this.#contents = new KeyContents(packed)
    this.#contents.setDeclared(this.#declared)
    before.packed?.close()
    this.#state = packed.state
    this.#saved = { version: packed.state.version, atMs: this.#options.clock.monotonicMs() }
    for await (const projects of source.projectsChangedSince(packed.state.version))
      this.#contents.apply({ projects, keys: [] })
    for await (const keys of source.keysChangedSince(packed.state.version))
      this.#contents.apply({ projects: [], keys })
  }

  /** Peppers count too: digests are renewed without a change of the directory, and a copy has those of before. */
  async #markOf(version: bigint): Promise<string> {
    const { source, peppers } = this.#options
    const mark = await source.markOf(version)
    return mark === undefined ? '' : [mark, peppers.current.id, peppers.previous?.id ?? ''].join(' ')
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
    for (const [digest, renewed] of this.#renewals.entries().take(MAX_RENEWALS)) {
      await source.renewDigest(digest, renewed)
      this.#renewals.delete(digest)
    }
  }

  /** Returns why the copy on disk cannot be used, if so. */
  async #loadFile(): Promise<Error | undefined> {
    try {
      const opened = await this.#options.file.open()
      if (opened === undefined) return undefined
      this.#contents = new KeyContents(opened.packed)
      this.#contents.setDeclared(this.#declared)
      this.#contents.apply(opened.changes)
      this.#state = opened.state
      return undefined
    } catch (error) {
      return error as Error
    }
  }

  #believeFile(): void {
    const { clock, onTrouble } = this.#options
    if (this.#state === undefined) return
    const ageMs = clock.nowMs() - this.#state.verifiedAtMs
    // A copy from the future was written by a wrong clock: its true age is not known.
    if (Math.abs(ageMs) < STALE_KEYS_MS) this.#verifiedMs = clock.monotonicMs() - Math.max(0, ageMs)
    else onTrouble(new Error(`the key file is ${Math.round(ageMs / 60_000)} minutes old: not used`))
  }

  async #save(): Promise<void> {
    const { clock, file, onTrouble } = this.#options
    const atMs = clock.monotonicMs()
    const [contents, state] = [this.#contents, this.#state]
    if (contents.packed === undefined || state === undefined) return
    const dueMs = state.version === this.#saved.version ? SAVE_ANYWAY_MS : SAVE_CHANGE_MS
    if (atMs - this.#saved.atMs < dueMs) return
    this.#saved = { version: state.version, atMs }
    try {
      const other = await file.save(contents.packed, state, contents.changes)
      if (other === undefined) return
      // Another process may have packed it, in the meantime from another store.
      if ((await this.#markOf(other.state.version)) === other.state.mark) contents.rebase(other)?.close()
      else other.close()
    } catch (error) {
      onTrouble(error as Error)
    }
  }

  #underPreviousPepper(secret: string, digest: string): Opening | undefined {
    const { current, previous } = this.#options.peppers
    if (previous === undefined) return undefined
    const old = previous.digestOf(secret)
    const opening = this.#contents.opening(old)
    if (opening === undefined) return undefined
    this.#renewals.set(old, { digest, pepper: current.id })
    this.#contents.addDigest(digest, opening)
    return opening
  }

  /**
   * Adds a key that only the store knew. A record older than the snapshot was changed meanwhile, unless the snapshot has the
   * same one with the digest of before.
   */
  #admit(record: KeyRecord, digests: readonly string[]): Key | undefined {
    const known = this.#contents.entry(record.id)
    const isNew = record.version > (this.#state?.version ?? 0n)
    if (isNew || (known !== undefined && record.version >= known.record.version))
      this.#contents.apply({ keys: [record], projects: [] })
    const entry = this.#contents.entry(record.id) ?? entryOf(record)
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
    return this.#contents.keyIn(entry)
  }

  get #isBelieved(): boolean {
    return this.#options.clock.monotonicMs() - this.#verifiedMs < STALE_KEYS_MS
  }
}

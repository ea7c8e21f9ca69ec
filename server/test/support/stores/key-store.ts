import { randomUUID } from 'node:crypto'
import type { Actor } from '#ports/audit.ts'
import type { Clock } from '#ports/clock.ts'
import type {
  KeyChange,
  KeyFilter,
  KeyMoment,
  KeyPage,
  KeyRecord,
  KeyStore,
  KeyUse,
  KeyUses,
  NewKey,
  NewSecret,
  ProjectPage,
  ProjectRecord,
  StoredStanding,
  TermsChange,
} from '#ports/key-store.ts'
import type { WorkOwner } from '#ports/keys.ts'
import { isBehind, rankIn, type KeyPlace } from '#core/keys/key-order.ts'
import { hasEnded, statesOf, type KeyState } from '#core/keys/key-hygiene.ts'
import { changedKey, changedTerms, keyDetail, refusal, termsDetail } from '#stores/key-change.ts'
import type { MemoryAudit } from './audit.ts'

type StoredProject = ProjectRecord & { readonly deleted: boolean }
type StoredKey = Omit<KeyRecord, 'projectTerms'>

/** Keys in memory, gone with the process: for tests. */
export class MemoryKeyStore implements KeyStore {
  readonly #clock: Clock
  readonly #audit: MemoryAudit
  readonly #projects = new Map<string, StoredProject>()
  readonly #keys = new Map<string, StoredKey>()
  readonly #declaredUses = new Map<string, KeyUses>()
  #version = 1n
  readonly #mark = randomUUID()

  constructor(clock: Clock, audit: MemoryAudit) {
    this.#clock = clock
    this.#audit = audit
  }

  async directoryVersion(): Promise<bigint> {
    return this.#version
  }

  async markOf(version: bigint): Promise<string | undefined> {
    return version <= this.#version ? `${this.#mark}-${version}` : undefined
  }

  /** Something else that belongs to the directory has changed. */
  directoryChanged(): void {
    this.#version += 1n
  }

  async *keysChangedSince(version: bigint | undefined): AsyncIterable<readonly KeyRecord[]> {
    const keys = [...this.#keys.values()].filter((key) =>
      version === undefined ? key.revokedAtMs === undefined : key.version > version,
    )
    yield keys.map((key) => this.#record(key))
  }

  async *projectsChangedSince(version = -1n): AsyncIterable<readonly ProjectRecord[]> {
    yield [...this.#projects.values()].filter((project) => !project.deleted && project.version > version)
  }

  async standingOf({ keyId, project }: Omit<WorkOwner, 'player'>): Promise<StoredStanding> {
    const key = this.#keys.get(keyId)
    const ended = key?.isLeaked ? 'leaked' : key?.revokedAtMs === undefined ? 'living' : 'revoked'
    return {
      key: key === undefined ? 'missing' : ended,
      isProjectDeleted: this.#projects.get(project)?.deleted ?? false,
    }
  }

  async findKey(digests: readonly string[]): Promise<KeyRecord | undefined> {
    const key = this.#ownerOf(digests)
    return key && this.#record(key)
  }

  async renewDigest(digest: string, renewed: { readonly digest: string; readonly pepper: string }) {
    const key = this.#ownerOf([digest])
    if (key === undefined || this.#ownerOf([renewed.digest])) return
    const secrets = key.secrets.map((secret) =>
      secret.digest === digest ? { ...secret, ...renewed } : secret,
    )
    this.#keys.set(key.id, { ...key, secrets })
  }

  async markDeclaredUsed(uses: readonly KeyUse[]): Promise<void> {
    for (const { keyId, atMs } of uses) {
      const { firstAtMs = atMs, lastAtMs = 0 } = this.#declaredUses.get(keyId) ?? {}
      this.#declaredUses.set(keyId, { firstAtMs, lastAtMs: Math.max(atMs, lastAtMs) })
    }
  }

  async declaredUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyUses>> {
    return new Map([...this.#declaredUses].filter(([id]) => keyIds.includes(id)))
  }

  async markUsed(uses: readonly KeyUse[]): Promise<void> {
    for (const { keyId, atMs } of uses) {
      const key = this.#keys.get(keyId)
      if (key)
        this.#keys.set(keyId, {
          ...key,
          firstUsedAtMs: key.firstUsedAtMs ?? atMs,
          lastUsedAtMs: Math.max(atMs, key.lastUsedAtMs ?? 0),
        })
    }
  }

  async listKeys(page: KeyPage): Promise<readonly KeyRecord[]> {
    const { order = 'id', after, limit, state, ids, ...filter } = page
    const place = (key: StoredKey): KeyPlace => ({ rank: rankIn(order, key), id: key.id })
    const isIn = (key: StoredKey): boolean =>
      state === undefined || statesOf(key, state.nowMs, state.pepper).includes(state.is)
    return this.#filtered(filter)
      .filter((key) => (after === undefined || isBehind(place(key), after)) && isIn(key))
      .filter((key) => ids?.includes(key.id) ?? true)
      .sort((a, b) => (isBehind(place(b), place(a)) ? -1 : 1))
      .slice(0, limit)
      .map((key) => this.#record(key))
  }

  async countKeys({ nowMs, pepper, ...filter }: KeyFilter & KeyMoment): Promise<Record<KeyState, number>> {
    const states = this.#filtered(filter).flatMap((key) => statesOf(key, nowMs, pepper))
    const count = (state: KeyState): number => states.filter((one) => one === state).length
    return {
      active: count('active'),
      ending: count('ending'),
      tidy: count('tidy'),
      revoked: count('revoked'),
    }
  }

  async countByProject(projects: readonly string[], nowMs: number): Promise<ReadonlyMap<string, number>> {
    const working = this.#filtered({ projects }).filter((key) => !hasEnded(key, nowMs))
    return new Map(projects.map((name) => [name, working.filter(({ project }) => project === name).length]))
  }

  #filtered({ projects, text = '' }: KeyFilter): StoredKey[] {
    const part = text.toLowerCase()
    return [...this.#keys.values()].filter(
      ({ id, project, secrets }) =>
        (projects?.includes(project) ?? true) &&
        (id.toLowerCase().includes(part) || secrets.some(({ tail }) => tail.endsWith(text))),
    )
  }

  async listProjects({ projects, after = '', limit }: ProjectPage): Promise<readonly ProjectRecord[]> {
    return [...this.#projects.values()]
      .filter(({ name, deleted }) => name > after && !deleted && (projects?.includes(name) ?? true))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, limit)
  }

  async createKey(key: NewKey, actor: Actor): Promise<KeyRecord> {
    const { project, name, secret } = key
    const id = `${project}/${name}`
    if (this.#projects.get(project)?.deleted) throw refusal.deleted(project)
    if (key.needsProject && !this.#projects.has(project)) throw refusal.noProject(project)
    if (this.#keys.has(id)) throw refusal.keyExists(id)
    this.#refuseTaken(secret)
    this.#version += 1n
    if (!this.#projects.has(project)) this.#addProject(project, {}, actor)
    const createdAtMs = this.#clock.nowMs()
    const terms = changedKey(key)
    this.#keys.set(id, {
      id,
      project,
      name,
      ...terms,
      revokedAtMs: undefined,
      firstUsedAtMs: undefined,
      lastUsedAtMs: undefined,
      createdAtMs,
      secrets: [{ ...secret, validUntilMs: undefined, createdAtMs }],
      version: this.#version,
    })
    const detail = { ...keyDetail(terms), secret: secret.tail }
    this.#audit.write({ actor, action: 'key.create', target: id, detail })
    return this.#record(this.#key(id))
  }

  async setKey(
    id: string,
    change: KeyChange,
    actor: Actor,
    check?: (before: KeyRecord) => void,
  ): Promise<KeyRecord> {
    const before = this.#livingKey(id)
    check?.(this.#record(before))
    const after = changedKey(change, before)
    this.#putKey({ ...before, ...after })
    this.#audit.write({
      actor,
      action: 'key.set',
      target: id,
      detail: { before: keyDetail(before), after: keyDetail(after) },
    })
    return this.#record(this.#key(id))
  }

  async rotateKey(id: string, secret: NewSecret, overlapMs: number, actor: Actor): Promise<KeyRecord> {
    const key = this.#livingKey(id)
    this.#refuseTaken(secret)
    const nowMs = this.#clock.nowMs()
    const endMs = nowMs + overlapMs
    const older = key.secrets
      .map((old) => ({ ...old, validUntilMs: Math.min(old.validUntilMs ?? endMs, endMs) }))
      .filter(({ validUntilMs }) => validUntilMs > nowMs)
    this.#putKey({
      ...key,
      secrets: [{ ...secret, validUntilMs: undefined, createdAtMs: nowMs }, ...older],
    })
    this.#audit.write({
      actor,
      action: 'key.rotate',
      target: id,
      detail: { secret: secret.tail, before: key.secrets[0]?.tail ?? null, overlapMs },
    })
    return this.#record(this.#key(id))
  }

  async endOverlap(id: string, actor: Actor): Promise<KeyRecord> {
    const key = this.#livingKey(id)
    const [newest, ...older] = key.secrets
    if (newest === undefined || older.length === 0) return this.#record(key)
    this.#putKey({ ...key, secrets: [newest] })
    const detail = { ended: older.map(({ tail }) => tail) }
    this.#audit.write({ actor, action: 'key.end_overlap', target: id, detail })
    return this.#record(this.#key(id))
  }

  async revokeKey(id: string, actor: Actor, isLeaked = false): Promise<KeyRecord> {
    const key = this.#key(id)
    if (key.revokedAtMs === undefined || (isLeaked && !key.isLeaked)) {
      this.#putKey({ ...key, revokedAtMs: key.revokedAtMs ?? this.#clock.nowMs(), isLeaked })
      const detail = isLeaked ? { leaked: true } : {}
      this.#audit.write({ actor, action: 'key.revoke', target: id, detail })
    }
    return this.#record(this.#key(id))
  }

  async createProject(name: string, change: TermsChange, actor: Actor): Promise<ProjectRecord> {
    const before = this.#projects.get(name)
    if (before?.deleted) throw refusal.deleted(name)
    if (before) throw refusal.projectExists(name)
    this.#version += 1n
    return this.#addProject(name, change, actor)
  }

  async setProject(name: string, change: TermsChange, actor: Actor): Promise<ProjectRecord> {
    const before = this.#livingProject(name)
    const after = changedTerms(change, before)
    this.#version += 1n
    const project = { ...before, ...after, version: this.#version }
    this.#projects.set(name, project)
    this.#audit.write({
      actor,
      action: 'project.set',
      target: name,
      detail: { before: termsDetail(before), after: termsDetail(after) },
    })
    return project
  }

  async deleteProject(name: string, actor: Actor): Promise<void> {
    const project = this.#livingProject(name)
    this.#version += 1n
    this.#projects.set(name, { ...project, deleted: true, version: this.#version })
    const keys = [...this.#keys.values()].filter(
      (key) => key.project === name && key.revokedAtMs === undefined,
    )
    for (const key of keys) {
      this.#keys.set(key.id, { ...key, revokedAtMs: this.#clock.nowMs(), version: this.#version })
    }
    this.#audit.write({ actor, action: 'project.delete', target: name, detail: { keys: keys.length } })
  }

  #addProject(name: string, change: TermsChange, actor: Actor): StoredProject {
    const terms = changedTerms(change)
    const createdAtMs = this.#clock.nowMs()
    const project = { name, ...terms, createdAtMs, version: this.#version, deleted: false }
    this.#projects.set(name, project)
    this.#audit.write({ actor, action: 'project.create', target: name, detail: termsDetail(terms) })
    return project
  }

  #putKey(key: StoredKey): void {
    this.#version += 1n
    this.#keys.set(key.id, { ...key, version: this.#version })
  }

  #record(key: StoredKey): KeyRecord {
    const { limits, budget, version } = this.#projects.get(key.project) as StoredProject
    return {
      ...key,
      projectTerms: { limits, budget },
      version: version > key.version ? version : key.version,
    }
  }

  #ownerOf(digests: readonly string[]): StoredKey | undefined {
    return this.#keys.values().find((key) => key.secrets.some(({ digest }) => digests.includes(digest)))
  }

  #refuseTaken({ digest }: NewSecret): void {
    if (this.#ownerOf([digest])) throw refusal.secretTaken()
  }

  #key(id: string): StoredKey {
    const key = this.#keys.get(id)
    if (key === undefined) throw refusal.noKey(id)
    return key
  }

  #livingKey(id: string): StoredKey {
    const key = this.#key(id)
    if (key.revokedAtMs !== undefined) throw refusal.revoked(id)
    return key
  }

  #livingProject(name: string): StoredProject {
    const project = this.#projects.get(name)
    if (project === undefined) throw refusal.noProject(name)
    if (project.deleted) throw refusal.deleted(name)
    return project
  }
}

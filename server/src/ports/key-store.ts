import type { KeyState } from '#core/keys/key-hygiene.ts'
import type { KeyOrder, KeyPlace } from '#core/keys/key-order.ts'
import type { Actor } from './audit.ts'
import type { WorkOwner } from './keys.ts'
import type { ConfiguredBudget, ConfiguredLimits } from '#core/catalog/catalog.ts'
import type { ConfiguredBounds, KeyScope } from '#core/catalog/key-bounds.ts'

/** Makes keyed digests of secrets. Its id identifies the node's secret from which it was derived, the same on all nodes. */
export interface Pepper {
  readonly id: string
  /** 32 bytes in base64. */
  readonly digestOf: (secret: string) => string
}

/** During a rotation of the node's secret, digests of the previous one are still accepted. */
export interface Peppers {
  readonly current: Pepper
  readonly previous: Pepper | undefined
}

/** What a project or a key is bound by. */
export interface Terms {
  readonly limits: ConfiguredLimits
  readonly budget: ConfiguredBudget | undefined
}

/** A secret as stores see it. The secret itself never gets here. */
export interface SecretRecord {
  readonly digest: string
  /** The id of the pepper that made the digest. */
  readonly pepper: string
  /** Its last characters, enough for a person to recognise it. */
  readonly tail: string
  /** The end of the overlap after a rotation. Undefined: valid as long as the key. */
  readonly validUntilMs: number | undefined
  readonly createdAtMs: number
}

export interface KeyRecord extends Terms, ConfiguredBounds {
  /** `<project>/<name>`. */
  readonly id: string
  readonly project: string
  readonly name: string
  /** Undefined: all. */
  readonly models: readonly string[] | undefined
  readonly expiresAtMs: number | undefined
  readonly revokedAtMs: number | undefined
  /** It was revoked because a stranger may have its secret. */
  readonly isLeaked?: boolean | undefined
  readonly firstUsedAtMs?: number | undefined
  readonly lastUsedAtMs: number | undefined
  readonly createdAtMs: number
  readonly projectTerms: Terms
  /** Newest first. */
  readonly secrets: readonly SecretRecord[]
  /** The version of the directory in which the key or its project last changed. */
  readonly version: bigint
}

export interface ProjectRecord extends Terms {
  readonly name: string
  readonly createdAtMs: number
  /** The version of the directory in which it last changed. */
  readonly version: bigint
}

/**
 * The keys as a node reads them. Every method rejects with `StoreUnreachable` when the store can't be reached, and never answers
 * "there is none" for that reason.
 */
export interface KeySource {
  /**
   * Grows with every change of projects, keys and credentials, in the same step as the change: a reader of a version sees
   * every change that made it. It shrinks only when the store was restored to an earlier state.
   */
  directoryVersion(): Promise<bigint>
  /**
   * A random mark that the directory got with this version, and no other version of any store has. A copy with another mark
   * is of another store, or of this one before it was restored. Undefined for versions that never were or are long past.
   */
  markOf(version: bigint): Promise<string | undefined>
  /**
   * Every key that changed after a version, in its current state; without a version, every key that is not revoked. They
   * come in pages that take a few milliseconds each. A key that changes during the read may come old or new: its version is
   * larger than the one read before, so it comes again. A change of a project brings no key: it may have a million.
   */
  keysChangedSince(version: bigint | undefined): AsyncIterable<readonly KeyRecord[]>
  /** The same for projects, without deleted ones. */
  projectsChangedSince(version: bigint | undefined): AsyncIterable<readonly ProjectRecord[]>
  /** The key that one of these digests opens, in any state. */
  findKey(digests: readonly string[]): Promise<KeyRecord | undefined>
  /** The state of a key and of its project. */
  standingOf(owner: Omit<WorkOwner, 'player'>): Promise<StoredStanding>
  /** Replaces an older digest by one made with the current pepper. Has no effect when the old one is gone, or the new one exists. */
  renewDigest(digest: string, renewed: { readonly digest: string; readonly pepper: string }): Promise<void>
  /** Records when keys were last used, for people: accurate to a minute, and no change of the directory. */
  markUsed(uses: readonly KeyUse[]): Promise<void>
  /** The same for keys of the configuration, of which the store holds nothing else. */
  markDeclaredUsed(uses: readonly KeyUse[]): Promise<void>
}

export interface StoredStanding {
  /** `missing`: the store has no key of this id. */
  readonly key: 'living' | 'revoked' | 'leaked' | 'missing'
  readonly isProjectDeleted: boolean
}

export interface KeyUse {
  readonly keyId: string
  readonly atMs: number
}

/** When a key was first and last used, accurate to a minute. */
export interface KeyUses {
  readonly firstAtMs: number
  readonly lastAtMs: number
}

/** An absent field stays unchanged; null removes it. */
export interface TermsChange {
  readonly limits?: { readonly [Field in keyof ConfiguredLimits]?: number | null | undefined } | undefined
  readonly budget?: ConfiguredBudget | null | undefined
}

export interface KeyChange extends TermsChange {
  readonly models?: readonly string[] | null | undefined
  readonly expiresAtMs?: number | null | undefined
  readonly scopes?: readonly KeyScope[] | null | undefined
  readonly maxCallsAtOnce?: number | null | undefined
  readonly addresses?: readonly string[] | null | undefined
}

export type NewSecret = Pick<SecretRecord, 'digest' | 'pepper' | 'tail'>

export interface NewKey extends KeyChange {
  readonly project: string
  /** The project must exist: the caller may not create one. */
  readonly needsProject?: boolean | undefined
  readonly name: string
  readonly secret: NewSecret
}

/** Every given field must match. */
export interface KeyFilter {
  /** Only keys of these. Undefined: of all. */
  readonly projects?: readonly string[] | undefined
  /** A part of the id, in any case of letters, or the last characters of a secret. */
  readonly text?: string | undefined
}

/** The moment and the pepper by which keys fall into lists, see `core/keys/key-hygiene.ts`. */
export interface KeyMoment {
  readonly nowMs: number
  /** The id of the current pepper. */
  readonly pepper: string
}

export interface KeyPage extends KeyFilter {
  /** Only these. */
  readonly ids?: readonly string[] | undefined
  readonly state?: ({ readonly is: KeyState } & KeyMoment) | undefined
  /** Default: by id. */
  readonly order?: KeyOrder | undefined
  /** The place of the last key of the page before, in this order. */
  readonly after?: KeyPlace | undefined
  readonly limit: number
}

export interface ProjectPage {
  /** Only these. Undefined: all. */
  readonly projects?: readonly string[] | undefined
  /** The name of the last project of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

/**
 * Why a change was not made. `missing`: it does not exist. `deleted`: its project is being deleted. `in-use`: something
 * else needs it. `full`: the maximum is reached.
 */
export type RefusalReason =
  | 'missing'
  | 'exists'
  | 'revoked'
  | 'deleted'
  | 'secret-taken'
  | 'last-admin'
  | 'ruled'
  | 'in-use'
  | 'full'

export class ChangeRefused extends Error {
  override readonly name = 'ChangeRefused'
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * The keys as people change them. Each change is one step with its audit entry and the next version of the directory: all
 * three happen or none. A change that can't be made rejects with `ChangeRefused`. After a `StoreUnreachable` the change may or may
 * not have been made; repeating it is safe, but what the first call created may then be refused as `exists`.
 */
export interface KeyStore extends KeySource {
  /** Uses of these keys of the configuration, by id. Keys that were never used are left out. */
  declaredUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyUses>>
  listKeys(page: KeyPage): Promise<readonly KeyRecord[]>
  /** Number of keys in each list. */
  countKeys(filter: KeyFilter & KeyMoment): Promise<Readonly<Record<KeyState, number>>>
  /** Number of working keys of each of these projects, by name. */
  countByProject(projects: readonly string[], nowMs: number): Promise<ReadonlyMap<string, number>>
  /** By name, without those deleted. */
  listProjects(page: ProjectPage): Promise<readonly ProjectRecord[]>
  /**
   * Creates the key, and its project if it does not exist, unless `needsProject`. An id is never used again, because the
   * ledger holds it.
   */
  createKey(key: NewKey, actor: Actor): Promise<KeyRecord>
  /** `check` receives the key as the change finds it, and throws to prevent the change. */
  setKey(id: string, change: KeyChange, actor: Actor, check?: (before: KeyRecord) => void): Promise<KeyRecord>
  /** Gives the key a new secret; earlier ones end after the overlap, or at their own earlier end. */
  rotateKey(id: string, secret: NewSecret, overlapMs: number, actor: Actor): Promise<KeyRecord>
  /** Ends the overlap of a rotation: only the newest secret still works. Has no effect when there is no other. */
  endOverlap(id: string, actor: Actor): Promise<KeyRecord>
  /**
   * Ends a key for good. `isLeaked`: a stranger may have its secret, so what it began is cancelled too. Revoking it again changes
   * nothing, except that a key which was revoked before can still be called leaked.
   */
  revokeKey(id: string, actor: Actor, isLeaked?: boolean): Promise<KeyRecord>
  createProject(name: string, change: TermsChange, actor: Actor): Promise<ProjectRecord>
  setProject(name: string, change: TermsChange, actor: Actor): Promise<ProjectRecord>
  /** Revokes all keys of the project and marks its data for deletion. Its name can't be used until the data is gone. */
  deleteProject(name: string, actor: Actor): Promise<void>
}

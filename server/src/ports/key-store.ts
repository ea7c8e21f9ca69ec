import type { KeyState } from '#core/key-hygiene.ts'
import type { KeyOrder, KeyPlace } from '#core/key-order.ts'
import type { Actor } from './audit.ts'
import type { WorkOwner } from './keys.ts'
import type { ConfiguredBudget, ConfiguredLimits } from '#core/catalog.ts'
import type { ConfiguredBounds, KeyScope } from '#core/key-bounds.ts'

/** Makes keyed digests of secrets. Which secret of the node it was derived from is told by its id, the same on all nodes. */
export interface Pepper {
  readonly id: string
  /** 32 bytes in base64. */
  readonly digestOf: (secret: string) => string
}

/** While the node's secret is rotated, digests of the previous one are still accepted. */
export interface Peppers {
  readonly current: Pepper
  readonly previous: Pepper | undefined
}

/** What a project or a key is bound by. */
export interface Terms {
  readonly limits: ConfiguredLimits
  readonly budget: ConfiguredBudget | undefined
}

/** A secret as stores see it. What callers present never gets here. */
export interface SecretRecord {
  readonly digest: string
  /** The id of the pepper that made the digest. */
  readonly pepper: string
  /** Its last characters, enough for a person to recognise it. */
  readonly tail: string
  /** The end of the overlap after a rotation; undefined: as long as the key itself. */
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
}

/**
 * The keys as a node reads them. Every method rejects with `StoreAway` when the store can't be reached, and never answers
 * "there is none" for that reason.
 */
export interface KeySource {
  /**
   * Grows with every change of projects, keys and credentials, in the same step as the change: whoever reads a version sees
   * everything that made it. It shrinks only when the store was put back to an earlier state.
   */
  directoryVersion(): Promise<bigint>
  /**
   * Every key that changed after a version, in whatever state it is now; without a version, every key that is not revoked.
   * They come in portions that are handled in a few milliseconds each. What changes meanwhile may come old or new: its own
   * version is larger than the one read before, so that it comes again.
   */
  keysChangedSince(version: bigint | undefined): AsyncIterable<readonly KeyRecord[]>
  /**
   * The same for projects, without those deleted. The terms of a project come with each of its keys too, but it may have
   * none, and members play in it all the same.
   */
  projectsChangedSince(version: bigint | undefined): AsyncIterable<readonly ProjectRecord[]>
  /** The key that one of these digests opens, in whatever state it is. */
  findKey(digests: readonly string[]): Promise<KeyRecord | undefined>
  /** What became of a key and of its project. */
  standingOf(owner: WorkOwner): Promise<StoredStanding>
  /**
   * Puts a digest made with the current pepper in the place of an older one. Nothing happens when that is gone already, or
   * the new one is there.
   */
  renewDigest(digest: string, renewed: { readonly digest: string; readonly pepper: string }): Promise<void>
  /** Notes when keys were last used. Meant for people: within a minute of the truth, no change of the directory. */
  markUsed(uses: readonly KeyUse[]): Promise<void>
  /** The same for keys of the configuration, which the store does not hold otherwise. */
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

/** An absent field stays; null takes it away. */
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
  /** The project has to exist: the caller may not create one. */
  readonly needsProject?: boolean | undefined
  readonly name: string
  readonly secret: NewSecret
}

/** Every field that is given has to be met. */
export interface KeyFilter {
  /** Only keys of these. Undefined: of all. */
  readonly projects?: readonly string[] | undefined
  /** A part of the id, in any case of letters, or the last characters of a secret. */
  readonly text?: string | undefined
}

/** What the lists of keys are told apart by, see `core/key-hygiene.ts`. */
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
 * Why a change was not made. `missing`: there is no such thing. `deleted`: its project is being deleted. `in-use`: something
 * else needs it. `full`: there may be no more.
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
 * three happen or none. A change that can't be made rejects with `ChangeRefused`. After a `StoreAway` it may or may not have
 * been made; asking again is safe, but what was made the first time may then be refused as `exists`.
 */
export interface KeyStore extends KeySource {
  /** Of these keys of the configuration, by id. Those that were never used are left out. */
  declaredUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyUses>>
  listKeys(page: KeyPage): Promise<readonly KeyRecord[]>
  /** How many keys each list has. */
  countKeys(filter: KeyFilter & KeyMoment): Promise<Readonly<Record<KeyState, number>>>
  /** How many working keys each of these projects has, by name. */
  countByProject(projects: readonly string[], nowMs: number): Promise<ReadonlyMap<string, number>>
  /** By name, without those deleted. */
  listProjects(page: ProjectPage): Promise<readonly ProjectRecord[]>
  /**
   * Creates the key, and its project if there is none, unless the key needs one. An id is never used again, because the ledger
   * holds it.
   */
  createKey(key: NewKey, actor: Actor): Promise<KeyRecord>
  /** `check` sees the key as the change finds it, and throws to prevent the change. */
  setKey(id: string, change: KeyChange, actor: Actor, check?: (before: KeyRecord) => void): Promise<KeyRecord>
  /** Gives the key a new secret; those before end after the overlap, or at their own earlier end. */
  rotateKey(id: string, secret: NewSecret, overlapMs: number, actor: Actor): Promise<KeyRecord>
  /** Ends the overlap of a rotation: only the newest secret works on. Without effect when there is no other. */
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

/** A copy of the directory on the node's own disk, for a start while the store is away. Holds digests, never secrets. */
export interface SnapshotFile {
  /** Undefined when there is none. Rejects when it was not written by a node with the same secret, or was changed since. */
  read(): Promise<KeySnapshotContent | undefined>
  /** Puts the new copy in place of the old one in one step. */
  write(content: KeySnapshotContent): Promise<void>
}

export interface KeySnapshotContent {
  /** When the store last said that this is all, in Unix milliseconds. */
  readonly verifiedAtMs: number
  readonly keys: Iterable<KeyRecord>
}

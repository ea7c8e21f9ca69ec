/** A copy of the directory of keys on the node's own disk. It holds digests, never secrets. */
import type { KeyRecord, ProjectRecord } from './key-store.ts'

/** What a request needs of a stored key. */
export type HeldKey = Pick<
  KeyRecord,
  | 'id'
  | 'project'
  | 'name'
  | 'models'
  | 'expiresAtMs'
  | 'limits'
  | 'budget'
  | 'scopes'
  | 'maxCallsAtOnce'
  | 'addresses'
  | 'version'
>

export type HeldProject = Omit<ProjectRecord, 'createdAtMs'>

/** A state that the directory was in. */
export interface DirectoryState {
  readonly version: bigint
  /** Two histories never have the same mark: those of two stores, or of one that was restored to an earlier state. */
  readonly mark: string
  /** Unix milliseconds at which the store last confirmed this state as its newest. */
  readonly verifiedAtMs: number
}

/** Keys and projects that changed, each in its newest state. */
export interface DirectoryChanges {
  /** Also revoked keys. */
  readonly keys: Iterable<KeyRecord>
  readonly projects: Iterable<HeldProject>
}

/**
 * The living keys and the projects of one state, packed and sorted. The processes of a machine read the same file, so the
 * system holds it in memory once. A look-up takes a few microseconds and waits for nothing.
 */
export interface PackedKeys {
  readonly state: DirectoryState
  /** Number of keys. */
  readonly size: number
  find(digest: string): { readonly key: HeldKey; readonly validUntilMs: number | undefined } | undefined
  keyOfId(id: string): HeldKey | undefined
  projectOf(name: string): HeldProject | undefined
  /** No look-up may follow. */
  close(): void
}

/** The whole directory as the store has it, readable more than once. */
export interface DirectoryPages {
  readonly projects: () => AsyncIterable<readonly HeldProject[]>
  readonly keys: () => AsyncIterable<readonly KeyRecord[]>
}

export interface KeyFile {
  /**
   * The copy on disk, and the changes that were logged since it was packed. Undefined when there is none. Rejects with the
   * reason when it cannot be trusted: it is damaged, or a node with another secret wrote it.
   */
  open(): Promise<OpenedKeys | undefined>
  /**
   * Packs what the store has, and replaces the copy on disk. Records may be newer than the state: they come again with the
   * next changes. A disk that can't be written is reported, and the keys are packed in memory instead.
   */
  pack(state: DirectoryState, pages: DirectoryPages): Promise<PackedKeys>
  /**
   * Writes to the log what changed since `packed`, or packs it when the log is large. What another process of the machine has
   * written already is not written again. Returns the copy to use from now on if it is another one.
   */
  save(packed: PackedKeys, state: DirectoryState, changes: DirectoryChanges): Promise<PackedKeys | undefined>
}

export interface OpenedKeys {
  readonly packed: PackedKeys
  /** The state with the changes. */
  readonly state: DirectoryState
  readonly changes: DirectoryChanges
}

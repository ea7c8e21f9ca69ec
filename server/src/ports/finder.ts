/** Finds what an id stands for that somebody pasted. */

export interface FoundRow {
  readonly type: 'request' | 'batch' | 'call' | 'asset' | 'node' | 'member' | 'audit'
  /** What its page is opened by: a request's id for calls and assets too. */
  readonly id: string
  readonly title: string
  readonly note: string
  /** Undefined: it belongs to none. */
  readonly project: string | undefined
}

/** Over the connections for reports. Rejects with `StoreAway` when the store can't be reached. */
export interface Finder {
  /** By a whole UUID: a request, a call, a node. */
  byId(id: string): Promise<readonly FoundRow[]>
  batch(id: string): Promise<FoundRow | undefined>
  /** By a part of a name or a mail address. */
  members(text: string, limit: number): Promise<readonly FoundRow[]>
  auditEntry(sequence: bigint): Promise<FoundRow | undefined>
}

/** Notes for people. They never repeat what a caller sent. */
export interface EntryRemarks {
  /** The request in words, such as `1 image, 1024×1024`. */
  readonly what?: string | undefined
  /** On an unknown: why its outcome is unknown. On its resolution: the reason for it. */
  readonly reason?: string | undefined
  /** Who resolved it. */
  readonly by?: string | undefined
  /** On a post: the tokens that the upstream counted, where fewer are charged. */
  readonly reportedTokens?: number | undefined
  /** On a post: `upstream` where the amount is the upstream's own figure. Absent: it follows from the price. */
  readonly costBy?: 'upstream' | undefined
  /** On a post: the cost that the upstream reported, where less is charged. Whole nano-dollars, as text. */
  readonly reportedNanoUsd?: string | undefined
  /**
   * On an answer from the cache: its vectors that were made after the last good check of their deployment. If the next check is bad,
   * they are suspect.
   */
  readonly unconfirmed?: readonly UnconfirmedVectors[] | undefined
}

export interface UnconfirmedVectors {
  readonly deployment: string
  /** Unix milliseconds of the first and the last. */
  readonly fromMs: number
  readonly untilMs: number
  readonly vectors: number
}

/** The names of two remarks in ledgers and spools, which keep those that their first version gave them. */
const STORED_NAMES: Readonly<Record<string, string>> = {
  reportedTokens: 'toldTokens',
  reportedNanoUsd: 'toldNanoUsd',
}
const NAMES = Object.fromEntries(Object.entries(STORED_NAMES).map(([name, stored]) => [stored, name]))

/** Remarks as a ledger or a spool stores them. */
export type StoredRemarks = Readonly<Record<string, unknown>>

export function storedRemarks(remarks: EntryRemarks): StoredRemarks {
  return renamed(remarks, STORED_NAMES)
}

export function remarksFrom(stored: StoredRemarks): EntryRemarks {
  return renamed(stored, NAMES)
}

function renamed(remarks: object, names: Readonly<Record<string, string>>): StoredRemarks {
  return Object.fromEntries(Object.entries(remarks).map(([name, value]) => [names[name] ?? name, value]))
}

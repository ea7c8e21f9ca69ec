/** Restrictions of a key beside its models: kinds of requests, parallel requests, and client addresses. */

export const KEY_SCOPES = ['embeddings', 'images', 'edits'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** Each absent: no such bound. */
export interface ConfiguredBounds {
  readonly scopes?: readonly KeyScope[] | undefined
  /** Parallel requests, on all nodes together. */
  readonly maxCallsAtOnce?: number | undefined
  /** Addresses and networks from which it may be used: `192.0.2.7`, `10.0.0.0/8`. */
  readonly addresses?: readonly string[] | undefined
}

/** The same, in the form that requests are checked against. */
export interface KeyBounds {
  readonly scopes: ReadonlySet<KeyScope> | undefined
  readonly maxCallsAtOnce: number | undefined
  readonly addresses: readonly string[] | undefined
}

/** Undefined for a key without any, as most are: then nothing is checked. */
export function boundsOf({ scopes, maxCallsAtOnce, addresses }: ConfiguredBounds): KeyBounds | undefined {
  if (scopes === undefined && maxCallsAtOnce === undefined && addresses === undefined) return undefined
  return { scopes: scopes && new Set(scopes), maxCallsAtOnce, addresses }
}

/** Parallel calls on one node. The nodes together never exceed the bound, unless there are more nodes than that. */
export function shareOfCalls(maxCallsAtOnce: number, liveNodes: number): number {
  return Math.max(1, Math.floor(maxCallsAtOnce / Math.max(1, liveNodes)))
}

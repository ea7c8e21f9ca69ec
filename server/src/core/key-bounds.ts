/** What a key is good for beside its models: kinds of requests, how many at once, and from where. */

export const KEY_SCOPES = ['embeddings', 'images', 'edits'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** Each absent: no such bound. */
export interface ConfiguredBounds {
  readonly scopes?: readonly KeyScope[] | undefined
  /** Requests under way at once, on all nodes together. */
  readonly maxCallsAtOnce?: number | undefined
  /** Addresses and networks that it may be used from: `192.0.2.7`, `10.0.0.0/8`. */
  readonly addresses?: readonly string[] | undefined
}

/** The same as a request is held against it. */
export interface KeyBounds {
  readonly scopes: ReadonlySet<KeyScope> | undefined
  readonly maxCallsAtOnce: number | undefined
  readonly addresses: readonly string[] | undefined
}

/** Undefined for a key without any, as most are: then nothing is looked at. */
export function boundsOf({ scopes, maxCallsAtOnce, addresses }: ConfiguredBounds): KeyBounds | undefined {
  if (scopes === undefined && maxCallsAtOnce === undefined && addresses === undefined) return undefined
  return { scopes: scopes && new Set(scopes), maxCallsAtOnce, addresses }
}

/** What one node lets through at once. The nodes together never exceed the bound, unless there are more nodes than that. */
export function shareOfCalls(maxCallsAtOnce: number, liveNodes: number): number {
  return Math.max(1, Math.floor(maxCallsAtOnce / Math.max(1, liveNodes)))
}

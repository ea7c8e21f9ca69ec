/** Time and identity, as arguments so that tests can control them. */
export interface Clock {
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Milliseconds that only go forward, for durations. */
  readonly monotonicMs: () => number
}

export interface Identifiers {
  /** A UUIDv7: sorts by time. */
  next(): string
}

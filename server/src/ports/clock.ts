/** Time and identity, as arguments so that tests can control them. */
export interface Clock {
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Milliseconds that only go forward, for durations. */
  readonly monotonicMs: () => number
}

/**
 * The clock of a node. Once the store has said its time, it is the store's, carried on by the monotonic clock: the machine's own
 * may be wrong, or jump. Until then it is the machine's.
 */
export interface NodeClock extends Clock {
  /** Lead of this machine's clock over the store's. Undefined: the store has not said its time yet. */
  readonly skewMs: () => number | undefined
  /** The store's clock showed `storeMs` at a moment between `askedMs`, which is monotonic, and now. */
  readonly follow: (storeMs: number, askedMs: number) => void
  /** How long the store's clock has run without a jump, as far as this process has watched it. 0: it has not. */
  readonly steadyMs: () => number
}

/** The clock of the store: it decides what is old among the things that nodes share. */
export interface StoreClock extends Pick<Clock, 'monotonicMs'> {
  /** Unix milliseconds. Rejects like every statement. */
  readonly storeMs: () => Promise<number>
}

export interface Identifiers {
  /** A UUIDv7: sorts by time. */
  next(): string
}

/** Receivers of the audit outside of Torana, and how much each of them has. */
import type { AuditEntry } from './audit.ts'

/** An entry as receivers get it. By `previousHash` and the sequence, a receiver sees that nothing is missing. */
export interface SentEntry extends AuditEntry {
  /** The `hash` of the entry before. Undefined for the first entry. */
  readonly previousHash: string | undefined
}

/** A receiver that this node is to send to now. */
export interface HeldReceiver {
  readonly id: string
  /** The sequence of the newest entry that it has; 0: none. */
  readonly sentThrough: bigint
  /** Failures in a row. */
  readonly failures: number
  /** The number of this hold. A node whose hold has passed to another records nothing. */
  readonly hold: bigint
  /**
   * The audit no longer has the newest entry that this receiver got: it was cut or changed. The receiver gets all entries again,
   * so that it can compare them.
   */
  readonly isStartedOver: boolean
}

export interface ReceiverState {
  readonly id: string
  /** Entries that it does not have yet. */
  readonly unsent: number
  /** When the first of them was written. Undefined: it has them all. */
  readonly unsentSinceMs: number | undefined
  /** Why the last try failed. Undefined: it did not. */
  readonly problem: string | undefined
}

/** Age of an entry that a receiver should have: a few tries of one that restarts. */
export const RECEIVER_BEHIND_MS = 300_000
/** Age from which a person has to act: a receiver that is only restarted is back by then. */
export const RECEIVER_FAR_BEHIND_MS = 3_600_000

/** The result of a hold. */
export interface AfterHold {
  /** The newest entry that the receiver took. Undefined: none. */
  readonly sent: Pick<SentEntry, 'sequence' | 'hash'> | undefined
  /** Undefined: nothing failed. */
  readonly failure: { readonly problem: string; readonly retryInMs: number } | undefined
}

/**
 * The audit itself is the queue: the store keeps for each receiver the newest entry that it took, and a receiver that it does not
 * know starts with the first entry. One node at a time sends to a receiver, in the order of the entries. Entries are sent at least
 * once: a node that dies between sending and recording leaves the rest to another. Methods reject with `StoreUnreachable`.
 */
export interface AuditReceivers {
  /** Takes those of `receivers` that lack entries, are not held and need not wait; at most `limit`. */
  due(
    receivers: readonly { readonly id: string; readonly holdMs: number }[],
    limit: number,
  ): Promise<readonly HeldReceiver[]>
  /** The first entries that the receiver lacks, in order. */
  unsent(held: HeldReceiver, limit: number): Promise<readonly SentEntry[]>
  /** Records a hold, and gives the receiver back. */
  tried(held: HeldReceiver, after: AfterHold): Promise<void>
  /** In the order of `receivers`. */
  states(receivers: readonly string[]): Promise<readonly ReceiverState[]>
}

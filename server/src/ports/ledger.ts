import type { NodeRole } from '#core/node-role.ts'
import type { Actor } from './audit.ts'
import type { LedgerEntry } from '#core/ledger.ts'
import type { NodeSetup } from './node-setup.ts'

/**
 * The books as a request sees them. A call is begun before it is sent and ended by an entry, so that a call which no entry
 * ever ended is known, and becomes an `unknown` entry when the process that began it has died.
 */
export interface Ledger {
  /**
   * Notes that a call is about to be sent. The entry is what will stand in the books if nothing more is ever heard of it: an
   * `unknown` with the reserved amount. Resolves once the note survives the death of this process; only then may the call
   * be sent. Undefined: it may be sent at once.
   */
  begin(open: LedgerEntry): Promise<void> | undefined
  /** Forgets a begun call that was provably not sent, or that the upstream provably did not charge. */
  forget(requestId: string, attempt: number): void
  /**
   * Writes entries, which end the calls they are about. Resolves once they are durable: committed, or fsynced on this node
   * while the store is away. Rejects when they are neither; then no result may leave, and the entries of begun calls are written
   * once they can be: `writtenLate` is called then. Undefined: they are written already.
   */
  write(entries: readonly LedgerEntry[], writtenLate?: () => void): Promise<void> | undefined
}

/** What is known of a call that a dead node had begun and that no entry ended. */
export type OpenCall = LedgerEntry

/** An entry whose outcome nobody knows yet, for people. */
export interface Unknown extends LedgerEntry {
  readonly writtenAtMs: number
}

/** The node was ended by somebody who had reason to think it dead. Nothing more is taken in its name. */
export class NodeEnded extends Error {
  override readonly name = 'NodeEnded'
}

export interface StartedNode {
  readonly id: string
  readonly host: string
  readonly version: string
  /** `all` unless given. */
  readonly role?: NodeRole
}

export interface Heartbeat {
  /** Those that take requests, this one included. */
  readonly liveNodes: number
  /** The clock of the store. */
  readonly storeNowMs: number
}

/**
 * The books themselves. Every method is one atomic step, and may be repeated after an answer was lost. Trouble with the
 * store rejects with `StoreAway`; any other rejection is a fault of what was asked.
 */
export interface LedgerStore {
  /** Makes a node known. What it writes is taken from then on, until it is ended. */
  startNode(node: StartedNode): Promise<void>
  /**
   * Says that the node lives, and hears how many take requests, and what time it is there. `setup` replaces what the node said
   * of its setup before; without one, that stays. Rejects with `NodeEnded`.
   */
  heartbeat(nodeId: string, setup?: NodeSetup): Promise<Heartbeat>
  /**
   * Appends entries of a living node. An entry that is already there is left alone and counted no second time. Where another
   * node has written about the same image call, whichever came first, the sum is what the best-informed of them says. Rollups,
   * budgets and this node's leases move in the same step, only by entries really added. Rejects with `NodeEnded`.
   * `lane`: a node that appends twice at a time gives each its own number. Only one of the two may use up leases.
   */
  append(nodeId: string, entries: readonly LedgerEntry[], lane?: number): Promise<void>
  /**
   * Appends entries that a node left behind, whether or not it has been ended since. Where an `unknown` stands for the same
   * call, the entry adds only the difference.
   */
  appendLate(nodeId: string, entries: readonly LedgerEntry[]): Promise<void>
  /**
   * Ends a node: each call it left open becomes an `unknown` unless an entry ended it, and its leases come home. An entry of
   * that node which arrives later is refused.
   */
  endNode(nodeId: string, openCalls: readonly OpenCall[]): Promise<void>
  /** Unknowns that nobody has resolved, oldest first; a further page begins `after` the last of the one before. */
  openUnknowns(options: {
    readonly limit: number
    readonly after?: Pick<Unknown, 'requestId' | 'attempt'> | undefined
  }): Promise<readonly Unknown[]>
  /**
   * Resolves an unknown: `post` with what it cost after all, or `void`. False when there is no such open unknown. The actor is
   * written to the audit in the same step.
   */
  resolveUnknown(resolution: UnknownResolution): Promise<boolean>
}

export interface UnknownResolution {
  readonly requestId: string
  readonly attempt: number
  readonly kind: 'post' | 'void'
  /** For a `post`; undefined posts what was reserved. */
  readonly costNanoUsd?: bigint | undefined
  readonly tokens?: number | undefined
  readonly actor: Actor
  /** Why the actor thinks so. */
  readonly note?: string | undefined
}

/** A place on this node where entries wait for the store. */
export interface Spool {
  /** Resolves once the entries are on disk (fsynced). Rejects when they are not. */
  append(entries: readonly LedgerEntry[]): Promise<void>
  /** How many entries wait. */
  readonly waiting: number
  /** Opens the file for the next entries ahead of need. Rejects when there can be none, or when it is no longer in its folder. */
  prepare(): Promise<void>
  /** Resolves once the disk takes about as much as an entry needs, fsynced. Rejects when it does not. Keeps nothing. */
  probe(): Promise<void>
  /**
   * Hands over what waits, oldest first, in portions; a portion is forgotten when `take` resolves. Rejects with the first
   * rejection of `take`; what is left stays.
   */
  drain(take: (entries: readonly LedgerEntry[]) => Promise<void>): Promise<void>
  /** Keeps entries that the store refuses for what they are, for a person to look at. They are never handed over again. */
  setAside(entries: readonly LedgerEntry[]): Promise<void>
  close(): Promise<void>
}

/** Calls under way, on this node's disk: survives the death of the process, not of the machine. */
export interface Journal {
  open(call: OpenCall): Promise<void>
  close(requestId: string, attempt: number): void
  /** How many calls are open. */
  readonly size: number
  has(requestId: string, attempt: number): boolean
  /** Throws when its file is no longer in its folder: no later process would find it. */
  checkPlace(): void
  /** Resolves once the disk takes about as much as a call needs. Rejects when it does not. Notes nothing. */
  probe(): Promise<void>
  /** Writes what is still held and lets go of the file. */
  end(): void
}

import type { NodeRole } from '#core/node/node-role.ts'
import type { Actor } from './audit.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { NodeSetup } from './node-setup.ts'
import { StoreUnreachable } from './store.ts'

/**
 * The ledger as a request sees it. A call is begun before it is sent and ended by an entry. A call that no entry ever ended
 * is therefore known, and becomes an `unknown` entry when the process that began it has died.
 */
export interface Ledger {
  /**
   * Records that a call is about to be sent. The entry is what the ledger will hold if nothing ends the call: an `unknown`
   * with the reserved amount. Resolves once the record survives the death of this process; only then may the call be sent.
   * Undefined: it may be sent at once.
   */
  begin(open: LedgerEntry): Promise<void> | undefined
  /** Drops a begun call that was provably not sent, or that the upstream provably did not charge. */
  forget(requestId: string, attempt: number): void
  /**
   * Writes entries, which end the calls they are about. Resolves once they are durable: committed, or fsynced on this node
   * while the store is unreachable. Rejects when they are neither; then no result may leave, and the entries of begun calls
   * are written once they can be: `writtenLate` is called then. Undefined: they are written already.
   */
  write(entries: readonly LedgerEntry[], writtenLate?: () => void): Promise<void> | undefined
}

/** A call that a dead node had begun and that no entry ended. */
export type OpenCall = LedgerEntry

/** An entry whose outcome is not known yet, for people. */
export interface Unknown extends LedgerEntry {
  readonly writtenAtMs: number
}

/** The node was ended because it was believed dead. Nothing more is accepted in its name. */
export class NodeEnded extends Error {
  override readonly name = 'NodeEnded'
}

/** The store refuses at least one of these entries for its content, so none of them was written. */
export class EntriesRefused extends Error {
  override readonly name = 'EntriesRefused'
}

/** A mistake that a person must fix: with this secret no stored key, credential or image job could be read. */
export class OtherSecret extends Error {
  constructor() {
    super(
      'TORANA_SECRET: this is not the secret that the nodes of this database use, so every stored key would be refused. ' +
        'Give all nodes the same one. If you changed it on purpose, set TORANA_SECRET_PREVIOUS to the one before. ' +
        'If that is lost, stored keys and credentials are lost too: delete the rows of the table secret_fingerprints, and create them again',
    )
  }
}

/** Until it is corrected, the store is as good as unreachable; a node does not start with it. */
export class UnfitPooler extends StoreUnreachable {
  constructor() {
    super(
      'DATABASE_URL: its pooler gives a connection another session of PostgreSQL for each transaction. Set `pool_mode = session` in PgBouncer, or use the address of PostgreSQL itself: docs/many-nodes.md#postgresql',
    )
  }
}

export interface StartedNode {
  readonly id: string
  readonly host: string
  readonly version: string
  /** `all` unless given. */
  readonly role?: NodeRole
}

/** What a heartbeat says about the node. Undefined: what it said before stays. */
export interface NodeReport {
  readonly setup?: NodeSetup | undefined
  /** Lead of its machine's clock over the store's. */
  readonly clockSkewMs?: number | undefined
}

export interface Heartbeat {
  /** Nodes that take requests, this one included. */
  readonly liveNodes: number
  /** The clock of the store. */
  readonly storeNowMs: number
  /** Undefined: the store does not say, and workers ask by themselves. */
  readonly work?: WaitingWork | undefined
}

/** Where work waits in the store. True: there may be some. A text changes with what it stands for. */
export interface WaitingWork {
  /** The version of keys, projects and the stored configuration. */
  readonly directory: string
  /** This node does what one node does for all. */
  readonly isEldest: boolean
  readonly webhooks: boolean
  /** Notices of alerts. */
  readonly notices: boolean
  /** Rules of alerts that are on, and open incidents. */
  readonly alerts: boolean
  readonly batches: boolean
  readonly imageJobs: boolean
  /** Files that are due for deletion. */
  readonly files: boolean
  /** Standings of deployments in their spaces. */
  readonly standings: string
  readonly suspects: boolean
  /** Someone looks at live figures of the nodes. */
  readonly news: boolean
}

/**
 * The ledger itself. Every method is one atomic step, and may be repeated after a lost answer. Writes of entries reject with
 * `EntriesRefused` for their content, and with `StoreUnreachable` when the store can write none: it is unreachable, or its schema,
 * its rights or its disk forbid it.
 */
export interface LedgerStore {
  /** Registers a node. Its writes are accepted from then on, until it is ended. */
  startNode(node: StartedNode): Promise<void>
  /**
   * Reports that the node lives, and returns the number of nodes that take requests and the store's time. Rejects with
   * `NodeEnded`.
   */
  heartbeat(nodeId: string, report?: NodeReport): Promise<Heartbeat>
  /**
   * Registers users and tags of entries that are not appended yet, and resolves when `append` knows where each is counted. Undefined
   * if it knows that already. A store without it does not limit how many are counted separately.
   */
  register?(entries: readonly LedgerEntry[]): Promise<void> | undefined
  /**
   * Appends entries of a living node. Users and tags that were not registered are registered first, which others of the batch wait
   * for. An entry that exists already is left alone and not counted again. Where another node
   * has written about the same image call, whichever came first, the sum follows the better-informed entry. Rollups,
   * budgets and this node's leases move in the same step, only by entries really added. Rejects with `NodeEnded`. `lane`: a
   * node that appends twice at a time gives each its own number. Only one of the two may use up leases.
   */
  append(nodeId: string, entries: readonly LedgerEntry[], lane?: number): Promise<void>
  /**
   * Appends entries that a node left behind, whether or not it has been ended since. Where an `unknown` exists for the same
   * call, the entry adds only the difference.
   */
  appendLate(nodeId: string, entries: readonly LedgerEntry[]): Promise<void>
  /**
   * Keeps an entry that `appendLate` refuses, apart from the ledger. It counts against budgets as if it were written, and uses up the
   * node's lease.
   */
  setAside(nodeId: string, entry: LedgerEntry, reason: string): Promise<void>
  /** Tries to write entries that were set aside, at most `RETRIED_ENTRIES`: those first whose last try is longest ago. */
  retryRefused(): Promise<RetriedEntries>
  /**
   * Ends a node: each call it left open becomes an `unknown` unless an entry ended it, and its leases are returned. A later
   * entry of that node is refused.
   */
  endNode(nodeId: string, openCalls: readonly OpenCall[]): Promise<void>
  /** Unresolved unknowns, oldest first; a further page begins `after` the last of the one before. */
  openUnknowns(options: {
    readonly limit: number
    readonly after?: Pick<Unknown, 'requestId' | 'attempt'> | undefined
  }): Promise<readonly Unknown[]>
  /**
   * Resolves an unknown: `post` with its actual cost, or `void`. False when there is no such open unknown. The actor is
   * written to the audit in the same step.
   */
  resolveUnknown(resolution: UnknownResolution): Promise<boolean>
}

/** Bound of one retry: about ten seconds. */
export const RETRIED_ENTRIES = 10_000

export interface RetriedEntries {
  /** Now in the ledger. */
  readonly written: number
  /** Refused once more. */
  readonly refused: number
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

/** The file on this node where entries wait for the store. */
export interface Spool {
  /** Resolves once the entries are on disk (fsynced). Rejects when they are not. */
  append(entries: readonly LedgerEntry[]): Promise<void>
  /** Number of waiting entries. */
  readonly waiting: number
  /** Opens the file for the next entries in advance. Rejects when it can't, or when the file is no longer in its folder. */
  prepare(): Promise<void>
  /** Resolves once the disk accepts about as much as an entry needs, fsynced. Rejects when it does not. Keeps nothing. */
  probe(): Promise<void>
  /**
   * Hands over the waiting entries, oldest first, page by page; a page is deleted when `take` resolves. Rejects with the
   * first rejection of `take`; the rest stays.
   */
  drain(take: (entries: readonly LedgerEntry[]) => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** Calls in progress, on this node's disk: survives the death of the process, not of the machine. */
export interface Journal {
  open(call: OpenCall): Promise<void>
  close(requestId: string, attempt: number): void
  /** Number of open calls. */
  readonly size: number
  has(requestId: string, attempt: number): boolean
  /** Throws when its file is no longer in its folder: no later process would find it. */
  checkPlace(): void
  /** Resolves once the disk accepts about as much as a call needs. Rejects when it does not. Keeps nothing. */
  probe(): Promise<void>
  /** Writes what is still buffered and closes the file. */
  end(): void
}

/** This node among the nodes of its database: it joins them, sends heartbeats, and learns when it may not take part. */
import type { Clock } from '#ports/clock.ts'
import { OtherSecret, type LedgerStore, type StartedNode } from '#ports/ledger.ts'
import type { NodeSetup } from '#ports/node-setup.ts'
import { StoreUnreachable } from '#ports/store.ts'

export interface MembershipParts {
  readonly node: StartedNode
  readonly store: Pick<LedgerStore, 'startNode' | 'heartbeat'>
  readonly clock: Pick<Clock, 'nowMs'>
  /** Makes the tables, and checks this node's secret. Rejects with `OtherSecret` when other nodes use another one. */
  readonly prepare: () => Promise<void>
}

export class Membership {
  readonly #parts: MembershipParts
  #hasJoined = false
  #isRefused = false
  /**
   * Set once the node has started: from then on a node that is refused must stop. A start fails with the refusal itself.
   * Called once.
   */
  onRefused: ((error: OtherSecret) => void) | undefined
  /** The setup of this node that heartbeats carry. Undefined: not known yet. */
  setup: NodeSetup | undefined
  /** Nodes that take requests, as of the last heartbeat. */
  liveNodes = 1
  /** Lead of this machine's clock over the store's, as of the last heartbeat. Undefined: there was none. */
  clockSkewMs: number | undefined

  constructor(parts: MembershipParts) {
    this.#parts = parts
  }

  /** Reports that this node lives. The first time it also prepares the store and registers the node. */
  async renew(): Promise<void> {
    if (!this.#hasJoined) await this.#join()
    const { node, clock, store } = this.#parts
    const askedMs = clock.nowMs()
    const { liveNodes, storeNowMs } = await store.heartbeat(node.id, this.setup)
    this.liveNodes = liveNodes
    // The store read its clock somewhere between question and answer.
    this.clockSkewMs = (askedMs + clock.nowMs()) / 2 - storeNowMs
  }

  /** Does work that needs the tables. Rejects with `StoreUnreachable` until the node has joined. */
  async onceJoined<Result>(work: () => Promise<Result>): Promise<Result> {
    if (!this.#hasJoined) throw new StoreUnreachable('not connected yet')
    return work()
  }

  async #join(): Promise<void> {
    const { node, prepare, store } = this.#parts
    await prepare().catch((error: unknown) => this.#fail(error))
    await store.startNode(node)
    this.#hasJoined = true
  }

  #fail(error: unknown): never {
    if (!(error instanceof OtherSecret) || this.onRefused === undefined) throw error
    if (!this.#isRefused) this.onRefused(error)
    this.#isRefused = true
    throw new StoreUnreachable(error.message)
  }
}

export interface StartCircumstances {
  /** What the store says about a mistake in its address. Undefined: there is none. */
  readonly mistake: string | undefined
  /** Whether this node has worked with the store before. Then it can start with the keys that it knows. */
  readonly hasWorked: boolean
}

/** What a person must correct before the node can start, in their words. Undefined: the node starts and tries again. */
export function startProblem(error: unknown, { mistake, hasWorked }: StartCircumstances): string | undefined {
  if (mistake !== undefined && !hasWorked)
    return `DATABASE_URL: PostgreSQL says: ${mistake}. Correct the URL, or create what it names`
  if (error instanceof StoreUnreachable) return undefined
  if (error instanceof OtherSecret) return error.message
  return `the database cannot be used: ${(error as Error).message}`
}

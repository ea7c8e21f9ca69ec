/** This node among the nodes of its database: it joins them, sends heartbeats, and learns when it may not take part. */
import type { NodeClock } from '#ports/clock.ts'
import { OtherSecret, UnfitPooler, type LedgerStore, type StartedNode } from '#ports/ledger.ts'
import type { NodeSetup } from '#ports/node-setup.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { Pulse } from '../pulse.ts'

export interface MembershipParts {
  readonly node: StartedNode
  readonly store: Pick<LedgerStore, 'startNode' | 'heartbeat'>
  /** Follows the store's clock from heartbeat to heartbeat. */
  readonly clock: Pick<NodeClock, 'monotonicMs' | 'skewMs' | 'follow'>
  /** Makes the tables, and checks this node's secret. Rejects with `OtherSecret` when other nodes use another one, and with `UnfitPooler`. */
  readonly prepare: () => Promise<void>
  /** Gets what each heartbeat says. */
  readonly pulse?: Pick<Pulse, 'beat'> | undefined
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

  constructor(parts: MembershipParts) {
    this.#parts = parts
  }

  /** Reports that this node lives. The first time it also prepares the store and registers the node. */
  async renew(): Promise<void> {
    if (!this.#hasJoined) {
      await this.#join()
      // The first heartbeat learns how far this clock is off, the next one tells the others.
      await this.#beat()
    }
    await this.#beat()
  }

  async #beat(): Promise<void> {
    const { node, clock, store, pulse } = this.#parts
    const askedMs = clock.monotonicMs()
    const report = { setup: this.setup, clockSkewMs: clock.skewMs() }
    const { liveNodes, storeNowMs, work } = await store.heartbeat(node.id, report)
    this.liveNodes = liveNodes
    clock.follow(storeNowMs, askedMs)
    pulse?.beat(work, askedMs)
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
  if (error instanceof OtherSecret || error instanceof UnfitPooler) return error.message
  if (error instanceof StoreUnreachable) return undefined
  return `the database cannot be used: ${(error as Error).message}`
}

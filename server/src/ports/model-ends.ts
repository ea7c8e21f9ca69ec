/** Ends of models: what upstreams list, who is concerned, the notices that went out, and models that answer for others. */
import type { UpstreamListing } from '#core/catalog/listed-ends.ts'
import type { NoticeDays } from '#core/catalog/model-end.ts'
import type { Substitution } from '#core/catalog/substitution.ts'
import type { WebhookEvent } from './webhooks.ts'

/** A notice about one end. Another day of the same model is another end. */
export interface EndNotice {
  readonly upstream: string
  readonly model: string
  readonly on: string
  /** Days before the end. */
  readonly days: NoticeDays
}

export interface CountedSubstitution extends Substitution {
  readonly answers: number
  /** ISO 8601 in UTC. */
  readonly firstAt: string
  readonly lastAt: string
}

/** Every method may be repeated after a lost answer, and rejects with `StoreUnreachable` when the store can't be reached. */
export interface ModelEndStore {
  /** What each upstream listed when it was last asked. */
  listings(): Promise<readonly UpstreamListing[]>
  /** Replaces what the upstream listed before. All nodes follow within two seconds. */
  keepListing(listing: UpstreamListing): Promise<void>
  /** The notices that went out about these models. */
  notices(models: readonly string[]): Promise<readonly EndNotice[]>
  /** Projects whose keys used these models within the 30 days before `nowMs`, by model. Torana's own probes are no use. */
  projectsUsing(models: readonly string[], nowMs: number): Promise<ReadonlyMap<string, readonly string[]>>
  /** Records the notice and keeps its events for webhooks, both or neither. False: any node did it before. */
  send(notice: EndNotice, sentAtMs: number, events: readonly WebhookEvent[]): Promise<boolean>
  /** Adds to what was counted before, of all nodes. Repeated after a lost answer, it counts twice. */
  addSubstitutions(counted: readonly CountedSubstitution[]): Promise<void>
}

/** What is known of the vector space of each embedding model, kept so that every node and every restart judges alike. */
import type { Actor } from './audit.ts'

/** Vectors of the probe texts, as they were when the space was accepted. */
export interface SpaceReference {
  readonly model: string
  /** Counts from 1: how often an admin has accepted another space. It is what the hex part of a space's id stands for. */
  readonly generation: number
  readonly width: number
  /** One for each probe text, in their order, each of the full width. */
  readonly vectors: readonly Float32Array[]
  /** Who made them. */
  readonly deployment: string
  /** Unix milliseconds. */
  readonly acceptedAtMs: number
  /** The name of the admin who made it the model's. Absent: nobody did, it was the first. */
  readonly acceptedBy?: string | undefined
}

/** `good`: within the space. `warned`: near its edge. `quarantined`: outside; nothing of it may leave. `failed`: no answer. */
export type ProbeVerdict = 'good' | 'warned' | 'quarantined' | 'failed'

/** One look at one deployment: a point of the drift series. */
export interface ProbeResult {
  readonly model: string
  readonly deployment: string
  /**
   * Where the deployment led when it was looked at. One that leads elsewhere now, to another address or another model of its
   * upstream, is another deployment under the same id, and knows nothing of the standing of the one before.
   */
  readonly target: string
  readonly space: string
  /** When the texts were sent, not when their vectors came: what was made in between may be of the next space. */
  readonly atMs: number
  readonly verdict: ProbeVerdict
  /** The cosine of each probe text to its reference, in their order; undefined when there was nothing to compare. */
  readonly cosines?: readonly number[] | undefined
  /** The least of them. */
  readonly leastCosine: number | undefined
  /** The largest difference of a vector's length from its reference's, as a share of it. */
  readonly normDrift: number | undefined
  /** In words, for an operator. */
  readonly reason: string | undefined
}

/** All looks at one deployment in one slot of time. A mean would hide a quarter of an hour, so it is the worst of them. */
export interface ProbeSlot {
  /** Where the slot begins. */
  readonly atMs: number
  readonly deployment: string
  readonly space: string
  readonly looks: number
  readonly failed: number
  /** `failed` only where no look got an answer: no answer is no drift. */
  readonly verdict: ProbeVerdict
  readonly leastCosine: number | undefined
  readonly normDrift: number | undefined
}

/** From the harmless to the worst. */
export const VERDICTS: readonly ProbeVerdict[] = ['failed', 'good', 'warned', 'quarantined']

/** From after a deployment was last known to be good until it was again: what it made in between is never to be used. */
export interface BadWindow {
  readonly fromMs: number
  readonly untilMs: number
}

/** How a deployment stands, from its probes so far. */
export interface DeploymentStanding {
  readonly model: string
  readonly deployment: string
  readonly target: string
  /** The space that it was last compared with; undefined: never with any. In another space it has no standing. */
  readonly space: string | undefined
  readonly isQuarantined: boolean
  /** Unix milliseconds of the last probe that was good or warned; undefined: there was none, or nobody knows which. */
  readonly lastGoodAtMs: number | undefined
  readonly reason: string | undefined
  /** The latest probe, also if it failed. */
  readonly last: ProbeResult
  /** Oldest first, and few: where there would be more, neighbours are one with all that lies between them. */
  readonly badWindows: readonly BadWindow[]
}

/** What nobody needs any more, in Unix milliseconds. */
export interface OldSpaces {
  /** Points of the series that are older. */
  readonly pointsBeforeMs: number
  /** Standings of whom nobody has probed since: deployments that are gone, or lead elsewhere. */
  readonly standingsBeforeMs: number
  /** The same for those that are quarantined or have bad windows: what they made may still lie in a cache. */
  readonly badStandingsBeforeMs: number
}

/** Every method is one atomic step and may be repeated. Trouble with the store rejects with `StoreAway`. */
export interface SpaceStore {
  references(): Promise<readonly SpaceReference[]>
  /** Keeps it unless the model has one already; resolves to the one that counts. */
  beginReference(reference: SpaceReference): Promise<SpaceReference>
  /**
   * An admin accepts what a deployment makes now: the model's space is another one from here on. Changes nothing unless the
   * generation is later than the one there is. The actor is kept with it, and written to the audit in the same step.
   */
  replaceReference(reference: SpaceReference, actor: Actor): Promise<void>
  /**
   * Adds a point to the series and moves the deployment's standing with it. A failed probe moves nothing but `last`, nor does
   * one of a space that is no longer the model's. Probes may come in another order than they were made in: a good one lifts no
   * quarantine unless it is the latest of all, and a bad one quarantines also if it is not.
   */
  record(result: ProbeResult): Promise<void>
  standings(): Promise<readonly DeploymentStanding[]>
  /** Points of one model, newest first, at most `limit`. */
  series(
    model: string,
    options: { readonly sinceMs: number; readonly limit: number },
  ): Promise<readonly ProbeResult[]>
  /** The same in slots of this length: the worst of each, newest first, at most `limit`. */
  slots(
    model: string,
    options: { readonly sinceMs: number; readonly slotMs: number; readonly limit: number },
  ): Promise<readonly ProbeSlot[]>
  deleteOld(old: OldSpaces): Promise<void>
}

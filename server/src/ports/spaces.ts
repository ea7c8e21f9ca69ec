/** The vector space of each embedding model, stored so that every node and every restart judges alike. */
import type { CallSize } from '#core/embedding/call-size.ts'
import type { Actor } from './audit.ts'

/** Vectors of the probe texts, as they were when the space was accepted, and of the probe images. */
export interface SpaceReference {
  readonly model: string
  /** Counts from 1: how often an admin has accepted another space. The hex part of a space's id is derived from it. */
  readonly generation: number
  readonly width: number
  /** One for each probe text, in their order, each of the full width. */
  readonly vectors: readonly Float32Array[]
  /** The same for the probe images. Absent until a deployment that takes images has answered within the space. */
  readonly imageVectors?: readonly Float32Array[] | undefined
  /**
   * The largest distance, 1 − cosine, of one of the samples whose mean the vectors are. Absent: they are one sample, or all samples
   * were equal.
   */
  readonly spread?: number | undefined
  readonly imageSpread?: number | undefined
  /** The deployment that made them. */
  readonly deployment: string
  /** Unix milliseconds. */
  readonly acceptedAtMs: number
  /** The name of the admin who accepted it. Absent for a model's first reference. */
  readonly acceptedBy?: string | undefined
}

/** `good`: within the space. `warned`: near its edge. `quarantined`: outside; no answer may use it. `failed`: no answer. */
export type ProbeVerdict = 'good' | 'warned' | 'quarantined' | 'failed'

/** How the reason of a quarantine begins if some answers were within the space and others outside. */
export const TORN = 'replicas differ'

/** One probe of one deployment: a point of the drift series. */
export interface ProbeResult {
  /** It was made because the deployment is in use, and was outside. It had texts only. */
  readonly isInUse?: true | undefined
  /**
   * The size of calls that were outside while the short text was not. While the deployment is quarantined, each further probe has such
   * calls too.
   */
  readonly size?: CallSize | undefined
  readonly model: string
  readonly deployment: string
  /**
   * Address and upstream model of the deployment when it was probed. With another address or model it is another deployment
   * under the same id, and the earlier standing does not apply to it.
   */
  readonly target: string
  readonly space: string
  /** When the probe was sent, not when their vectors came: vectors made in between may belong to the next space. */
  readonly atMs: number
  readonly verdict: ProbeVerdict
  /**
   * The cosine of each probe text to its reference, then of each probe image if images were compared, in their order; undefined
   * when there was nothing to compare.
   */
  readonly cosines?: readonly number[] | undefined
  /** The smallest of them. */
  readonly leastCosine: number | undefined
  /** The last one known in this space, where this probe had nothing to compare. */
  readonly earlier?: { readonly leastCosine: number; readonly atMs: number } | undefined
  /** The largest difference of a vector's length from its reference's, as a share of it. */
  readonly normDrift: number | undefined
  /** The reason in words, for an operator. */
  readonly reason: string | undefined
}

/** A probe of a deployment in use that was within its space: no point of the series, of which there would be thousands a day. */
export interface GoodCheck {
  readonly model: string
  readonly deployment: string
  readonly target: string
  readonly space: string
  /** When it was sent. */
  readonly atMs: number
  /** The size of its calls. Undefined: it was one short text. */
  readonly size: CallSize | undefined
}

/** From the last good probe of a deployment until the next that lets it return: vectors made in between must never be used. */
export interface BadWindow {
  readonly fromMs: number
  readonly untilMs: number
}

/** The standing of a deployment, from its probes so far. */
export interface DeploymentStanding {
  readonly model: string
  readonly deployment: string
  readonly target: string
  /** The space with which it was last compared. Undefined: with none yet. In another space it has no standing. */
  readonly space: string | undefined
  readonly isQuarantined: boolean
  /**
   * Unix milliseconds of the last probe that was good or warned, of whichever size. Undefined when there was none, or when it is not
   * known.
   */
  readonly lastGoodAtMs: number | undefined
  /** Good probes before that, the oldest first, and few: where replicas differ, one good answer says little about the others. */
  readonly goodAtMs: readonly number[]
  /** The last good probe of all texts, by the class of size of its calls. */
  readonly goodSizes: Readonly<Record<string, number>>
  readonly reason: string | undefined
  /** The latest probe, also if it failed. */
  readonly last: ProbeResult
  /** Oldest first, and few: beyond a maximum, neighbours are merged with everything between them. */
  readonly badWindows: readonly BadWindow[]
}

/** A probe of a deployment in use, which one node makes for all. */
export interface ProbeClaim extends Pick<GoodCheck, 'model' | 'deployment' | 'target'> {
  /** The class of its size, or `SHORT`. */
  readonly name: string
}

/** The name of the shortest probe. */
export const SHORT = 'short'

/** Retention of the drift series: a season in the console. */
export const DRIFT_KEPT_MS = 90 * 86_400_000

/** Limits of age, in Unix milliseconds, beyond which rows are deleted. */
export interface OldSpaces {
  /** Points of the series older than this. */
  readonly pointsBeforeMs: number
  /** Standings of deployments not probed since: they are gone, or have another address. */
  readonly standingsBeforeMs: number
  /** The same for standings that are quarantined or have bad windows: a cache may still hold their vectors. */
  readonly badStandingsBeforeMs: number
}

/** Every method is one atomic step and may be repeated. Store failures reject with `StoreUnreachable`. */
export interface SpaceStore {
  references(): Promise<readonly SpaceReference[]>
  /** Keeps it unless the model already has one; resolves to the one in force. */
  beginReference(reference: SpaceReference): Promise<SpaceReference>
  /**
   * An admin accepts what a deployment makes now: the model's space is a new one from here on. Has no effect unless the
   * generation is later than the current one. The actor is kept with it, and written to the audit in the same step.
   */
  replaceReference(reference: SpaceReference, actor: Actor): Promise<void>
  /**
   * Adds the image vectors to the model's reference, if it is of this generation and has none: a space that was accepted by its
   * texts is the same space with images. Resolves to the reference in force.
   */
  addImages(reference: SpaceReference): Promise<SpaceReference>
  /**
   * Adds a point to the series and updates the deployment's standing. A failed probe updates only `last`, and so does a
   * probe of a space that is no longer the model's. Probes may arrive out of order: a good one lifts a quarantine only if
   * it is the latest of all, and a bad one quarantines also if it is not.
   */
  record(result: ProbeResult): Promise<void>
  /** Moves the last good moments of deployments that are not quarantined. Has no effect for a space that is no longer the model's. */
  recordGood(checks: readonly GoodCheck[]): Promise<void>
  /**
   * True when no node has begun a probe of this name within `everyMs`: the caller begins one now. False for a deployment without a
   * standing.
   */
  claimProbe(probe: ProbeClaim, everyMs: number): Promise<boolean>
  standings(): Promise<readonly DeploymentStanding[]>
  deleteOld(old: OldSpaces): Promise<void>
}

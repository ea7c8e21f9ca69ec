/** Probe texts that ride along in live calls: when one is due, and what is done with its vector. */
import type { Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import type { Offer } from '#core/embedding/negotiate.ts'

export interface Rides {
  /** The ride that this call to the deployment takes. Undefined: none is due. Cheap: it is asked before every call. */
  due(model: EmbeddingModel, deployment: Deployment, isBackground: boolean): DueRide | undefined
  /**
   * A call has used these tokens: enough of them make a ride due before its time. True when nothing of the deployment may be sent by
   * now. Cheap: it is asked after every call.
   */
  ended(model: EmbeddingModel, deployment: Deployment, tokens: number): boolean
}

export interface DueRide {
  readonly text: string
  /** How the deployment is asked for the text in a probe: only calls with the same options can be compared. */
  readonly plain: Offer
  /** Tokens that the upstream counts for it. Undefined: it went in no call of its own yet. */
  readonly tokens: number | undefined
  /** Whether it is time for one. Else it only rides where that takes no call of its own. */
  readonly isTimely: boolean
  /** Whether the vector is within the model's space. `sentAtMs`: Unix milliseconds. */
  isWithin(vector: Float32Array, sentAtMs: number): boolean
  /** Sends it in a call of its own. False: its vector is outside. Never rejects, and takes two seconds at most. */
  alone(): Promise<boolean>
  /** It came to nothing: a call soon after takes it. */
  missed(): void
  /** The deployment takes the call only without it. */
  refused(): void
}

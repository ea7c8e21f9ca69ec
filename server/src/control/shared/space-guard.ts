/** The space guard of this node, as the features of the control plane use it. */
import type { Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import type { ModelSpace } from '#core/embedding/space.ts'
import type { Actor } from '#ports/audit.ts'
import type { ProbeResult, SpaceReference } from '#ports/spaces.ts'

interface SpaceStanding {
  readonly state: 'trusted' | 'warned' | 'held-back' | 'quarantined'
  readonly reason: string | undefined
  readonly lastGoodAtMs: number | undefined
  readonly last: ProbeResult | undefined
}

export interface SpaceGuard {
  /** Whether the store was read once. */
  readonly hasRead: boolean
  referenceOf(model: string): SpaceReference | undefined
  /** Undefined until the store was read once. */
  spaceNow(model: EmbeddingModel): ModelSpace | undefined
  standingOf(deployment: string): SpaceStanding | undefined
  accept(model: EmbeddingModel, deployment: Deployment, actor: Actor): Promise<SpaceReference>
  probeNow(model: string): Promise<readonly ProbeResult[]>
}

/** The deployments that this node probes now. */
import type { Catalog, Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import { embeddingDeployments, type SpaceKnowledge } from './knowledge.ts'
import { missingOf } from './references.ts'
import type { ProbeSchedule } from './schedule.ts'
import type { Sequences } from './sequences.ts'

export interface DueParts {
  readonly known: SpaceKnowledge
  readonly schedule: ProbeSchedule
  /** By model: one that is being probed is not due. */
  readonly sequences: Sequences
  readonly isAsleep: ((deployment: Deployment) => boolean) | undefined
}

/** By model. `isProber`: this node probes for all. */
export function dueByModel(
  catalog: Catalog,
  isProber: boolean,
  { known, schedule, sequences, isAsleep }: DueParts,
): ReadonlyMap<EmbeddingModel, readonly Deployment[]> {
  const due = new Map<EmbeddingModel, Deployment[]>()
  const standings = known.standings(catalog)
  for (const { model, deployment } of embeddingDeployments(catalog)) {
    const standing = standings.get(deployment.id)
    // An unused model is not loaded only to be probed, unless others are compared with it. The first request loads it.
    const mayRest = model.deployments.length === 1 && (isAsleep?.(deployment) ?? false)
    if (standing === undefined || sequences.has(model.id) || mayRest) continue
    const asker = schedule.asker(standing, missingOf(known.referenceOf(model.id), [deployment]))
    if (asker === 'none' || (asker === 'prober' && !isProber)) continue
    due.set(model, [...(due.get(model) ?? []), deployment])
  }
  return due
}

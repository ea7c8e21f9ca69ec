/** Accepting what a deployment makes now as the space of its model. */
import type { Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Actor } from '#ports/audit.ts'
import type { Clock } from '#ports/clock.ts'
import type { ProbeResult, SpaceReference, SpaceStore } from '#ports/spaces.ts'
import { askProbe, isComplete, judged, missingIn, probeTerms, type Probe } from './probe.ts'
import { checkAgainst, referenceFrom } from './references.ts'

export interface AcceptParts {
  readonly store: SpaceStore
  readonly clock: Clock
  readonly probe: Probe
  /** The result counts, and the store is read. */
  readonly learnt: (result: ProbeResult) => Promise<void>
}

/**
 * The reference in force afterwards. Rejects with a fault when the deployment does not answer, or answers in the model's current
 * space.
 */
export async function acceptSpace(
  model: EmbeddingModel,
  deployment: Deployment,
  actor: Actor,
  { store, clock, probe, learnt }: AcceptParts,
): Promise<SpaceReference> {
  const acceptedAtMs = clock.nowMs()
  const answer = await askProbe(probe, model, deployment, probeTerms(true))
  if (!isComplete(answer))
    throw refused(`${deployment.id} cannot be accepted: its probe failed (${missingIn(answer).reason}).`)
  const before = await storedReference(model.id, store)
  const isWithin = before !== undefined && checkAgainst(before, answer).verdict === 'good'
  const made = { ...answer, acceptedAtMs, generation: (before?.generation ?? 0) + 1 }
  if (!isWithin) await store.replaceReference(referenceFrom(model, deployment, made), actor)
  const after = isWithin ? before : await storedReference(model.id, store)
  // Also when it is refused: a first attempt may have been accepted without this node's knowledge.
  await learnt(judged(model, deployment, { atMs: acceptedAtMs, answer, reference: after }))
  if (isWithin)
    throw refused(`${deployment.id} already answers in the space of ${model.id}: there is nothing to accept.`)
  if (after?.deployment !== deployment.id || after.acceptedAtMs !== acceptedAtMs)
    throw refused(
      `Another space of ${model.id} was accepted at the same time. Run torana spaces, then retry.`,
    )
  return after
}

async function storedReference(model: string, store: SpaceStore): Promise<SpaceReference | undefined> {
  return (await store.references()).find((reference) => reference.model === model)
}

function refused(message: string): Fault {
  return new Fault('conflict', message)
}

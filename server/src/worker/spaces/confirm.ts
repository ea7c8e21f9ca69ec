/** Whether vectors that a deployment has made are of its space for certain, and the probe that shows it. */
import { listModels, type Catalog, type Deployment, type EmbeddingModel } from '#core/catalog/catalog.ts'
import type { MadeState } from '#core/batch/final.ts'
import { coversSize, type CallSize } from '#core/embedding/call-size.ts'
import { CLOCK_SKEW_MS, type MadeVectors } from '#core/embedding/made-vectors.ts'
import { readSpace } from '#core/embedding/space.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { ProbedInUse } from '#request/embeddings/probe.ts'
import type { SpaceKnowledge } from './knowledge.ts'
import { findSpaceName } from './names.ts'

/** The short text, and beside it all texts in calls of a size, if one is given. Rejects when there is no answer. */
export type ProbeInUse = (
  model: EmbeddingModel,
  deployment: Deployment,
  asked: { readonly size: CallSize | undefined; readonly turn: number },
) => Promise<ProbedInUse>

/**
 * Most tokens of a probe that a batch asks for at its end: $0.001 at the most expensive models. The texts of larger calls are shortened,
 * and their number stays: batches of few large calls would else cost twice as much.
 */
const MAX_TOKENS = 8192
/** All texts, in a call each. */
const SINGLE: CallSize = { inputs: 1, tokens: 0 }

function askedSize(largest: CallSize = SINGLE): CallSize {
  return { inputs: largest.inputs, tokens: Math.min(largest.tokens, MAX_TOKENS) }
}

/** What is known of the space of vectors. Cheap: a large batch asks it for each of its chunks. */
export function judgeMade(made: MadeVectors, known: SpaceKnowledge, catalog: Catalog): MadeState {
  const { space, deployment, untilMs, largest } = made
  const named = readSpace(space)
  if (named === undefined) return 'final'
  if (!known.hasRead) return 'unconfirmed'
  // An operator has accepted another one since.
  if (findSpaceName(named, known, catalog) !== named.float) return 'left'
  const standing = known.standings(catalog).get(deployment)
  // There is nothing to compare it with.
  if (standing === undefined && findDeployment(catalog, deployment) !== undefined) return 'final'
  if (known.wasOutside(catalog, made)) return 'left'
  const isLater = (atMs: number | undefined): boolean => (atMs ?? -Infinity) - CLOCK_SKEW_MS >= untilMs
  if (standing === undefined) return known.lastGoodAtMs(deployment).some(isLater) ? 'final' : 'gone'
  if (known.referenceOf(standing.model) === undefined) return 'final'
  const size = askedSize(largest)
  const isGood = ([name, atMs]: [string, number]): boolean => isLater(atMs) && coversSize(name, size)
  return Object.entries(standing.goodSizes).some(isGood) ? 'final' : 'unconfirmed'
}

/** The answer to a probe that may confirm what a deployment has made. One that takes no call of this size gets smaller ones. */
export async function askAgain(
  probe: ProbeInUse,
  { model, deployment }: FoundDeployment,
  largest: CallSize | undefined,
  turn: number,
): Promise<ProbedInUse & { readonly size: CallSize }> {
  const size = askedSize(largest)
  try {
    return { ...(await probe(model, deployment, { size, turn })), size }
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || error.kind !== 'refused') throw error
    return { ...(await probe(model, deployment, { size: SINGLE, turn })), size: SINGLE }
  }
}

export interface FoundDeployment {
  readonly model: EmbeddingModel
  readonly deployment: Deployment
}

export function findDeployment(catalog: Catalog, id: string): FoundDeployment | undefined {
  for (const model of listModels(catalog)) {
    if (model.kind !== 'embedding') continue
    const deployment = model.deployments.find((one) => one.id === id)
    if (deployment !== undefined) return { model, deployment }
  }
  return undefined
}

/** One probe of one deployment: its question, and what the answer means. */
import type { Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import { PROBE_TEXTS } from '#core/embedding/probe-texts.ts'
import { checkSpace } from '#core/embedding/space-check.ts'
import { spaceIn, spaceOf } from '#core/embedding/space.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { ProbeResult, SpaceReference } from '#ports/spaces.ts'
import { targetOf, type GuardedStanding } from './knowledge.ts'

/** Full-width vectors of `PROBE_TEXTS`, in their order. Paid and accounted for like any call. */
export type Probe = (model: EmbeddingModel, deployment: Deployment) => Promise<readonly Float32Array[]>

type ProbeAnswer = readonly Float32Array[] | NoVectors

/** Why there are no vectors to compare. */
interface NoVectors {
  readonly reason: string
  /** There were vectors, and no reference can be like them. */
  readonly isOutside: boolean
}

/** `unprobed`: there was nothing to compare. Reported immediately for a deployment that is held back, else after an hour. */
export interface SpaceAlert extends ProbeResult {
  readonly kind: 'quarantined' | 'warned' | 'returned' | 'unprobed'
}

/** Timeout: longer than eight short texts take anywhere. */
const ANSWER_MS = 30_000
/** Length of a reason that an operator reads at a glance. */
const REASON_CHARACTERS = 300

export async function askProbe(
  probe: Probe,
  model: EmbeddingModel,
  deployment: Deployment,
): Promise<ProbeAnswer> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const late = new Error(`no answer within ${ANSWER_MS / 1000} s`)
  const timer = setTimeout(() => reject(late), ANSWER_MS).unref()
  try {
    const vectors = await Promise.race([probe(model, deployment), tooLate])
    const fault = faultOf(vectors)
    return fault === undefined ? vectors : { reason: fault, isOutside: false }
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, REASON_CHARACTERS)
    return { reason, isOutside: error instanceof UpstreamFailure && error.detail.wrongWidth !== undefined }
  } finally {
    clearTimeout(timer)
  }
}

export function hasVectors(answer: ProbeAnswer): answer is readonly Float32Array[] {
  return Array.isArray(answer)
}

/** Why an answer can't be compared, if so. */
function faultOf(vectors: readonly Float32Array[]): string | undefined {
  if (vectors.length !== PROBE_TEXTS.length)
    return `${vectors.length} vectors came for ${PROBE_TEXTS.length} texts`
  if (vectors.some(({ length }) => length !== vectors[0]?.length)) return 'vectors of several widths came'
  return checkSpace(vectors, vectors).reason
}

export function judged(
  model: EmbeddingModel,
  deployment: Deployment,
  seen: {
    readonly atMs: number
    readonly answer: ProbeAnswer
    readonly reference: SpaceReference | undefined
  },
): ProbeResult {
  const { atMs, answer, reference } = seen
  const space = reference ? spaceIn(reference) : spaceOf(model.id, model.facts.dimensions)
  const place = { ...placeOf(model, deployment), space, atMs }
  if (hasVectors(answer) && reference) return { ...place, ...checkSpace(reference.vectors, answer) }
  const { reason, isOutside } = hasVectors(answer)
    ? { reason: 'there is no reference', isOutside: false }
    : answer
  const verdict = isOutside && reference ? 'quarantined' : 'failed'
  return { ...place, verdict, cosines: undefined, leastCosine: undefined, normDrift: undefined, reason }
}

function placeOf(
  model: EmbeddingModel,
  deployment: Deployment,
): Pick<ProbeResult, 'model' | 'deployment' | 'target'> {
  return { model: model.id, deployment: deployment.id, target: targetOf(model, deployment) }
}

export function referenceFrom(
  model: EmbeddingModel,
  deployment: Deployment,
  made: {
    readonly vectors: readonly Float32Array[]
    readonly acceptedAtMs: number
    readonly generation: number
  },
): SpaceReference {
  const width = made.vectors[0]?.length ?? 0
  return { model: model.id, deployment: deployment.id, width, ...made }
}

/** The alert that an operator should get about the result, if it is new; `isNewlyVain`: it has failed for long. */
export function alertOf(
  before: GuardedStanding | undefined,
  result: ProbeResult,
  isNewlyVain: boolean,
): SpaceAlert | undefined {
  const { verdict } = result
  const { state, last } = before ?? {}
  const alert = (kind: SpaceAlert['kind']): SpaceAlert => ({ kind, ...result })
  if (verdict === 'failed') {
    const isNews = isNewlyVain || (state === 'held-back' && last?.verdict !== 'failed')
    return isNews ? alert('unprobed') : undefined
  }
  if (verdict === 'quarantined') return state === 'quarantined' ? undefined : alert('quarantined')
  if (state === 'quarantined') return alert('returned')
  return verdict === 'warned' && state !== 'warned' ? alert('warned') : undefined
}

/** One probe of one deployment: its question, and what the answer means. */
import type { Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import { PROBE_IMAGES } from '#core/embedding/probe-images.ts'
import { PROBE_TEXTS } from '#core/embedding/probe-texts.ts'
import type { CallSize } from '#core/embedding/call-size.ts'
import {
  checkProbe,
  checkShort,
  isTorn,
  type CheckTerms,
  type ProbeVectors,
  type ReferenceVectors,
  type SpaceCheck,
} from '#core/embedding/space-check.ts'
import { spaceIn, spaceOf } from '#core/embedding/space.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { TORN, type GoodCheck, type ProbeResult, type SpaceReference } from '#ports/spaces.ts'
import type { ProbedInUse, ProbedSpace, ProbeTerms } from '#request/embeddings/probe.ts'
import { targetOf, type GuardedStanding } from './knowledge.ts'
import { checkAgainst, vectorsOf } from './references.ts'

/** Full-width vectors of `PROBE_TEXTS` and, if the deployment takes them, `PROBE_IMAGES`. Paid and accounted for like any call. */
export type Probe = (model: EmbeddingModel, deployment: Deployment, terms: ProbeTerms) => Promise<ProbedSpace>

/** Answers whose mean becomes a reference: they halve the noise of a single one. */
const REFERENCE_SAMPLES = 5
/**
 * Calls beside the probe that must all be within the space before a quarantined deployment returns. With one wrong replica of two, all
 * 16 calls are good once in 65,536 times; with eight calls it was seen in 24 runs.
 */
const RETURN_REPEATS = 15
/** The same at most, for one that returned in vain within the hour. */
const MAX_RETURN_REPEATS = 31

/** Time after a return in which another quarantine means that the return was by chance. */
const RELAPSE_MS = 3_600_000

/** How a deployment is asked in a probe. One that left its space in calls of a size is asked in calls of that size too. */
export function probeTerms(
  needsReference: boolean,
  { state, returnedAtMs = [], last }: Partial<Pick<GuardedStanding, 'state' | 'returnedAtMs' | 'last'>> = {},
  nowMs = 0,
): ProbeTerms {
  const samples = needsReference ? REFERENCE_SAMPLES : 1
  if (state !== 'quarantined') return { samples, repeats: 0 }
  const relapses = returnedAtMs.filter((atMs) => atMs > nowMs - RELAPSE_MS).length
  const repeats = Math.min(MAX_RETURN_REPEATS, (RETURN_REPEATS + 1) * 2 ** relapses - 1)
  return { samples, repeats, size: last?.size }
}

interface Further {
  /** Vectors of the short text in further calls. */
  readonly repeats?: readonly Float32Array[] | undefined
  /** Vectors of the texts in calls of the traffic's size. */
  readonly sized?: readonly Float32Array[] | undefined
}

/** Everything that the deployment takes has a vector. */
interface Complete extends ReferenceVectors, Further {
  readonly withoutImages?: undefined
}

/** Texts alone, of a deployment that takes images. */
interface Incomplete extends ReferenceVectors, Further {
  readonly withoutImages: NoVectors
}

type ProbeAnswer = Complete | Incomplete | NoVectors

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

/** Timeout: longer than eight short texts and three small images take anywhere. */
const ANSWER_MS = 30_000
/** The same where calls are as large as callers' beside them: longer than a request may take by default. */
const SIZED_ANSWER_MS = 90_000
/** Length of a reason that an operator reads at a glance. */
const REASON_CHARACTERS = 300

export async function askProbe(
  probe: Probe,
  model: EmbeddingModel,
  deployment: Deployment,
  terms: ProbeTerms,
): Promise<ProbeAnswer> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const answerMs = terms.size === undefined ? ANSWER_MS : SIZED_ANSWER_MS
  const late = new Error(`no answer within ${answerMs / 1000} s`)
  const timer = setTimeout(() => reject(late), answerMs).unref()
  try {
    const { imageFailure, ...vectors } = await Promise.race([probe(model, deployment, terms), tooLate])
    const fault = faultOf(vectors) ?? tornFault(vectors)
    if (fault !== undefined) return { reason: fault, isOutside: false }
    return imageFailure === undefined
      ? vectors
      : { ...vectors, withoutImages: noVectors(imageFailure, 'images: ') }
  } catch (error) {
    return noVectors(error)
  } finally {
    clearTimeout(timer)
  }
}

function noVectors(error: unknown, subject = ''): NoVectors {
  const said = error instanceof UpstreamFailure ? error.reason : undefined
  const reason = (said ?? (error instanceof Error ? error.message : String(error))).slice(
    0,
    REASON_CHARACTERS,
  )
  const isOutside = error instanceof UpstreamFailure && error.detail.wrongWidth !== undefined
  return { reason: subject + reason, isOutside }
}

/** Whether it can be a reference. */
export function isComplete(answer: ProbeAnswer): answer is Complete {
  return 'texts' in answer && answer.withoutImages === undefined
}

/** What is missing of an answer that is not complete. */
export function missingIn(answer: Incomplete | NoVectors): NoVectors {
  return 'texts' in answer ? answer.withoutImages : answer
}

/** Why an answer can't be compared, if so. */
function faultOf(vectors: ProbeVectors): string | undefined {
  const { texts, images } = vectors
  if (texts.length !== PROBE_TEXTS.length)
    return `${texts.length} vectors came for ${PROBE_TEXTS.length} texts`
  if (images !== undefined && images.length !== PROBE_IMAGES.length)
    return `${images.length} vectors came for ${PROBE_IMAGES.length} images`
  const all = [...texts, ...(images ?? [])]
  if (all.some(({ length }) => length !== texts[0]?.length)) return 'vectors of several widths came'
  return checkProbe(vectors, vectors).reason
}

/** Samples of a reference that no noise explains. */
function tornFault({ spread = 0, imageSpread = 0 }: ReferenceVectors): string | undefined {
  const furthest = Math.max(spread, imageSpread)
  if (!isTorn(furthest)) return undefined
  return `${TORN}: answers to the same probe are up to ${(1 - furthest).toFixed(4)} from their mean`
}

const NO_REFERENCE: NoVectors = { reason: 'there is no reference', isOutside: false }

export function judged(
  model: EmbeddingModel,
  deployment: Deployment,
  seen: {
    readonly atMs: number
    readonly answer: ProbeAnswer
    readonly reference: SpaceReference | undefined
    /** Whether it is quarantined at present. */
    readonly isReturning?: boolean | undefined
    /** Of its further calls. */
    readonly size?: CallSize | undefined
  },
): ProbeResult {
  const { atMs, answer, reference, isReturning, size } = seen
  const space = reference ? spaceIn(reference) : spaceOf(model.id, model.facts.dimensions)
  const place = { ...placeOf(model, deployment), space, atMs, ...(size && { size }) }
  const terms = { isReturning }
  const check = 'texts' in answer && reference ? checkAll(reference, answer, terms, size) : undefined
  if (check && (check.verdict === 'quarantined' || isComplete(answer))) return { ...place, ...check }
  const { reason, isOutside } = isComplete(answer) ? NO_REFERENCE : missingIn(answer)
  const verdict = isOutside && reference ? 'quarantined' : 'failed'
  return { ...place, verdict, cosines: undefined, leastCosine: undefined, normDrift: undefined, reason }
}

/** All checks of one probe. If some calls of one kind are within the space and others are not, its replicas differ. */
function checkAll(
  reference: SpaceReference,
  answer: Complete | Incomplete,
  terms: CheckTerms,
  size: CallSize | undefined,
): SpaceCheck {
  const probed = checkAgainst(reference, answer, terms)
  const repeats = (answer.repeats ?? []).map((vector) => checkShort(vectorsOf(reference), vector, terms))
  const outside = [probed, ...repeats].filter(({ verdict }) => verdict === 'quarantined')
  if (outside.length === 0) {
    const sized = answer.sized && checkAgainst(reference, { texts: answer.sized }, terms)
    return sized?.verdict === 'quarantined' ? named(sized, size) : probed
  }
  if (repeats.length === 0) return probed
  const leastCosine = outside.reduce((least, one) => Math.min(least, one.leastCosine ?? least), 1)
  const reason =
    outside.length > repeats.length
      ? probed.reason
      : `${TORN}: ${outside.length} of ${repeats.length + 1} calls were outside the space, the furthest at ${leastCosine.toPrecision(6)}`
  return { ...probed, verdict: 'quarantined', leastCosine, reason }
}

/** An operator reads in which calls it is wrong. */
function named(check: SpaceCheck, size: CallSize | undefined): SpaceCheck {
  if (check.reason === undefined || size === undefined || size.inputs <= 1) return check
  return { ...check, reason: `in calls of ${size.inputs} inputs: ${check.reason}` }
}

/** The answer to a probe of a deployment in use. */
export interface SeenInUse extends Pick<ProbedInUse, 'short' | 'texts'> {
  readonly size: CallSize | undefined
  /** Unix milliseconds. */
  readonly sentAtMs: number
}

/** If the short text is outside, every call is: then nothing is said of a size. */
export function judgedInUse(
  model: EmbeddingModel,
  deployment: Deployment,
  reference: SpaceReference,
  { short, texts, size, sentAtMs }: SeenInUse,
): ProbeResult {
  const place = {
    ...placeOf(model, deployment),
    isInUse: true,
    space: spaceIn(reference),
    atMs: sentAtMs,
  } as const
  const check = checkShort(vectorsOf(reference), short)
  if (texts === undefined || size === undefined || check.verdict === 'quarantined')
    return { ...place, ...check, cosines: undefined }
  return { ...place, size, ...named(checkAgainst(reference, { texts }), size) }
}

export function goodCheckOf({ model, deployment, target, space, atMs, size }: ProbeResult): GoodCheck {
  return { model, deployment, target, space, atMs, size }
}

function placeOf(
  model: EmbeddingModel,
  deployment: Deployment,
): Pick<ProbeResult, 'model' | 'deployment' | 'target'> {
  return { model: model.id, deployment: deployment.id, target: targetOf(model, deployment) }
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

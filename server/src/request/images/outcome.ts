/** How an image job ended, as stored and as answered to callers. */
import { UpstreamFailure, type FailureDetail } from '#core/fault/failure.ts'
import { Fault, type FaultCode } from '#core/fault/fault.ts'
import { faultOfFailure } from '#core/fault/of-failure.ts'
import { FAULTS } from '#core/fault/table.ts'
import type { ImageModel } from '#core/catalog/catalog.ts'
import { resultOf, type ImageResult } from '#core/image/delivery.ts'
import type { ImageRequest } from '#core/image/request.ts'
import { endedOf } from '#core/catalog/model-end.ts'
import type { ImageJob, JobEnd } from '#ports/image-jobs.ts'
import type { HeldBytes } from './deliver.ts'
import { namingSkips, type EndedRequest } from '../traffic/skips.ts'
import type { ImageOffers } from './admit.ts'
import type { Bought, BuyingOutside, ImageRun } from './run.ts'

export type ImageOutcome =
  | { readonly kind: 'made'; readonly result: ImageResult; readonly held: HeldBytes }
  | { readonly kind: 'fault'; readonly fault: Fault; readonly isUnknown: boolean; readonly freesKey: boolean }

const NOTHING_HELD: HeldBytes = new Map()

/** The result of a job's calls: images, perhaps fewer than were asked for, or the reason why there are none. */
export function outcomeOfCalls(
  { deliveries, failures }: Bought,
  about: {
    readonly request: ImageRequest
    readonly model: ImageModel
    readonly dropped: readonly string[]
    readonly attempts: number
    readonly held: HeldBytes
    readonly batchId: string | undefined
    /** The fault with the deployments that were not tried. */
    readonly naming: (fault: Fault) => Fault
  },
  nowMs: number,
): ImageOutcome {
  const { request, model, dropped, attempts, held, batchId, naming } = about
  if (deliveries.length === 0) {
    const ended = outcomeOfFailures(failures, model, attempts, nowMs)
    return ended.kind === 'fault' ? { ...ended, fault: naming(ended.fault) } : ended
  }
  // OpenAI's events have no links. A stream carries links only when the caller asked for them.
  const form = request.form ?? (request.stream ? 'b64_json' : model.facts.answersWith)
  const createdSeconds = Math.floor(nowMs / 1000)
  const wanted = {
    format: dropped.includes('output_format') ? undefined : request.format,
    size: dropped.includes('size') ? undefined : request.size,
  }
  const asked = request.images
  const result = resultOf(deliveries, { createdSeconds, asked, batchId, form, attempts, dropped }, wanted)
  return { kind: 'made', held, result }
}

/** The end of a job without pictures: the reason, and whether an upstream may have charged for it. */
function outcomeOfFailures(
  failures: readonly unknown[],
  model: ImageModel,
  attempts: number,
  nowMs: number,
): ImageOutcome {
  // The upstream answered with a refusal. Whether it charged for that is for the ledger to say.
  const refusal = failures.find(
    (failure) => failure instanceof UpstreamFailure && failure.kind === 'contentRefused',
  )
  const ambiguous = refusal
    ? undefined
    : failures.find((failure) => failure instanceof UpstreamFailure && failure.isAmbiguous)
  const [first] = failures
  const error = refusal ?? ambiguous ?? first
  // An image came and could not be converted. The same idempotency key must not buy it again.
  const isPaid = failures.some(
    (failure) => failure instanceof Fault && failure.code === 'upstream_broken_answer',
  )
  if (error instanceof UpstreamFailure && ambiguous !== undefined) {
    const fault = new Fault(
      'outcome_unknown',
      `${error.detail.deployment} may have made the images, but its answer did not arrive (${error.message}). Torana does not retry, because a retry could pay twice.`,
      { upstream: error.detail, cause: error },
    )
    return { kind: 'fault', fault, isUnknown: true, freesKey: false }
  }
  if (error instanceof UpstreamFailure) {
    const isRefusal = error.kind === 'refused' || error.kind === 'contentRefused'
    return {
      kind: 'fault',
      fault: faultOfFailure(error, model.id, attempts, endedOf(model, error.detail.deployment, nowMs)),
      isUnknown: false,
      freesKey: !isRefusal && !isPaid,
    }
  }
  const fault =
    error instanceof Fault
      ? error
      : new Fault(
          'internal_error',
          'The gateway failed. The log has the cause under this request id; please report it.',
          {
            cause: error,
          },
        )
  // An unexpected error may have happened after the upstream was paid.
  const isUnknown = !(error instanceof Fault)
  return { kind: 'fault', fault, isUnknown, freesKey: !isUnknown && !isPaid }
}

/** Names in a fault the deployments that the job did not try. */
export function skipNaming(
  { model, request, ledger, deadlineMs, background }: ImageRun,
  { able, offers }: Pick<ImageOffers, 'able' | 'offers'>,
  calls: EndedRequest['calls'],
  outside: Pick<BuyingOutside, 'dispatch' | 'clock'>,
): (fault: Fault) => Fault {
  const { project } = ledger
  const isBackground = background !== undefined
  const asked = { project, tokens: 0, images: request.images, isBackground, deadlineMs }
  return (fault) => namingSkips(fault, { model, able, offers, calls, asked, buysOnce: true }, outside)
}

export function endOf(outcome: ImageOutcome): JobEnd {
  if (outcome.kind === 'made')
    return { state: 'settled', result: JSON.stringify(outcome.result), freesKey: false }
  const { code, message, param, upstream } = outcome.fault
  return {
    state: outcome.isUnknown ? 'unknown' : 'failed',
    result: JSON.stringify({ code, message, param, upstream } satisfies KeptFault),
    freesKey: outcome.freesKey,
  }
}

interface KeptFault {
  readonly code: FaultCode
  readonly message: string
  readonly param: string | undefined
  readonly upstream: FailureDetail | undefined
}

/** Undefined until the job has ended. */
export function outcomeOf(job: ImageJob): ImageOutcome | undefined {
  if (job.endedAtMs === undefined) return undefined
  if (job.result === undefined)
    return failedWith(new Fault('internal_error', 'The stored result of the job cannot be read.'), job)
  if (job.state === 'settled')
    return { kind: 'made', result: JSON.parse(job.result) as ImageResult, held: NOTHING_HELD }
  const { code, message, param, upstream } = JSON.parse(job.result) as KeptFault
  const known = Object.hasOwn(FAULTS, code) ? code : 'internal_error'
  return failedWith(new Fault(known, message, { param, upstream }), job)
}

function failedWith(fault: Fault, { state }: ImageJob): ImageOutcome {
  return { kind: 'fault', fault, isUnknown: state === 'unknown', freesKey: false }
}

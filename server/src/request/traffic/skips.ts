/** The deployments that a failed request did not try, each with the reason. */
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { Fault, FaultCode } from '#core/fault/fault.ts'
import type { Skip, SkipReason } from '#core/fault/skip.ts'
import type { CallTrace } from '#core/request/request-trace.ts'
import type { Schedulable } from '#core/schedule/scheduler.ts'
import type { Clock } from '#ports/clock.ts'
import type { Dispatch } from './dispatch.ts'
import type { TurnRequest } from './turn.ts'

/** A request at its end, and the deployments that it had. */
export interface EndedRequest {
  readonly model: { readonly deployments: readonly { readonly id: string }[] }
  /** Those that can do what it asks for. */
  readonly able: readonly Schedulable[]
  /** Of them, those that its key may pay for. */
  readonly offers: readonly Schedulable[]
  readonly calls: readonly Pick<CallTrace, 'deployment'>[]
  readonly asked: Pick<TurnRequest, 'project' | 'tokens' | 'images' | 'isBackground' | 'deadlineMs'>
  /** What may have been charged is not bought again. */
  readonly buysOnce: boolean
}

/** Faults that come of the state of deployments, without a call that failed. */
const ABOUT_DEPLOYMENTS: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'deployments_busy',
  'deployments_drained',
  'model_unpriced',
  'no_healthy_deployment',
  'space_quarantined',
  'space_unprobed',
  'upstream_rate_limited',
])

interface EndOutside {
  readonly dispatch: Dispatch
  readonly clock: Pick<Clock, 'monotonicMs'>
}

/** The fault that ends a request. Where another deployment could have served it, it names those that were not tried. */
export function namingSkips(error: Fault, ended: EndedRequest, outside: EndOutside): Fault {
  if (error.skips.length > 0) return error
  const { cause, code } = error
  const isOver = cause instanceof UpstreamFailure ? !cause.mayTryAnother : !ABOUT_DEPLOYMENTS.has(code)
  return isOver ? error : error.naming(skipsOf(ended, otherwiseOf(cause, ended, outside), outside))
}

function skipsOf(
  { model, able, offers, calls, asked }: EndedRequest,
  otherwise: SkipReason,
  { dispatch }: EndOutside,
): readonly Skip[] {
  const tried = new Set(calls.map(({ deployment }) => deployment))
  const named = (all: readonly Schedulable[], id: string): Schedulable | undefined =>
    all.find(({ deployment }) => deployment.id === id)
  const reasonFor = (id: string): SkipReason => {
    if (named(able, id) === undefined) return 'unable'
    const offer = named(offers, id)
    return offer === undefined ? 'unpriced' : (dispatch.closedBecauseOf(offer, asked) ?? otherwise)
  }
  return model.deployments.flatMap(({ id }) =>
    tried.has(id) ? [] : [{ deployment: id, reason: reasonFor(id) }],
  )
}

/** Why a deployment that was ready got no call. */
function otherwiseOf(
  cause: unknown,
  { asked: { deadlineMs }, buysOnce }: EndedRequest,
  { clock }: EndOutside,
): SkipReason {
  if (!(cause instanceof UpstreamFailure)) return 'full'
  if (buysOnce && cause.mayBeCharged) return 'charged'
  return clock.monotonicMs() >= deadlineMs ? 'time' : 'retries'
}

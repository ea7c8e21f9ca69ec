/** Traces as earlier versions wrote them. Their rows are in the request log for a month, and their nodes may run beside this one. */
import type { PricedCount, Wire } from '#core/request/request-trace.ts'
import type { LoggedCall, LoggedTrace, Moments } from '#ports/request-reports.ts'

type KeptCount = readonly [
  of: PricedCount['of'],
  count: number,
  nanoUsd: string | null,
  per: PricedCount['per'],
]

type KeptCall = readonly [
  attempt: number,
  callId: string,
  deployment: string,
  inputs: number,
  startMs: number,
  durationMs: number,
  outcome: string,
  counts: readonly KeptCount[],
  rest?: KeptRest,
]

/** Fields that few calls have. */
interface KeptRest {
  readonly part?: number | undefined
  readonly waitedMs?: number | undefined
  readonly firstByteMs?: number | undefined
  readonly status?: number | undefined
  readonly reason?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly upstreamId?: string | undefined
  readonly insteadOf?: number | undefined
  readonly sharedWith?: number | undefined
}

/** The error of a failed request. */
interface KeptFault {
  readonly faultText?: string | undefined
  readonly faultCause?: string | undefined
}

/** Fields that few requests have. */
interface KeptMore extends KeptFault {
  readonly asked?: string | undefined
  readonly space?: string | undefined
  readonly width?: number | undefined
  readonly encoding?: string | undefined
  readonly usage?: 'upstream' | 'estimated' | undefined
  readonly unpriced?: true | undefined
  readonly asset?: string | undefined
  readonly saved?: string | undefined
  readonly reserved?: { readonly nano: string; readonly from: readonly string[] } | undefined
  readonly emulated?: readonly string[] | undefined
  readonly dropped?: readonly string[] | undefined
  readonly wire?: Wire | undefined
}

export type FirstForm = readonly [
  form: 1,
  moments: readonly (number | null)[],
  bytesIn: number,
  bytesOut: number,
  calls: readonly KeptCall[],
  more: KeptMore,
]

export function traceOfFirstForm(kept: FirstForm, model: string | undefined): LoggedTrace {
  const [, moments, bytesIn, bytesOut, calls, more] = kept
  return {
    moments: momentsOf(moments),
    bytesIn,
    bytesOut,
    attempts: calls.map(loggedCall),
    askedModel: more.asked ?? model,
    space: more.space,
    width: more.width,
    encoding: more.encoding,
    usage: more.usage,
    isUnpriced: more.unpriced === true,
    asset: more.asset,
    savedNanoUsd: BigInt(more.saved ?? 0),
    reservation: more.reserved && { nanoUsd: BigInt(more.reserved.nano), from: more.reserved.from },
    emulated: more.emulated ?? [],
    dropped: more.dropped ?? [],
    wire: more.wire,
    faultText: more.faultText,
    faultCause: more.faultCause,
    skips: [],
  }
}

export function momentsOf([authenticated, read, admitting, admitted, lookedUp, gathered, settled]: readonly (
  | number
  | null
)[]): Moments {
  return {
    authenticated: authenticated ?? undefined,
    read: read ?? undefined,
    admitting: admitting ?? undefined,
    admitted: admitted ?? undefined,
    lookedUp: lookedUp ?? undefined,
    gathered: gathered ?? undefined,
    settled: settled ?? undefined,
  }
}

function loggedCall([
  attempt,
  callId,
  deployment,
  inputs,
  startMs,
  durationMs,
  outcome,
  counts,
  rest = {},
]: KeptCall): LoggedCall {
  return {
    attempt,
    callId,
    deployment,
    part: rest.part ?? 0,
    inputs,
    startMs,
    durationMs,
    waitedMs: rest.waitedMs ?? 0,
    firstByteMs: rest.firstByteMs,
    outcome,
    status: rest.status,
    reason: rest.reason,
    retryAfterMs: rest.retryAfterMs,
    upstreamRequestId: rest.upstreamId,
    insteadOf: rest.insteadOf,
    sharedWith: rest.sharedWith ?? 0,
    counts: counts.map(([of, count, nanoUsd, per]) => ({
      of,
      count,
      nanoUsd: nanoUsd === null ? undefined : BigInt(nanoUsd),
      per,
    })),
  }
}

/** The trace of an earlier version: durations without starts. */
export interface OldSteps {
  readonly admitMs?: number
  readonly gatherMs?: number
  readonly settleMs?: number
  readonly calls?: readonly {
    readonly callId: string
    readonly deployment: string
    readonly outcome: string
    readonly status?: number
    readonly durationMs: number
  }[]
}

/** Its steps one after another, its calls at the beginning of what was then one step. */
export function traceOfOldSteps(steps: OldSteps, model: string | undefined): LoggedTrace {
  const { admitMs = 0, gatherMs, settleMs, calls = [] } = steps
  const gathered = gatherMs === undefined ? undefined : admitMs + gatherMs
  return {
    moments: {
      admitting: 0,
      admitted: steps.admitMs,
      gathered,
      settled: gathered === undefined || settleMs === undefined ? undefined : gathered + settleMs,
    },
    bytesIn: 0,
    bytesOut: 0,
    attempts: calls.map((call, attempt) => ({
      ...call,
      attempt,
      part: 0,
      inputs: 0,
      startMs: admitMs,
      waitedMs: 0,
      firstByteMs: undefined,
      status: call.status,
      reason: undefined,
      retryAfterMs: undefined,
      upstreamRequestId: undefined,
      insteadOf: undefined,
      sharedWith: 0,
      counts: [],
    })),
    askedModel: model,
    space: undefined,
    width: undefined,
    encoding: undefined,
    usage: undefined,
    isUnpriced: false,
    asset: undefined,
    savedNanoUsd: 0n,
    reservation: undefined,
    emulated: [],
    dropped: [],
    wire: undefined,
    faultText: undefined,
    faultCause: undefined,
    skips: [],
  }
}

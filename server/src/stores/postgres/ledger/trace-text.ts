/**
 * The trace of a request as the text of its row: JSON without names, since most rows are written and never read. The database does
 * not look into it.
 */
import type { CallTrace, PricedCount, RequestTrace, Wire } from '#core/request/request-trace.ts'
import type { LoggedCall, LoggedTrace, Moments } from '#ports/request-reports.ts'

/** Calls kept per trace. A request of two thousand texts may make as many calls. */
const MAX_CALLS = 64

/** The first field of a text. A text with an unknown form is not read. */
const FORM = 1

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

type KeptText = readonly [
  form: typeof FORM,
  moments: readonly (number | null)[],
  bytesIn: number,
  bytesOut: number,
  calls: readonly KeptCall[],
  more: KeptMore,
]

const MOMENTS = [
  'authenticatedMs',
  'readMs',
  'admittingMs',
  'admittedMs',
  'lookedUpMs',
  'gatheredMs',
  'settledMs',
] as const satisfies readonly (keyof RequestTrace)[]

export function traceText(trace: RequestTrace, model: string | undefined, fault: KeptFault = {}): string {
  const { startedMs } = trace
  const text: KeptText = [
    FORM,
    MOMENTS.map((name) => sinceStart(trace[name], startedMs)),
    trace.bytesIn,
    trace.bytesOut,
    trace.calls.slice(0, MAX_CALLS).map((call) => keptCall(call, startedMs)),
    moreOf(trace, model, fault),
  ]
  return JSON.stringify(text)
}

function moreOf(trace: RequestTrace, model: string | undefined, fault: KeptFault): KeptMore {
  const { askedModel, savedNanoUsd, reservation, emulated, dropped } = trace
  return {
    // For an unknown model, the name is the caller's own text and may be anything.
    asked: model === undefined || askedModel === model ? undefined : askedModel,
    space: trace.space,
    width: trace.width,
    encoding: trace.encoding,
    usage: trace.usage,
    unpriced: trace.isUnpriced || undefined,
    asset: trace.asset,
    saved: savedNanoUsd === undefined ? undefined : `${savedNanoUsd}`,
    reserved: reservation && { nano: `${reservation.nanoUsd}`, from: reservation.from },
    emulated: emulated.length === 0 ? undefined : emulated,
    dropped: dropped.length === 0 ? undefined : dropped,
    wire: trace.wire,
    faultText: fault.faultText,
    faultCause: fault.faultCause,
  }
}

function keptCall(call: CallTrace, startedMs: number): KeptCall {
  return [
    call.attempt,
    call.callId,
    call.deployment,
    call.inputs,
    hundredths(call.startedMs - startedMs),
    hundredths(call.endedMs - call.startedMs),
    call.outcome,
    call.counts.map(({ of, count, nanoUsd, per }) => [
      of,
      count,
      nanoUsd === undefined ? null : `${nanoUsd}`,
      per,
    ]),
    {
      part: call.part === 0 ? undefined : call.part,
      waitedMs: call.waitedMs === 0 ? undefined : hundredths(call.waitedMs),
      firstByteMs: call.firstByteMs === undefined ? undefined : hundredths(call.firstByteMs - startedMs),
      status: call.status,
      reason: call.reason,
      retryAfterMs: call.retryAfterMs,
      upstreamId: call.upstreamRequestId,
      insteadOf: call.insteadOf,
      sharedWith: call.sharedWith === 0 ? undefined : call.sharedWith,
    },
  ]
}

/** Undefined if a newer program wrote the text. */
export function traceOf(text: string, model: string | undefined): LoggedTrace | undefined {
  const [form, moments, bytesIn, bytesOut, calls, more] = JSON.parse(text) as KeptText
  if (form !== FORM) return undefined
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
  }
}

function momentsOf([authenticated, read, admitting, admitted, lookedUp, gathered, settled]: readonly (
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
  }
}

function sinceStart(ms: number | undefined, startedMs: number): number | null {
  return ms === undefined ? null : hundredths(ms - startedMs)
}

export function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100
}

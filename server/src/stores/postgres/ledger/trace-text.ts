/**
 * The trace of a request as the text of its row: JSON without names and without what usual requests share or other columns of the
 * row hold, since most rows are written and never read. Times are hundredths of a millisecond. The database does not look into it.
 */
import type { Skip, SkipReason } from '#core/fault/skip.ts'
import type { CallTrace, PricedCount, RequestTrace, Wire } from '#core/request/request-trace.ts'
import type { LoggedCall, LoggedTrace, Moments } from '#ports/request-reports.ts'

/** Calls kept per trace. A request of two thousand texts may make as many calls. */
const MAX_CALLS = 64

/** Skipped deployments kept per trace: more than a person compares. */
const MAX_SKIPS = 16

/** The first field of a text. A text with an unknown form is not read. */
const FORM = 1

/** Columns of the row that its trace does not repeat. */
export interface TracedRow {
  readonly model: string | undefined
  readonly inputs: number | undefined
  readonly deployments: readonly string[]
}

/** Prices beyond the safe integers are text. Left out: tokens, per million. */
type KeptCount = readonly [
  count: number,
  nanoUsd: number | string | null,
  of?: PricedCount['of'],
  per?: PricedCount['per'],
]

type KeptCall = readonly [
  callId: string,
  start: number,
  duration: number,
  firstByte: number | null,
  counts: readonly KeptCount[],
  rest?: KeptRest,
]

/** Fields that few calls have. */
interface KeptRest {
  /** Undefined: its index among the calls. */
  readonly attempt?: number | undefined
  /** Undefined: the first of the row. */
  readonly deployment?: string | undefined
  /** Undefined: those of the row. */
  readonly inputs?: number | undefined
  /** Undefined: `ok`. */
  readonly outcome?: string | undefined
  readonly part?: number | undefined
  readonly waited?: number | undefined
  readonly status?: number | undefined
  readonly reason?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly upstreamId?: string | undefined
  readonly insteadOf?: number | undefined
  readonly sharedWith?: number | undefined
}

/** The error of a failed request. */
interface TracedFault {
  readonly faultText?: string | undefined
  readonly faultCause?: string | undefined
  readonly skips?: readonly Skip[] | undefined
}

/** In a list: what follows the name of the model. */
type KeptName = string | readonly [string]

/** Fields that few requests have. */
interface KeptMore extends Omit<TracedFault, 'skips'> {
  readonly asked?: string | undefined
  readonly unpriced?: true | undefined
  readonly asset?: string | undefined
  readonly saved?: string | undefined
  readonly reserved?: { readonly nano: string; readonly from: readonly string[] } | undefined
  readonly emulated?: readonly string[] | undefined
  readonly dropped?: readonly string[] | undefined
  readonly wire?: Wire | undefined
  readonly skips?: readonly (readonly [deployment: KeptName, reason: SkipReason])[] | undefined
}

type KeptText = readonly [
  form: typeof FORM,
  moments: readonly (number | null)[],
  bytesIn: number,
  bytesOut: number,
  calls: readonly KeptCall[],
  space: KeptName | null,
  width: number | null,
  encoding: number | string | null,
  usage: number | null,
  more?: KeptMore,
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

/** Kept as their index. */
const ENCODINGS: readonly string[] = ['base64', 'float']
const USAGES = ['upstream', 'estimated'] as const

export function traceText(trace: RequestTrace, row: TracedRow, fault: TracedFault = {}): string {
  const { startedMs, space, encoding, usage } = trace
  const more = moreOf(trace, row.model, fault)
  const text = [
    FORM,
    MOMENTS.map((name) => sinceStart(trace[name], startedMs)),
    trace.bytesIn,
    trace.bytesOut,
    trace.calls.slice(0, MAX_CALLS).map((call, index) => keptCall(call, index, startedMs, row)),
    space === undefined ? null : keptName(space, row.model),
    trace.width ?? null,
    encoding === undefined ? null : (indexIn(ENCODINGS, encoding) ?? encoding),
    usage === undefined ? null : USAGES.indexOf(usage),
  ] as const satisfies KeptText
  return JSON.stringify(more === undefined ? text : ([...text, more] satisfies KeptText))
}

function moreOf(trace: RequestTrace, model: string | undefined, fault: TracedFault): KeptMore | undefined {
  const { skips = [] } = fault
  const { askedModel, savedNanoUsd, reservation, emulated, dropped } = trace
  return unlessEmpty({
    // For an unknown model, the name is the caller's own text and may be anything.
    asked: model === undefined || askedModel === model ? undefined : askedModel,
    unpriced: trace.isUnpriced || undefined,
    asset: trace.asset,
    saved: savedNanoUsd === undefined ? undefined : `${savedNanoUsd}`,
    reserved: reservation && { nano: `${reservation.nanoUsd}`, from: reservation.from },
    emulated: emulated.length === 0 ? undefined : emulated,
    dropped: dropped.length === 0 ? undefined : dropped,
    wire: trace.wire,
    faultText: fault.faultText,
    faultCause: fault.faultCause,
    skips:
      skips.length === 0
        ? undefined
        : skips.slice(0, MAX_SKIPS).map(({ deployment, reason }) => [keptName(deployment, model), reason]),
  })
}

function keptCall(call: CallTrace, index: number, startedMs: number, row: TracedRow): KeptCall {
  const rest = unlessEmpty({
    attempt: call.attempt === index ? undefined : call.attempt,
    deployment: call.deployment === row.deployments[0] ? undefined : call.deployment,
    inputs: call.inputs === row.inputs ? undefined : call.inputs,
    outcome: call.outcome === 'ok' ? undefined : call.outcome,
    part: call.part === 0 ? undefined : call.part,
    waited: call.waitedMs === 0 ? undefined : kept(call.waitedMs),
    status: call.status,
    reason: call.reason,
    retryAfterMs: call.retryAfterMs,
    upstreamId: call.upstreamRequestId,
    insteadOf: call.insteadOf,
    sharedWith: call.sharedWith === 0 ? undefined : call.sharedWith,
  })
  const usual = [
    shortId(call.callId),
    kept(call.startedMs - startedMs),
    kept(call.endedMs - call.startedMs),
    call.firstByteMs === undefined ? null : kept(call.firstByteMs - startedMs),
    call.counts.map(keptCount),
  ] as const
  return rest === undefined ? usual : [...usual, rest]
}

function keptCount({ count, nanoUsd, of, per }: PricedCount): KeptCount {
  const price = nanoUsd === undefined ? null : keptPrice(nanoUsd)
  if (per !== 1_000_000) return [count, price, of, per]
  return of === 'tokens' ? [count, price] : [count, price, of]
}

function keptPrice(nanoUsd: bigint): number | string {
  const price = Number(nanoUsd)
  return Number.isSafeInteger(price) ? price : `${nanoUsd}`
}

function keptName(name: string, model: string | undefined): KeptName {
  return model !== undefined && name.startsWith(model) ? [name.slice(model.length)] : name
}

function wholeName(name: KeptName, model: string | undefined): string {
  return typeof name === 'string' ? name : `${model}${name[0]}`
}

/** Undefined if a newer program wrote the text. */
export function traceOf(text: string, row: TracedRow): LoggedTrace | undefined {
  const read = JSON.parse(text) as KeptText
  if (read[0] !== FORM) return undefined
  const [, moments, bytesIn, bytesOut, calls, space, width, encoding, usage, more = {}] = read
  return {
    moments: readMoments(moments),
    bytesIn,
    bytesOut,
    attempts: calls.map((call, index) => loggedCall(call, index, row)),
    askedModel: more.asked ?? row.model,
    space: space === null ? undefined : wholeName(space, row.model),
    width: width ?? undefined,
    encoding: typeof encoding === 'number' ? ENCODINGS[encoding] : (encoding ?? undefined),
    usage: usage === null ? undefined : USAGES[usage],
    isUnpriced: more.unpriced === true,
    asset: more.asset,
    savedNanoUsd: BigInt(more.saved ?? 0),
    reservation: more.reserved && { nanoUsd: BigInt(more.reserved.nano), from: more.reserved.from },
    emulated: more.emulated ?? [],
    dropped: more.dropped ?? [],
    wire: more.wire,
    faultText: more.faultText,
    faultCause: more.faultCause,
    skips: (more.skips ?? []).map(([name, reason]) => ({ deployment: wholeName(name, row.model), reason })),
  }
}

function readMoments(hundredthsOrNull: KeptText[1]): Moments {
  const [authenticated, read, admitting, admitted, lookedUp, gathered, settled] = hundredthsOrNull.map(
    (moment) => (moment === null ? undefined : moment / 100),
  )
  return { authenticated, read, admitting, admitted, lookedUp, gathered, settled }
}

/** For a row without a readable trace: its request made no call, or a newer program wrote it. */
export function emptyTrace(model: string | undefined): LoggedTrace {
  return {
    moments: {},
    bytesIn: 0,
    bytesOut: 0,
    attempts: [],
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

function loggedCall(
  [callId, start, duration, firstByte, counts, rest = {}]: KeptCall,
  index: number,
  row: TracedRow,
): LoggedCall {
  return {
    attempt: rest.attempt ?? index,
    callId: longId(callId),
    deployment: rest.deployment ?? row.deployments[0] ?? '',
    part: rest.part ?? 0,
    inputs: rest.inputs ?? row.inputs ?? 0,
    startMs: start / 100,
    durationMs: duration / 100,
    waitedMs: (rest.waited ?? 0) / 100,
    firstByteMs: firstByte === null ? undefined : firstByte / 100,
    outcome: rest.outcome ?? 'ok',
    status: rest.status,
    reason: rest.reason,
    retryAfterMs: rest.retryAfterMs,
    upstreamRequestId: rest.upstreamId,
    insteadOf: rest.insteadOf,
    sharedWith: rest.sharedWith ?? 0,
    counts: counts.map(([count, nanoUsd, of = 'tokens', per = 1_000_000]) => ({
      of,
      count,
      nanoUsd: nanoUsd === null ? undefined : BigInt(nanoUsd),
      per,
    })),
  }
}

const SHORT_ID_CHARACTERS = 22
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** A UUID in 22 characters instead of 36. */
function shortId(id: string): string {
  return UUID.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url') : id
}

function longId(id: string): string {
  if (id.length !== SHORT_ID_CHARACTERS) return id
  const hex = Buffer.from(id, 'base64url').toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function unlessEmpty<Fields extends object>(fields: Fields): Fields | undefined {
  for (const name in fields) if (fields[name] !== undefined) return fields
  return undefined
}

function indexIn(values: readonly string[], value: string): number | undefined {
  const index = values.indexOf(value)
  return index === -1 ? undefined : index
}

function sinceStart(ms: number | undefined, startedMs: number): number | null {
  return ms === undefined ? null : kept(ms - startedMs)
}

function kept(ms: number): number {
  return Math.round(ms * 100)
}

export function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100
}

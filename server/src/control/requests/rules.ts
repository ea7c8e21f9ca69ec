/** One request as people read it: its steps on a time line, and its money line by line. */
import type { z } from 'zod'
import { partyOf } from '#core/fault/party.ts'
import { SKIP_WORDS } from '#core/fault/skip.ts'
import { momentOf } from '#core/money/ledger.ts'
import { decimalOf } from '#core/money/price.ts'
import type { PricedCount } from '#core/request/request-trace.ts'
import type { LoggedCall, LoggedTrace } from '#ports/request-reports.ts'
import type { JobStep } from '../shared/image-job-queries.ts'
import { hundredths, isoOf } from '../shared/times.ts'
import { postedOf, type Entry, type LoggedRequest, type requestDetail } from './detail-queries.ts'
import type { RequestRow } from './queries.ts'

type Detail = z.output<typeof requestDetail>
type Step = Detail['steps'][number]
type MoneyLine = Detail['money']['lines'][number]

export function detailOf(request: LoggedRequest, job: Detail['job']): Detail {
  const { row, trace, entries } = request
  const { reservation, wire } = trace
  const posted = postedOf(entries)
  const reserved = reservation?.nanoUsd
  const returned = reserved === undefined || reserved < posted ? 0n : reserved - posted
  return {
    ...row,
    log: 'kept',
    route: request.route,
    fault_text: trace.faultText ?? null,
    fault_cause: trace.faultCause ?? null,
    fault_party: (row.fault === null ? undefined : partyOf(row.fault)) ?? null,
    skips: trace.skips.map((skip) => ({ ...skip, text: SKIP_WORDS[skip.reason] })),
    asked_model: trace.askedModel ?? null,
    client_request_id: request.client_request_id,
    client_address: request.client_address,
    space: trace.space ?? null,
    emulated: [...trace.emulated],
    dropped: [...trace.dropped],
    bytes_in: trace.bytesIn,
    bytes_out: trace.bytesOut,
    steps: stepsOf(trace, row),
    attempts: trace.attempts.map(attemptBody),
    money: {
      reserved_usd: amountText(reserved),
      reserved_from: [...(reservation?.from ?? [])],
      lines: entries.flatMap((entry) => moneyLines(entry, request)),
      posted_usd: decimalOf(posted),
      returned_usd: decimalOf(returned),
      saved_usd: decimalOf(trace.savedNanoUsd),
    },
    ledger: [...entries],
    wire: {
      in: { ...(wire?.in ?? { model: trace.askedModel ?? null }) },
      out: { ...(wire?.out ?? { model: row.model }) },
      differences: (wire?.differences ?? []).map((difference) => ({ ...difference })),
    },
    job,
  }
}

type TimedTrace = Pick<LoggedTrace, 'moments' | 'attempts' | 'bytesIn' | 'bytesOut' | 'width' | 'encoding'>

/** In order, without gaps except for the calls. The last step is the one in which the request ended. */
export function stepsOf(trace: TimedTrace, row: Pick<RequestRow, 'duration_ms' | 'inputs' | 'hits'>): Step[] {
  const { moments, attempts, width, encoding, bytesOut: bytes } = trace
  const { duration_ms: durationMs, inputs, hits } = row
  const { authenticated, read, admitting, admitted, lookedUp, gathered, settled } = moments
  const firstCallMs = attempts.length === 0 ? undefined : Math.min(...attempts.map(begunMs))
  const lastCallMs = attempts.reduce((last, call) => Math.max(last, call.startMs + call.durationMs), 0)
  const steps: Step[] = []
  let atMs = 0
  /** Returns whether the request went on after this step. */
  const step = (name: Step['name'], endMs: number | undefined, note: Step['note']): boolean => {
    const untilMs = Math.max(atMs, Math.min(endMs ?? durationMs, durationMs))
    steps.push({ name, start_ms: hundredths(atMs), duration_ms: hundredths(untilMs - atMs), note })
    atMs = untilMs
    return endMs !== undefined
  }
  const isOld = authenticated === undefined && admitting !== undefined
  if (!isOld) {
    if (!step('authenticate', authenticated, {})) return steps
    if (!step('read', read, { bytes: trace.bytesIn })) return steps
    if (!step('negotiate', admitting, {})) return steps
  }
  if (!step('admit', admitted, {})) return steps
  if (gathered !== undefined || attempts.length > 0)
    step('gather', lookedUp ?? firstCallMs ?? gathered, counted({ inputs, hits }))
  atMs = Math.max(atMs, Math.min(lastCallMs, durationMs))
  if (gathered !== undefined) {
    step('shape', gathered, counted({ vectors: width === undefined ? undefined : inputs, width }))
    if (!step('settle', settled, {})) return steps
  }
  step('answer', durationMs, { ...counted({ bytes }), ...(encoding === undefined ? {} : { encoding }) })
  return steps
}

function begunMs({ startMs, waitedMs }: LoggedCall): number {
  return startMs - waitedMs
}

/** Without what is unknown. */
function counted(note: Readonly<Record<string, number | null | undefined>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(note).flatMap(([name, value]) =>
      typeof value === 'number' ? [[name, value] as const] : [],
    ),
  )
}

/** The steps of an image job that the log of its request knows. */
export function jobStepsOf({ row, trace, entries }: LoggedRequest): JobStep[] {
  const { moments, attempts, reservation } = trace
  const delivered = attempts.findLast(({ outcome }) => outcome === 'ok')
  const posted = entries.find(({ kind }) => kind === 'post')
  const step = (name: JobStep['name'], ms: number | undefined): JobStep[] =>
    ms === undefined ? [] : [{ name, at: isoOf(momentOf(row.id) + ms) }]
  return [
    ...(reservation === undefined ? [] : step('reserved', moments.admitted)),
    ...step('sent', attempts[0]?.startMs),
    ...step('delivered', delivered && delivered.startMs + delivered.durationMs),
    ...step('kept', moments.gathered),
    ...(posted === undefined ? [] : [{ name: 'posted' as const, at: posted.at }]),
  ]
}

function attemptBody(call: LoggedCall): Detail['attempts'][number] {
  return {
    attempt: call.attempt,
    call_id: call.callId,
    deployment: call.deployment,
    part: call.part,
    inputs: call.inputs,
    start_ms: call.startMs,
    waited_ms: call.waitedMs,
    first_byte_ms: call.firstByteMs ?? null,
    duration_ms: call.durationMs,
    outcome: call.outcome,
    status: call.status ?? null,
    reason: call.reason ?? null,
    retry_after_ms: call.retryAfterMs ?? null,
    upstream_request_id: call.upstreamRequestId ?? null,
    instead_of: call.insteadOf ?? null,
    shared_with: call.sharedWith,
  }
}

/** A row of the ledger as one line, or as one line for each count of the call whose price is known. */
function moneyLines(entry: Entry, { trace, row }: LoggedRequest): MoneyLine[] {
  const { attempt, call_id, deployment, kind, at } = entry
  const counted_by = entry.usage === 'upstream' ? 'upstream' : 'torana'
  const about = { attempt, call_id, deployment, kind, counted_by, at } as const
  const whole = { ...about, price_usd: null, per: 1 as const, amount_usd: entry.amount_usd }
  if (deployment === `${entry.model}/cache`)
    return [{ ...whole, of: 'hits', count: row.hits ?? 0, counted_by: 'torana' }]
  const counts = trace.attempts.find((call) => call.attempt === attempt)?.counts ?? []
  const amount = entry.amount === null ? undefined : BigInt(entry.amount)
  const amounts = kind === 'post' ? amountsOf(counts, amount) : undefined
  if (amounts === undefined)
    return [
      { ...whole, of: entry.images > 0 ? 'images' : 'tokens', count: entry.images || (entry.tokens ?? 0) },
    ]
  return counts.map(({ of, count, nanoUsd, per }, index) => ({
    ...about,
    of,
    count,
    price_usd: amountText(nanoUsd),
    per,
    amount_usd: amountText(amounts[index]),
  }))
}

const MILLION = 1_000_000n

/**
 * The cost of each count. A call is rounded up once, so the last line gets what the others were rounded down by.
 * Undefined: the counts do not add up to the amount, as when only a difference was posted.
 */
export function amountsOf(
  counts: readonly PricedCount[],
  amountNanoUsd: bigint | undefined,
): readonly (bigint | undefined)[] | undefined {
  if (counts.length === 0) return undefined
  if (amountNanoUsd === undefined) return counts.map(() => undefined)
  const millionths = counts.map(
    ({ count, nanoUsd = 0n, per }) => BigInt(count) * nanoUsd * (per === 1 ? MILLION : 1n),
  )
  const exact = millionths.reduce((sum, one) => sum + one, 0n)
  if ((exact + MILLION - 1n) / MILLION !== amountNanoUsd) return undefined
  const down = millionths.map((one) => one / MILLION)
  const rest = amountNanoUsd - down.reduce((sum, one) => sum + one, 0n)
  return down.map((one, index) => (index === down.length - 1 ? one + rest : one))
}

function amountText(nanoUsd: bigint | undefined): string | null {
  return nanoUsd === undefined ? null : decimalOf(nanoUsd)
}

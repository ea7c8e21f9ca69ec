/** One request of the log as JSON: its steps on a line of time, and its money line by line. */
import type { z } from 'zod'
import type { PricedCount } from '#core/request-trace.ts'
import { momentOf } from '#core/ledger.ts'
import { decimalOf } from '#core/price.ts'
import type {
  BookedCall,
  ForgottenRequest,
  LoggedCall,
  LoggedRequest,
  RequestDetail,
  RequestHistogram,
} from '#ports/request-reports.ts'
import { isoOf } from '../wire/times.ts'
import type * as schemas from './schemas.ts'
import { stepsOf } from './steps.ts'

type RowBody = z.output<typeof schemas.requestRow>
type MoneyLine = z.output<typeof schemas.moneyLine>

export function rowBody(row: LoggedRequest): RowBody {
  return {
    id: row.id,
    at: isoOf(row.atMs),
    kind: row.kind,
    source: row.source,
    status: row.status,
    fault: row.fault ?? null,
    outcome: row.outcome,
    project: row.project ?? null,
    key: row.key ?? null,
    model: row.model ?? null,
    deployments: [...row.deployments],
    calls: row.calls,
    inputs: row.inputs ?? null,
    hits: row.hits ?? null,
    tokens: row.tokens ?? null,
    images: row.images ?? null,
    cost_usd: amountText(row.costNanoUsd),
    unpriced: row.isUnpriced,
    usage: row.usage ?? null,
    duration_ms: hundredths(row.durationMs),
    own_ms: hundredths(row.ownMs),
    waited_ms: hundredths(row.waitedMs),
    node: row.node,
    asset: row.asset ?? null,
    user: row.labels?.user ?? null,
    tags: { ...row.labels?.tags },
  }
}

export function detailBody(
  detail: RequestDetail,
  job: z.output<typeof schemas.requestDetail>['job'],
): z.output<typeof schemas.requestDetail> {
  const { booked, reservation, wire } = detail
  const posted = sumOf(booked)
  const reserved = reservation?.nanoUsd
  const returned = reserved === undefined || reserved < posted ? 0n : reserved - posted
  return {
    ...rowBody(detail),
    log: 'kept',
    route: detail.route,
    asked_model: detail.askedModel ?? null,
    client_request_id: detail.clientRequestId ?? null,
    space: detail.space ?? null,
    emulated: [...detail.emulated],
    dropped: [...detail.dropped],
    bytes_in: detail.bytesIn,
    bytes_out: detail.bytesOut,
    steps: stepsOf(detail),
    attempts: detail.attempts.map(attemptBody),
    money: {
      reserved_usd: amountText(reserved),
      reserved_from: [...(reservation?.from ?? [])],
      lines: booked.flatMap((entry) => moneyLines(entry, detail)),
      posted_usd: decimalOf(posted),
      returned_usd: decimalOf(returned),
      saved_usd: decimalOf(detail.savedNanoUsd),
    },
    ledger: booked.map(ledgerBody),
    wire: {
      in: { ...(wire?.in ?? { model: detail.askedModel ?? null }) },
      out: { ...(wire?.out ?? { model: detail.model ?? null }) },
      differences: (wire?.differences ?? []).map((difference) => ({ ...difference })),
    },
    job,
    replay: { possible: false, reason: replayReason(detail.project) },
  }
}

/** Inputs are kept nowhere: there is nothing that could be sent again. */
export function replayReason(project: string | undefined): string {
  return `${project ?? 'Torana'} keeps no inputs`
}

export function forgottenBody(request: ForgottenRequest): z.output<typeof schemas.forgottenRequest> {
  const { id, project, key, model, booked } = request
  return {
    id,
    at: isoOf(momentOf(id)),
    log: 'deleted',
    project,
    key,
    model,
    ledger: booked.map(ledgerBody),
    posted_usd: decimalOf(sumOf(booked)),
  }
}

function attemptBody(call: LoggedCall): z.output<typeof schemas.attempt> {
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

function ledgerBody(entry: BookedCall) {
  return {
    attempt: entry.attempt,
    call_id: entry.callId,
    kind: entry.kind,
    deployment: entry.deployment,
    usage: entry.usage,
    tokens: entry.tokens ?? null,
    images: entry.images,
    amount_usd: amountText(entry.amountNanoUsd),
    cost_by: entry.remarks?.costBy ?? ('price' as const),
    told_tokens: entry.remarks?.toldTokens ?? null,
    told_usd: amountText(nanoUsdIn(entry.remarks?.toldNanoUsd)),
    at: isoOf(entry.atMs),
  }
}

function nanoUsdIn(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text)
}

/** A row of the ledger as one line, or as one for each thing that was counted for it, if their prices are known. */
function moneyLines(entry: BookedCall, { attempts, hits }: RequestDetail): MoneyLine[] {
  const about = {
    attempt: entry.attempt,
    call_id: entry.callId,
    deployment: entry.deployment,
    kind: entry.kind,
    counted_by: entry.usage === 'upstream' ? ('upstream' as const) : ('torana' as const),
    at: isoOf(entry.atMs),
  }
  const whole = { ...about, price_usd: null, per: 1 as const, amount_usd: amountText(entry.amountNanoUsd) }
  if (entry.deployment === `${entry.model}/cache`)
    return [{ ...whole, of: 'hits', count: hits ?? 0, counted_by: 'torana' }]
  const counts = attempts.find(({ attempt }) => attempt === entry.attempt)?.counts ?? []
  const amounts = entry.kind === 'post' ? amountsOf(counts, entry.amountNanoUsd) : undefined
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
 * What each count costs. A call is rounded up once, so the last line has what the others were rounded down by.
 * Undefined: the counts do not make up the amount, as when only a difference was posted.
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

function sumOf(booked: readonly BookedCall[]): bigint {
  return booked.reduce((sum, { amountNanoUsd = 0n }) => sum + amountNanoUsd, 0n)
}

export function histogramBody(found: RequestHistogram): z.output<typeof schemas.histogram> {
  const { slotMs, total, slots, facets, cappedAtMs } = found
  return {
    slot_seconds: slotMs / 1000,
    total,
    data: slots.map(({ atMs, counts }) => ({ at: isoOf(atMs), ...counts })),
    facets: facets
      ? {
          outcome: { ...facets.outcome },
          kind: { ...facets.kind },
          model: { ...facets.model },
          key: { ...facets.key },
          fault: { ...facets.fault },
          user: { ...facets.user },
          tag: { ...facets.tag },
        }
      : null,
    capped_at: cappedAtMs === undefined ? null : isoOf(cappedAtMs),
  }
}

function amountText(nanoUsd: bigint | undefined): string | null {
  return nanoUsd === undefined ? null : decimalOf(nanoUsd)
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100
}

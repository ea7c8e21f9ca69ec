/** Rows of the request log and of the ledger, as reports tell them. */
import { momentOf } from '#core/ledger.ts'
import type { EntryKind, EntryRemarks, UsageSource } from '#core/ledger.ts'
import { labelsOf, type Tags } from '#core/labels.ts'
import { outcomeOf } from '#core/request-outcome.ts'
import { KIND_OF_ROUTE, sourceOf } from '#ports/request-reports.ts'
import type { BookedCall, LoggedRequest, RequestDetail } from '#ports/request-reports.ts'
import { traceOf, traceOfOldSteps, type OldSteps, type ReadTrace } from '../books/trace-text.ts'

export interface RequestRow {
  readonly request_id: string
  readonly route: string
  readonly status: number
  readonly fault: string | null
  readonly project: string | null
  readonly key_id: string | null
  readonly model: string | null
  readonly deployments: string | null
  readonly attempts: number | null
  readonly inputs: number | null
  readonly tokens: bigint | null
  readonly amount_nano: bigint | null
  readonly client_request_id: string | null
  readonly end_user: string | null
  readonly tags: Tags | null
  readonly duration_ms: number
  readonly hits: number | null
  readonly images: number | null
  readonly own_ms: number | null
  readonly waited_ms: number | null
  readonly trace: string | null
  readonly steps: OldSteps | null
  readonly node_id: string | null
  readonly host: string | null
}

export interface EntryRow {
  readonly attempt: number
  readonly call_id: string
  readonly kind: EntryKind
  readonly deployment: string
  readonly model: string
  readonly usage: UsageSource
  readonly tokens: bigint | null
  readonly images: number
  readonly amount_nano: bigint | null
  readonly remarks: EntryRemarks | null
  readonly written_at: Date
  readonly project: string
  readonly key_id: string
}

const NOTHING_NOTED: OldSteps = {}

function noted({ trace, steps, model }: RequestRow): ReadTrace {
  const read = trace === null ? undefined : traceOf(trace, model ?? undefined)
  return read ?? traceOfOldSteps(steps ?? NOTHING_NOTED, model ?? undefined)
}

export function rowOf(row: RequestRow): LoggedRequest {
  return loggedOf(row, noted(row))
}

function loggedOf(row: RequestRow, trace: ReadTrace): LoggedRequest {
  const { status, fault, duration_ms: durationMs } = row
  const outcome = outcomeOf(status, fault ?? undefined)
  return {
    id: row.request_id,
    atMs: momentOf(row.request_id),
    kind: KIND_OF_ROUTE.get(row.route) ?? 'embedding',
    source: sourceOf(row.route),
    status,
    fault: fault ?? undefined,
    outcome,
    project: row.project ?? undefined,
    key: row.key_id ?? undefined,
    model: row.model ?? undefined,
    deployments: row.deployments === null ? [] : row.deployments.split(','),
    calls: row.attempts ?? trace.attempts.length,
    inputs: row.inputs ?? undefined,
    hits: row.hits ?? undefined,
    tokens: row.tokens === null ? undefined : Number(row.tokens),
    images: row.images ?? undefined,
    costNanoUsd: row.amount_nano ?? undefined,
    isUnpriced: trace.isUnpriced,
    usage: outcome === 'unknown' ? 'unknown' : trace.usage,
    durationMs,
    ownMs: row.own_ms ?? ownOfOld(durationMs, trace),
    waitedMs: row.waited_ms ?? 0,
    node: row.host ?? row.node_id?.slice(0, 8) ?? '',
    asset: trace.asset,
    clientRequestId: row.client_request_id ?? undefined,
    labels: labelsOf({ user: row.end_user ?? undefined, tags: row.tags ?? undefined }),
  }
}

/** A row of the program before: its calls may have run side by side, so that this is the least. */
function ownOfOld(durationMs: number, { attempts }: ReadTrace): number {
  return Math.max(0, durationMs - attempts.reduce((sum, call) => sum + call.durationMs, 0))
}

export function detailOf(row: RequestRow, entries: readonly EntryRow[]): RequestDetail {
  const trace = noted(row)
  return {
    ...trace,
    ...loggedOf(row, trace),
    route: row.route,
    booked: entries.map(bookedCall),
  }
}

export function bookedCall(entry: EntryRow): BookedCall {
  return {
    attempt: entry.attempt,
    callId: entry.call_id,
    kind: entry.kind,
    deployment: entry.deployment,
    model: entry.model,
    usage: entry.usage,
    tokens: entry.tokens === null ? undefined : Number(entry.tokens),
    images: entry.images,
    amountNanoUsd: entry.amount_nano ?? undefined,
    remarks: entry.remarks ?? undefined,
    atMs: entry.written_at.getTime(),
  }
}

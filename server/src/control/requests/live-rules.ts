/** Requests of the live tail: which ones a filter lets through, and how they are shown. */
import { momentOf } from '#core/money/ledger.ts'
import { decimalOf } from '#core/money/price.ts'
import { outcomeOf } from '#core/request/request-outcome.ts'
import { deploymentsOf, ownTime } from '#core/request/request-trace.ts'
import type { RequestRecord } from '#ports/observer.ts'
import { KIND_OF_ROUTE, sourceOf } from '#ports/request-reports.ts'
import { hundredths, isoOf } from '../shared/times.ts'
import type { RequestFilter } from './filter-queries.ts'
import type { RequestRow } from './queries.ts'

/** Whether a filter lets a request through that has just ended, its time aside. */
export function matches(record: RequestRecord, filter: RequestFilter): boolean {
  const { route, status, fault, durationMs, amountNanoUsd = 0n } = record
  const { deployment, tries, client, address, user } = filter
  const isIn = <Value>(values: readonly Value[] | undefined, value: Value | undefined): boolean =>
    values === undefined || (value !== undefined && values.includes(value))
  return (
    isIn(filter.projects, record.project) &&
    isIn(filter.key, record.keyId) &&
    isIn(filter.model, record.model) &&
    isIn(filter.kind, KIND_OF_ROUTE.get(route)) &&
    (filter.source === undefined || sourceOf(route) === filter.source) &&
    isIn(filter.outcome, outcomeOf(status, fault)) &&
    isIn(filter.fault, fault) &&
    (deployment === undefined || deploymentsIn(record).includes(deployment)) &&
    (filter.status === undefined || status === filter.status) &&
    (filter.slower_ms === undefined || durationMs > filter.slower_ms) &&
    (filter.dearerNanoUsd === undefined || amountNanoUsd > filter.dearerNanoUsd) &&
    (tries === undefined || callsIn(record) >= tries) &&
    (client === undefined || record.clientRequestId === client) &&
    (address === undefined || record.clientAddress === address) &&
    (user === undefined || (record.user || undefined) === user) &&
    Object.entries(filter.tags ?? {}).every(([key, value]) => record.tags?.[key] === value)
  )
}

function deploymentsIn({ deployment, trace }: RequestRecord): readonly string[] {
  return deploymentsOf(deployment, trace?.calls ?? [])
}

function callsIn({ attempts, trace }: RequestRecord): number {
  return attempts ?? trace?.calls.length ?? 0
}

/** A record of this node as the row that the log will have. */
export function rowOfRecord(record: RequestRecord, node: string): RequestRow {
  const { requestId: id, route, status, trace, durationMs, amountNanoUsd } = record
  const outcome = outcomeOf(status, record.fault)
  const { ownMs, waitedMs } =
    trace === undefined ? { ownMs: durationMs, waitedMs: 0 } : ownTime(trace, durationMs)
  return {
    id,
    at: isoOf(momentOf(id)),
    kind: KIND_OF_ROUTE.get(route) ?? 'embedding',
    source: sourceOf(route),
    status,
    fault: record.fault ?? null,
    outcome,
    project: record.project ?? null,
    key: record.keyId ?? null,
    model: record.model ?? null,
    deployments: [...deploymentsIn(record)],
    calls: callsIn(record),
    inputs: record.inputs ?? null,
    hits: record.cache?.hits ?? null,
    tokens: record.promptTokens ?? null,
    images: trace?.images ?? null,
    cost_usd: amountNanoUsd === undefined ? null : decimalOf(amountNanoUsd),
    unpriced: trace?.isUnpriced ?? false,
    usage: outcome === 'unknown' ? 'unknown' : (trace?.usage ?? null),
    duration_ms: hundredths(durationMs),
    own_ms: hundredths(ownMs),
    waited_ms: hundredths(waitedMs),
    node,
    asset: trace?.asset ?? null,
    user: record.user || null,
    tags: { ...record.tags },
  }
}

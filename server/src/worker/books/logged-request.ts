import { outcomeOf } from '#core/request-outcome.ts'
import { deploymentsOf, ownTime } from '#core/request-trace.ts'
import { momentOf } from '#core/ledger.ts'
import { labelsOf } from '#core/labels.ts'
import type { RequestRecord } from '#ports/observer.ts'
import { KIND_OF_ROUTE, sourceOf, type LoggedRequest } from '#ports/request-reports.ts'

/** A record as a row of the log shows it. Undefined: it is about something else than embeddings or images. */
export function loggedRequest(record: RequestRecord, node: string): LoggedRequest | undefined {
  const { requestId: id, status, fault, trace, durationMs } = record
  const kind = KIND_OF_ROUTE.get(record.route)
  if (kind === undefined) return undefined
  const outcome = outcomeOf(status, fault)
  const { calls = [] } = trace ?? {}
  const { ownMs, waitedMs } =
    trace === undefined ? { ownMs: durationMs, waitedMs: 0 } : ownTime(trace, durationMs)
  return {
    id,
    atMs: momentOf(id),
    kind,
    source: sourceOf(record.route),
    status,
    fault,
    outcome,
    project: record.project,
    key: record.keyId,
    model: record.model,
    deployments: deploymentsOf(record.deployment, calls),
    calls: record.attempts ?? calls.length,
    inputs: record.inputs,
    hits: record.cache?.hits,
    tokens: record.promptTokens,
    images: trace?.images,
    costNanoUsd: record.amountNanoUsd,
    isUnpriced: trace?.isUnpriced ?? false,
    usage: outcome === 'unknown' ? 'unknown' : trace?.usage,
    durationMs,
    ownMs,
    waitedMs,
    node,
    asset: trace?.asset,
    clientRequestId: record.clientRequestId,
    labels: labelsOf(record),
  }
}

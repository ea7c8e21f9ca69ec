/** A batch as JSON. No line of it, and nothing that came of one, is ever among it. */
import type { z } from 'zod'
import { onlySpace } from '#core/embedding/space.ts'
import { decimalOf } from '#core/price.ts'
import { RATE_MS, type BatchFigures, type ReportedBatch } from '#ports/batch-reports.ts'
import { isoOf, timeOf } from '../wire/times.ts'
import type { reportedBatch, reportedBatchDetail } from './schemas.ts'

export function batchBody(batch: ReportedBatch): z.output<typeof reportedBatch> {
  const { createdAtMs, endedAtMs, pause } = batch
  return {
    id: batch.id,
    state: batch.state,
    project: batch.project,
    key: batch.keyId,
    endpoint: batch.endpoint,
    model: batch.model ?? null,
    lines: { total: batch.lines, completed: batch.completed, failed: batch.failed },
    tokens: batch.tokens,
    cost_usd: decimalOf(batch.costNanoUsd),
    unknown_cost_usd: decimalOf(batch.unknownNanoUsd),
    space: onlySpace(batch.spaces),
    dropped_lines: batch.droppedLines,
    created_at: isoOf(createdAtMs),
    expires_at: isoOf(batch.expiresAtMs),
    cancelling_at: timeOf(batch.cancellingAtMs),
    ended_at: timeOf(endedAtMs),
    results_until: endedAtMs === undefined ? null : isoOf(endedAtMs + batch.resultsKeptMs),
    pause: pause === undefined ? null : { code: pause.code, until: isoOf(pause.untilMs) },
    continued: batch.isContinued,
    cancelled_because: batch.cancelCode ?? null,
    input_file: batch.inputFileId,
    output: { id: batch.outputFileId, bytes: batch.outputBytes },
    errors: { id: batch.errorFileId, bytes: batch.errorBytes },
  }
}

export function batchDetailBody(
  batch: ReportedBatch,
  { faults, series, recentLines }: BatchFigures,
  nowMs: number,
): z.output<typeof reportedBatchDetail> {
  const { createdAtMs, endedAtMs } = batch
  const countedMs = Math.min(RATE_MS, Math.max(1000, nowMs - createdAtMs))
  return {
    ...batchBody(batch),
    metadata: { ...batch.metadata },
    file_errors: batch.errors.map(({ code, message, param = null, line = null }) => ({
      code,
      message,
      param,
      line,
    })),
    faults: faults.map(({ code, lines }) => ({ code, lines })),
    lines_per_second: endedAtMs === undefined ? Math.round((recentLines / countedMs) * 10_000) / 10 : null,
    series: { slot_ms: series.slotMs, lines: [...series.lines] },
  }
}

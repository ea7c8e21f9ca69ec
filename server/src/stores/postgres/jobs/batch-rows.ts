/** Rows of batches as PostgreSQL returns and takes them. */
import { EXPIRED } from '#core/batch/result.ts'
import type { LineRange } from '#core/batch/chunk.ts'
import type { MadeVectors } from '#core/embedding/made-vectors.ts'
import { ownerIn, playerColumns, type OwnerColumns } from './owner-columns.ts'
import type { Batch, BatchError, BatchState, DonePart, NewBatch, PersonPause } from '#ports/batches.ts'

export interface BatchRow extends OwnerColumns {
  readonly batch_id: string
  readonly terms: string
  readonly endpoint: string
  readonly input_file_id: string
  readonly output_file_id: string
  readonly error_file_id: string
  readonly model: string | null
  readonly digest: string
  readonly metadata: Readonly<Record<string, string>> | null
  readonly tags: Readonly<Record<string, string>> | null
  readonly errors: readonly BatchError[]
  readonly state: BatchState
  readonly created_at: Date
  readonly expires_at: Date
  readonly cancelling_at: Date | null
  readonly ended_at: Date | null
  readonly results_kept_ms: bigint
  readonly lines: number
  readonly chunks: number
  readonly next_chunk: number
  readonly done_chunks: number
  readonly not_before: Date
  readonly pause_code: string | null
  readonly paused_at: Date | null
  readonly paused_by: string | null
  readonly pause_reason: string | null
  readonly completed: number
  readonly failed: number
  readonly expired: number
  readonly tokens: bigint
  readonly output_tokens: bigint
  readonly cost_nano_usd: bigint
  /** From the ledger, without calls of nodes of an earlier version: those are in `tokens` and `cost_nano_usd`. */
  readonly ledger_tokens: bigint
  readonly ledger_amount_nano: bigint
  readonly ledger_unknown_nano: bigint
  readonly output_bytes: bigint
  readonly error_bytes: bigint
  readonly spaces: readonly string[]
  readonly dropped_lines: number
  readonly continued: boolean
  readonly cancel_code: string | null
}

export interface ChunkRow {
  readonly batch_id: string
  readonly chunk: number
  readonly first_byte: bigint
  readonly bytes: number
  readonly first_line: number
  readonly lines: number
  readonly without: string | null
  readonly token: number
}

export interface PartRow {
  readonly chunk: number
  readonly done_number: number
  readonly part_token: number
  readonly head_bytes: number
  readonly output_bytes: bigint
  readonly error_bytes: bigint
  readonly first_line: number
}

/** A chunk with vectors in its results. */
export interface MadeRow extends Omit<ChunkRow, 'batch_id' | 'token'> {
  readonly output_bytes: bigint
  readonly error_bytes: bigint
  readonly faults: Readonly<Record<string, number>> | null
  readonly made: readonly MadeVectors[]
}

export function valuesOf(batch: NewBatch): readonly unknown[] {
  const { chunks, errors, metadata, tags } = batch
  return [
    batch.id,
    batch.project,
    batch.keyId,
    batch.terms,
    batch.endpoint,
    batch.inputFileId,
    batch.outputFileId,
    batch.errorFileId,
    batch.model ?? null,
    batch.digest,
    batch.idempotencyKey ?? null,
    metadata === undefined ? null : JSON.stringify(metadata),
    JSON.stringify(errors),
    errors.length > 0 ? 'failed' : 'in_progress',
    batch.windowMs,
    batch.resultsKeptMs,
    chunks.reduce((sum, { lines }) => sum + lines, 0),
    chunks.length,
    tags === undefined ? null : JSON.stringify(tags),
    ...playerColumns(batch),
  ]
}

export function batchOf(row: BatchRow): Batch {
  return {
    id: row.batch_id,
    ...ownerIn(row),
    terms: row.terms,
    endpoint: row.endpoint,
    inputFileId: row.input_file_id,
    outputFileId: row.output_file_id,
    errorFileId: row.error_file_id,
    model: row.model ?? undefined,
    metadata: row.metadata ?? undefined,
    tags: row.tags ?? undefined,
    errors: row.errors,
    state: row.state,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    cancellingAtMs: row.cancelling_at?.getTime(),
    endedAtMs: row.ended_at?.getTime(),
    resultsKeptMs: Number(row.results_kept_ms),
    lines: row.lines,
    completed: row.completed,
    failed: row.failed,
    tokens: Number(row.tokens + row.ledger_tokens),
    outputTokens: Number(row.output_tokens),
    costNanoUsd: row.cost_nano_usd + row.ledger_amount_nano,
    unknownNanoUsd: row.ledger_unknown_nano,
    outputBytes: Number(row.output_bytes),
    errorBytes: Number(row.error_bytes),
    spaces: row.spaces,
    droppedLines: row.dropped_lines,
    isContinued: row.continued,
    cancelCode: row.cancel_code ?? undefined,
    pausedBy: pausedBy(row),
    pause: row.pause_code === null ? undefined : { code: row.pause_code, untilMs: row.not_before.getTime() },
  }
}

function pausedBy({ paused_at, paused_by, pause_reason }: BatchRow): PersonPause | undefined {
  if (paused_at === null) return undefined
  return { name: paused_by ?? '', atMs: paused_at.getTime(), reason: pause_reason ?? undefined }
}

export function partOf(row: PartRow): DonePart {
  return {
    chunk: row.chunk,
    number: row.done_number,
    firstLine: row.first_line,
    token: row.part_token,
    headBytes: row.head_bytes,
    outputBytes: Number(row.output_bytes),
    errorBytes: Number(row.error_bytes),
  }
}

export function rangeOf({ first_byte, bytes, first_line, lines, without }: ChunkRow | MadeRow): LineRange {
  const range = { firstByte: Number(first_byte), bytes, firstLine: first_line, lines }
  return without === null ? range : { ...range, without }
}

/** What the batch counted of chunks, in the order of `DROP_COUNTS`. Every line of an ended chunk has succeeded or failed. */
export function countedOf(rows: readonly MadeRow[]): readonly unknown[] {
  const sum = (of: (row: MadeRow) => number): number => rows.reduce((total, row) => total + of(row), 0)
  const lines = sum((row) => row.lines)
  const failed = sum(({ faults }) => Object.values(faults ?? {}).reduce((total, count) => total + count, 0))
  const expired = sum(({ faults }) => faults?.[EXPIRED] ?? 0)
  const bytes = [sum((row) => Number(row.output_bytes)), sum((row) => Number(row.error_bytes))]
  return [lines, lines - failed, failed, expired, ...bytes]
}

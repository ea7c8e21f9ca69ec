/** A batch in memory with its chunks, and what follows from them. */
import { NOTHING, type ChunkCounts, type LineRange } from '#core/batch/chunk.ts'
import { isOfPictures } from '#core/batch/request.ts'
import { spacePauseMs } from '#core/batch/space-pause.ts'
import { spaceNames, type MadeVectors } from '#core/embedding/made-vectors.ts'
import type { Batch, ChunkEnd, ChunkKind, DonePart, HasLeftSpace } from '#ports/batches.ts'

export interface StoredChunk extends LineRange {
  state: 'waiting' | 'held' | 'done'
  token: number
  heldUntilMs: number
  isGivenBack: boolean
  part: DonePart | undefined
  counts: ChunkCounts
  /** Room of its results. */
  keptBytes: number
  made: readonly MadeVectors[]
}

export interface StoredBatch {
  batch: Batch
  readonly digest: string
  readonly idempotencyKey: string | undefined
  readonly chunks: StoredChunk[]
  nextChunk: number
  doneChunks: number
  expired: number
  /** Counts claims: the project that was served longest ago comes first. */
  claimedAt: number
  notBeforeMs: number
}

export function kindOf({ batch }: StoredBatch): ChunkKind {
  return isOfPictures(batch.endpoint) ? 'pictures' : 'texts'
}

export function isDone({ batch, chunks, nextChunk, doneChunks }: StoredBatch): boolean {
  return doneChunks === (batch.state === 'cancelling' ? nextChunk : chunks.length)
}

export function spacesOf({ chunks }: StoredBatch): readonly string[] {
  return spaceNames(chunks.flatMap(({ made }) => made))
}

export function waiting({ firstByte, bytes, firstLine, lines }: LineRange): StoredChunk {
  return {
    firstByte,
    bytes,
    firstLine,
    lines,
    state: 'waiting',
    token: 0,
    heldUntilMs: 0,
    isGivenBack: false,
    part: undefined,
    counts: NOTHING,
    keptBytes: 0,
    made: [],
  }
}

/**
 * Drops results that have left their space. Their lines are to be run again, unless the batch was cancelled. Returns whether there
 * were any.
 */
export function dropLeft(stored: StoredBatch, hasLeftSpace: HasLeftSpace, nowMs: number): boolean {
  const left = stored.chunks.filter(({ made }) => made.some(hasLeftSpace))
  if (left.length === 0) return false
  const { droppedLines, lines: all, expiresAtMs } = stored.batch
  const pauseMs = stored.batch.state === 'in_progress' ? spacePauseMs(droppedLines, all) : 0
  stored.notBeforeMs = Math.min(nowMs + pauseMs, Math.max(nowMs, expiresAtMs))
  if (pauseMs > 0)
    stored.batch = { ...stored.batch, pause: { code: 'space_left', untilMs: stored.notBeforeMs } }
  for (const chunk of left) {
    const { counts, part, lines } = chunk
    const { batch } = stored
    if (batch.state === 'in_progress') stored.chunks.push(waiting(chunk))
    Object.assign(chunk, { part: undefined, counts: NOTHING, made: [] })
    stored.expired -= counts.expired
    stored.batch = {
      ...batch,
      completed: batch.completed - counts.completed,
      failed: batch.failed - counts.failed,
      outputBytes: batch.outputBytes - (part?.outputBytes ?? 0),
      errorBytes: batch.errorBytes - (part?.errorBytes ?? 0),
      spaces: spacesOf(stored),
      droppedLines: batch.droppedLines + lines,
    }
  }
  return true
}

/** What is kept of a chunk that ended with this part. */
export function keptBytesOf(
  { keptBytes }: StoredChunk,
  part: ChunkEnd['part'],
  pictureBytes: number | undefined,
): number {
  if (part === undefined) return 0
  const { headBytes, outputBytes, errorBytes } = part
  const bytes = headBytes + outputBytes + errorBytes
  return pictureBytes === undefined ? Math.max(keptBytes, bytes) : bytes + pictureBytes
}

/** Of each project the most urgent batch; of these the one whose project has waited longest for a turn. */
export function nextOf(
  batches: Iterable<StoredBatch>,
  nowMs: number,
  isWanted: (stored: StoredBatch) => boolean,
): StoredBatch | undefined {
  const open = [...batches].filter((stored) => stored.batch.state === 'in_progress' && isWanted(stored))
  const ready = open.filter(
    ({ nextChunk, chunks, notBeforeMs }) => nextChunk < chunks.length && notBeforeMs <= nowMs,
  )
  const servedAt = ({ batch }: StoredBatch): number =>
    Math.max(...open.filter((one) => one.batch.project === batch.project).map(({ claimedAt }) => claimedAt))
  return ready.sort((a, b) => servedAt(a) - servedAt(b) || a.batch.expiresAtMs - b.batch.expiresAtMs)[0]
}

/** A batch in memory with its chunks, and what follows from them. */
import { NOTHING, type ChunkCounts, type LineRange } from '#core/batch/chunk.ts'
import { finalAction } from '#core/batch/final.ts'
import { isOfPictures } from '#core/batch/request.ts'
import { spacePauseMs } from '#core/batch/space-pause.ts'
import { spaceNames, type MadeVectors } from '#core/embedding/made-vectors.ts'
import type {
  Batch,
  ChunkEnd,
  ChunkKind,
  ConfirmedBatch,
  DonePart,
  JudgeMade,
  NewBatch,
  UnconfirmedBatch,
} from '#ports/batches.ts'

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
  /** When a chunk was last done. */
  doneAtMs: number
}

/** What the ledger says that a batch used. */
export type UsedByBatch = (batchId: string) => Pick<Batch, 'tokens' | 'costNanoUsd' | 'unknownNanoUsd'>

export const NOTHING_USED = { tokens: 0, costNanoUsd: 0n, unknownNanoUsd: 0n }

/** As it is when it was made. */
export function storedBatch(asked: NewBatch, nowMs: number): StoredBatch {
  const { digest, idempotencyKey, isRetry: _, windowMs, chunks, ...kept } = asked
  const isFailed = asked.errors.length > 0
  return {
    batch: {
      ...kept,
      state: isFailed ? 'failed' : 'in_progress',
      lines: chunks.reduce((sum, { lines }) => sum + lines, 0),
      createdAtMs: nowMs,
      expiresAtMs: nowMs + windowMs,
      cancellingAtMs: undefined,
      endedAtMs: isFailed ? nowMs : undefined,
      completed: 0,
      failed: 0,
      tokens: 0,
      outputTokens: 0,
      costNanoUsd: 0n,
      unknownNanoUsd: 0n,
      outputBytes: 0,
      errorBytes: 0,
      spaces: [],
      droppedLines: 0,
      pause: undefined,
      pausedBy: undefined,
      isContinued: false,
      cancelCode: undefined,
    },
    digest,
    idempotencyKey,
    chunks: chunks.map(waiting),
    nextChunk: 0,
    doneChunks: 0,
    expired: 0,
    claimedAt: 0,
    notBeforeMs: nowMs,
    doneAtMs: nowMs,
  }
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

export function waiting({ firstByte, bytes, firstLine, lines, without }: LineRange): StoredChunk {
  return {
    firstByte,
    bytes,
    firstLine,
    lines,
    without,
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
 * Drops results that are to be made again. Their lines are to be run again, unless the batch was cancelled. Returns what waits for a
 * probe.
 */
export function dropLeft(
  stored: StoredBatch,
  judge: JudgeMade,
  confirmed: ConfirmedBatch | undefined,
  nowMs: number,
): UnconfirmedBatch['made'] {
  const isCancelling = stored.batch.state === 'cancelling'
  const isConfirmed = ({ deployment }: MadeVectors): boolean =>
    confirmed?.chunks === stored.chunks.length && confirmed.deployments.has(deployment)
  const waitedMs = nowMs - stored.doneAtMs
  const actionFor = (made: MadeVectors): ReturnType<typeof finalAction> => {
    const known = judge(made)
    const state = known !== 'left' && isConfirmed(made) ? 'final' : known
    return finalAction({ state, isCancelling, waitedMs })
  }
  const left = stored.chunks.filter(({ made }) => made.some((one) => actionFor(one) === 'again'))
  const kept = stored.chunks.filter((chunk) => !left.includes(chunk))
  const unconfirmed = kept.flatMap(({ made }) => made.filter((one) => actionFor(one) === 'wait'))
  if (left.length === 0) return unconfirmed
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
  return unconfirmed
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

/** A batch that pauses is tried with one chunk at a time, after its pause. */
function mayBegin({ batch, chunks, notBeforeMs }: StoredBatch, nowMs: number): boolean {
  const isTried = chunks.some(
    ({ state, isGivenBack, heldUntilMs }) => state === 'held' && !isGivenBack && heldUntilMs > nowMs,
  )
  return batch.pausedBy === undefined && notBeforeMs <= nowMs && (batch.pause === undefined || !isTried)
}

export function mayTakeLost(stored: StoredBatch, nowMs: number): boolean {
  const { state, expiresAtMs } = stored.batch
  return state !== 'in_progress' || expiresAtMs <= nowMs || mayBegin(stored, nowMs)
}

/** Of each project one batch: by turns the most urgent, and the one that has waited longest. Of these the one whose project has. */
export function nextOf(
  batches: Iterable<StoredBatch>,
  nowMs: number,
  isWanted: (stored: StoredBatch) => boolean,
): StoredBatch | undefined {
  const open = [...batches].filter((stored) => stored.batch.state === 'in_progress' && isWanted(stored))
  const ready = open.filter((stored) => stored.nextChunk < stored.chunks.length && mayTakeLost(stored, nowMs))
  const servedAt = ({ batch }: StoredBatch): number =>
    Math.max(...open.filter((one) => one.batch.project === batch.project).map(({ claimedAt }) => claimedAt))
  const isByTurn = ({ batch: { project } }: StoredBatch): boolean =>
    ready.reduce((sum, one) => sum + (one.batch.project === project ? one.nextChunk : 0), 0) % 2 === 1
  const turn = (stored: StoredBatch): number => (isByTurn(stored) ? stored.claimedAt : 0)
  return ready.sort(
    (a, b) => servedAt(a) - servedAt(b) || turn(a) - turn(b) || a.batch.expiresAtMs - b.batch.expiresAtMs,
  )[0]
}

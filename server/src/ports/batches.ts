/** Batches: the requests of one file, run in the background, chunk by chunk. What the store keeps of them. */
import type { ChunkCounts, LineRange, PartPlace } from '#core/batch/chunk.ts'
import type { MadeState } from '#core/batch/final.ts'
import type { MadeVectors } from '#core/embedding/made-vectors.ts'
import type { Tags } from '#core/money/labels.ts'
import type { Actor } from './audit.ts'
import type { WorkOwner } from './keys.ts'

/**
 * `in_progress`: some chunks wait or run. `cancelling`: no further chunk begins; chunks in progress end with the results
 * they have. The other states are final. `failed`: the file can't be run, and no line ran. `expired`: the window ended
 * before all lines were done.
 */
export type BatchState = 'in_progress' | 'cancelling' | 'completed' | 'failed' | 'expired' | 'cancelled'

/** Why a file can't be run, in OpenAI's words. Lines count from 1. */
export interface BatchError {
  readonly code: string
  readonly message: string
  readonly param: string | undefined
  readonly line: number | undefined
}

export interface NewBatch extends WorkOwner {
  /** `batch_…`, from a UUIDv7: ids sort by the time of creation. */
  readonly id: string
  /**
   * The terms of the key when the batch was created, as text, for the record only: each call follows the terms in force at
   * that moment.
   */
  readonly terms: string
  readonly endpoint: string
  readonly inputFileId: string
  /** The file ids under which results can be fetched as soon as there are any. */
  readonly outputFileId: string
  readonly errorFileId: string
  /** The model that the lines name. Undefined when they name none, or several. */
  readonly model: string | undefined
  /** Digest of the request: equal digests ask for the same work. */
  readonly digest: string
  readonly idempotencyKey: string | undefined
  /** The caller's SDK marked this request as its own retry. */
  readonly isRetry: boolean
  /** Time in which the batch must complete. */
  readonly windowMs: number
  readonly metadata: Readonly<Record<string, string>> | undefined
  /** Tags of every line that has none of its own. */
  readonly tags?: Tags | undefined
  /** Retention of the results. */
  readonly resultsKeptMs: number
  /** In the order of the file, without a gap. */
  readonly chunks: readonly LineRange[]
  /** If not empty, the batch fails at once and no chunk runs. */
  readonly errors: readonly BatchError[]
}

export interface Batch
  extends
    Omit<NewBatch, 'digest' | 'idempotencyKey' | 'isRetry' | 'windowMs' | 'chunks'>,
    Readonly<Omit<ChunkCounts, 'expired' | 'faults'>> {
  readonly state: BatchState
  /** Total over all chunks. */
  readonly lines: number
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly cancellingAtMs: number | undefined
  readonly endedAtMs: number | undefined
  /** Part of the cost: the amounts reserved for calls whose outcome is unknown. */
  readonly unknownNanoUsd: bigint
  readonly outputBytes: number
  readonly errorBytes: number
  /** The vector spaces of the results so far: one per model and width that the lines ask for. */
  readonly spaces: readonly string[]
  /** Lines dropped from the results because their vectors belong to another space than their model's. */
  readonly droppedLines: number
  /** Why no chunk begins at present: a pause that Torana made, and ends by itself where it can. */
  readonly pause: BatchPause | undefined
  /** A person paused it: no chunk begins until a person resumes it. */
  readonly pausedBy: PersonPause | undefined
  /** An operator lets the batch go on without its key, under the terms of its project. */
  readonly isContinued: boolean
  /** Fault code of a cancellation by Torana. Undefined when a person cancelled, or nothing did. */
  readonly cancelCode: string | undefined
}

/** Batches created with the same key that may still spend money. */
export interface OpenBatches extends WorkOwner {
  readonly isContinued: boolean
  readonly ids: readonly string[]
}

/** A pause by a person. */
export interface PersonPause {
  readonly name: string
  readonly atMs: number
  readonly reason: string | undefined
}

interface BatchPause {
  /** The code of the fault. */
  readonly code: string
  readonly untilMs: number
}

export type CreatedBatch =
  | { readonly kind: 'created' | 'joined'; readonly batch: Batch }
  /** The idempotency key was used for something else. */
  | { readonly kind: 'conflict' }
  /** The project has reached its maximum of open batches. */
  | { readonly kind: 'too-many' }

/** What the lines of a chunk ask for. A node has separate slots per kind, because images take much longer than texts. */
export type ChunkKind = 'texts' | 'pictures'

/** Which chunks a node takes. */
export interface WantedChunks {
  /** `texts` unless given. */
  readonly of?: ChunkKind | undefined
  /** Projects that already have enough chunks on this node. */
  readonly notOf?: readonly string[] | undefined
  /** Batches that already have enough chunks on this node. */
  readonly notOfBatches?: readonly string[] | undefined
}

/** A node's hold on a chunk. The token grows with each holder, so a replaced holder can change nothing. */
export interface ChunkHold {
  readonly batchId: string
  readonly chunk: number
  readonly token: number
}

export interface HeldChunk extends LineRange {
  readonly hold: ChunkHold
  readonly batch: Batch
  /** The batch's window has ended: its lines only get that fault. */
  readonly isLate: boolean
}

export interface ChunkEnd {
  readonly counts: ChunkCounts
  /** Undefined when there is no result, because the batch was cancelled before any line of the chunk ran. */
  readonly part: PartPlace | undefined
  /** The lines that are done. Absent: all of them. */
  readonly done?: LineRange | undefined
  /** The lines that are not done: they become a new chunk, unless the batch is cancelled. */
  readonly rest?: LineRange | undefined
  /** Bytes of images kept beside the part. Absent when unknown: the space reserved for them stays reserved. */
  readonly pictureBytes?: number | undefined
  /** The deployments that made its vectors. Absent: none. */
  readonly made?: readonly MadeVectors[] | undefined
}

/** Bytes reserved for a chunk's results from its project's storage quota. */
export interface WantedRoom {
  readonly leastBytes: number
  readonly mostBytes: number
}

/** What is known of the space of vectors. */
export type JudgeMade = (made: MadeVectors) => MadeState

/** A batch whose chunks are all done, and which does not end before good probes of these deployments. */
export interface UnconfirmedBatch {
  readonly id: string
  /** Including dropped ones: it grows when some run again. */
  readonly chunks: number
  /** Each once, with the largest of its calls. */
  readonly made: readonly Pick<MadeVectors, 'deployment' | 'largest'>[]
}

/** Good probes that were sent after all chunks of a batch were done. */
export interface ConfirmedBatch {
  readonly chunks: number
  readonly deployments: ReadonlySet<string>
}

/** The results of a chunk that has ended. */
export interface DonePart extends PartPlace {
  readonly chunk: number
  /** Position of this chunk among the ended chunks of the batch, from 1. */
  readonly number: number
  /** Of the lines in it; counts from 1. */
  readonly firstLine: number
}

/** Another node has taken over the chunk, or the chunk has ended: the holder stops and writes nothing more. */
export class ChunkLost extends Error {
  override readonly name = 'ChunkLost'
}

/** Every method is one atomic step and may be repeated after a lost answer. Store failures reject with `StoreUnreachable`. */
export interface Batches {
  /**
   * Creates a batch, unless the same was asked before: by a batch of the project with this idempotency key (kept for 24 h),
   * or, if `isRetry` and there is no such key, by a batch of the same key (`keyId`) and digest created within 15 minutes.
   * `maxOpen` bounds the open batches of the project. `by`: the person who made it in the console; the audit entry is
   * written in the same step.
   */
  create(batch: NewBatch, maxOpen: number, by?: Actor): Promise<CreatedBatch>
  /** Undefined when there is none in this project. */
  find(id: string, project: string): Promise<Batch | undefined>
  /** Batches before `after`, newest first, at most `limit`. Undefined when the project has no batch `after`. */
  list(
    project: string,
    page: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly Batch[] | undefined>
  /** The parts of ended chunks in the order in which they ended, `after` the given number: a growing file keeps its beginning. */
  parts(
    batchId: string,
    page: { readonly after?: number | undefined; readonly limit: number },
  ): Promise<readonly DonePart[]>
  /**
   * No further chunk of the batch begins. Has no effect on an ended batch. Undefined when the project has no such batch.
   * `by`: the person who cancelled for the project, or Torana itself; the audit entry is written in the same step. `code`:
   * the fault for which Torana cancelled.
   */
  cancel(id: string, project: string, by?: Actor, code?: string): Promise<Batch | undefined>
  /**
   * Lets the batch go on without its key, under the terms of its project, and at once. Has no effect on a batch that
   * already does, was cancelled or has ended. Undefined when the project has no such batch. The audit entry is written in
   * the same step.
   */
  continue(id: string, project: string, by: Actor): Promise<Batch | undefined>
  /**
   * No further chunk of the batch begins until a person resumes it, and chunks in progress end with the results they have.
   * Has no effect on a batch that a person has paused already, was cancelled or has ended. Undefined when the project has
   * no such batch. The audit entry is written in the same step.
   */
  pauseBy(id: string, project: string, by: Actor, reason?: string): Promise<Batch | undefined>
  /**
   * Ends the pause of a person, and the one that Torana made: chunks may begin at once. Has no effect on a batch that is
   * not paused, was cancelled or has ended. Undefined when the project has no such batch. The audit entry is written in the
   * same step.
   */
  resumeBy(id: string, project: string, by: Actor): Promise<Batch | undefined>
  /** Batches in progress, grouped by key. */
  open(): Promise<readonly OpenBatches[]>
  /**
   * Takes chunks of texts or of images for this node, at most `limit`: first those whose holder has died, then new ones. It
   * may take fewer than there are: repeat until it returns none. Projects take turns. Within a project every other chunk
   * belongs to the batch whose window ends first, and the others to the batch that has waited longest for a turn. After its
   * pause, a paused batch gets one chunk at a time until `resume`.
   */
  claim(nodeId: string, limit: number, wanted?: WantedChunks): Promise<readonly HeldChunk[]>
  /** Extends the holds by `CHUNK_HOLD_MS`. Returns the holds to give up: lost ones, and those of batches that were cancelled or that a person paused. */
  renew(holds: readonly ChunkHold[]): Promise<readonly ChunkHold[]>
  /**
   * Ends a chunk. Rejects with `ChunkLost` when another node holds it. In the same step the result files exist with their
   * current size. The last chunk ends the batch, once: its input is released, and the event is queued for the project's
   * webhooks that ask for it.
   *
   * Before a batch ends, also by `cancel`, `core/batch/final.ts` decides about its vectors. Chunks that are to be made again lose
   * their results, and their lines no longer count as done. Those lines become new chunks and the batch goes on with them; a
   * cancelled batch ends without them. Tokens and cost stay, because they were paid. From the second time on, the batch first
   * pauses (`spacePauseMs`), at most until its window ends. While some wait for a probe, the batch does not end: see `endDone`.
   */
  finish(hold: ChunkHold, end: ChunkEnd): Promise<void>
  /**
   * Ends the batches whose chunks are all done, as `finish` would. `confirmed`: by batch; of one that has other chunks since, it says
   * nothing. Resolves with those that wait.
   */
  endDone(confirmed?: ReadonlyMap<string, ConfirmedBatch>): Promise<readonly UnconfirmedBatch[]>
  /**
   * Reserves space of the project for the results of a chunk, replacing an earlier reservation: as much as `maxBytes` of
   * the project leaves free, up to `mostBytes`. Returns the reserved bytes; 0 when fewer than `leastBytes` are free, and
   * then nothing has changed. `finish` keeps what the results really take, `giveBack` nothing. Rejects with `ChunkLost`
   * when another node holds the chunk.
   */
  takeRoom(hold: ChunkHold, wanted: WantedRoom, maxBytes: number): Promise<number>
  /**
   * Gives up a chunk of which no line ran. No node takes it for `forMs`, unless its batch was cancelled. Has no effect when
   * another node holds it.
   */
  giveBack(hold: ChunkHold, forMs: number): Promise<void>
  /** Lines of the batch succeed again: ends the pause that Torana made, and chunks that were given back may begin at once. */
  resume(batchId: string): Promise<void>
  /** No chunk of the batch begins for `forMs`, because of this fault. */
  pause(batchId: string, code: string, forMs: number): Promise<void>
  /** Batches whose results have reached the end of their retention, oldest first, at most `limit`. */
  due(limit: number): Promise<readonly string[]>
  /** Deletes an ended batch with its chunks. The caller deletes its parts before. */
  forget(id: string): Promise<void>
}

/** Hold of a chunk: longer than any pause of a healthy process, and short enough that a dead node's chunks soon go on. */
export const CHUNK_HOLD_MS = 15_000

/** Batches: the requests of one file, run in the background, chunk by chunk. What the store keeps of them. */
import type { ChunkCounts, LineRange, PartPlace } from '#core/batch/chunk.ts'
import type { MadeVectors } from '#core/embedding/made-vectors.ts'
import type { Tags } from '#core/labels.ts'
import type { Actor } from './audit.ts'

/**
 * `in_progress`: chunks of it wait or run. `cancelling`: no further chunk begins; those under way end with what they have.
 * The others are ends. `failed`: its file can't be run, and none of it was. `expired`: its time was up before all of it was done.
 */
export type BatchState = 'in_progress' | 'cancelling' | 'completed' | 'failed' | 'expired' | 'cancelled'

/** Why a file can't be run, in OpenAI's words. Lines count from 1. */
export interface BatchError {
  readonly code: string
  readonly message: string
  readonly param: string | undefined
  readonly line: number | undefined
}

export interface NewBatch {
  /** `batch_…`, from a UUIDv7: ids sort by the time of creation. */
  readonly id: string
  readonly project: string
  readonly keyId: string
  /** What the key allowed at that moment, as text: a record. The batch runs on the terms in force at each call. */
  readonly terms: string
  readonly endpoint: string
  readonly inputFileId: string
  /** The ids that its results can be fetched by as soon as there are any. */
  readonly outputFileId: string
  readonly errorFileId: string
  /** As the lines name it. Undefined: they name none, or several. */
  readonly model: string | undefined
  /** Of what was asked for: equal digests ask for the same. */
  readonly digest: string
  readonly idempotencyKey: string | undefined
  /** The caller's SDK says that this is a retry of its own. */
  readonly isRetry: boolean
  /** How long it may take. */
  readonly windowMs: number
  readonly metadata: Readonly<Record<string, string>> | undefined
  /** Each of its lines has these, unless it has its own. */
  readonly tags?: Tags | undefined
  /** How long its results are kept. */
  readonly resultsKeptMs: number
  /** In the order of the file, without a gap. */
  readonly chunks: readonly LineRange[]
  /** Not empty: the batch has failed at once, and no chunk of it runs. */
  readonly errors: readonly BatchError[]
}

export interface Batch
  extends
    Omit<NewBatch, 'digest' | 'idempotencyKey' | 'isRetry' | 'windowMs' | 'chunks'>,
    Readonly<Omit<ChunkCounts, 'expired' | 'faults'>> {
  readonly state: BatchState
  /** Of all chunks. */
  readonly lines: number
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly cancellingAtMs: number | undefined
  readonly endedAtMs: number | undefined
  /** Whether there is something to fetch. */
  /** Of the cost: calls whose outcome is unknown, with what was reserved for them. */
  readonly unknownNanoUsd: bigint
  readonly outputBytes: number
  readonly errorBytes: number
  /** The vector spaces of its results so far: one for each model and width that its lines ask for. */
  readonly spaces: readonly string[]
  /** Lines whose vectors turned out to be of another space than their model's, and were dropped from the results. */
  readonly droppedLines: number
  /** Why nothing of it begins at present. */
  readonly pause: BatchPause | undefined
  /** An operator lets it go on without its key, by the terms of its project. */
  readonly isContinued: boolean
  /** Why Torana cancelled it: the code of a fault. Undefined: a person did, or nothing was cancelled. */
  readonly cancelCode: string | undefined
}

/** Batches that have begun under the same key and may still buy something. */
export interface OpenBatches {
  readonly keyId: string
  readonly project: string
  readonly isContinued: boolean
  readonly ids: readonly string[]
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
  /** The project has as many batches that have not ended as it may. */
  | { readonly kind: 'too-many' }

/** What the lines of a chunk ask for. A node has room for each kind: pictures take so much longer than texts. */
export type ChunkKind = 'texts' | 'pictures'

/** Which chunks a node takes. */
export interface WantedChunks {
  /** `texts` unless given. */
  readonly of?: ChunkKind | undefined
  /** Projects that have enough of this node for now. */
  readonly notOf?: readonly string[] | undefined
  /** Batches that have enough of this node for now. */
  readonly notOfBatches?: readonly string[] | undefined
}

/** A node's hold on a chunk. The token grows with each holder: one that was replaced can change nothing any more. */
export interface ChunkHold {
  readonly batchId: string
  readonly chunk: number
  readonly token: number
}

export interface HeldChunk extends LineRange {
  readonly hold: ChunkHold
  readonly batch: Batch
  /** The batch's time is up: its lines are only told so. */
  readonly isLate: boolean
}

export interface ChunkEnd {
  readonly counts: ChunkCounts
  /** Undefined: there is no result, since the batch was cancelled before any line of the chunk ran. */
  readonly part: PartPlace | undefined
  /** The lines that have an end. Absent: all of them. */
  readonly done?: LineRange | undefined
  /** The lines that have not: they become a chunk of their own. Without effect when the batch is cancelled. */
  readonly rest?: LineRange | undefined
  /** Bytes of pictures that are kept beside the part. Absent: it is not known, and the room taken for them stays taken. */
  readonly pictureBytes?: number | undefined
  /** Who made its vectors. Absent: nobody. */
  readonly made?: readonly MadeVectors[] | undefined
}

/** Bytes for results that a chunk takes of what its project may keep. */
export interface WantedRoom {
  readonly leastBytes: number
  readonly mostBytes: number
}

/** Whether vectors may be of another space than the one that their model is in now. */
export type HasLeftSpace = (made: MadeVectors) => boolean

/** The results of a chunk that has ended. */
export interface DonePart extends PartPlace {
  readonly chunk: number
  /** How many chunks of the batch had ended with it, from 1. */
  readonly number: number
}

/** Another node has taken the chunk over, or it has ended: its holder stops and says nothing to the store any more. */
export class ChunkLost extends Error {
  override readonly name = 'ChunkLost'
}

/** Every method is one atomic step and may be repeated after an answer was lost. Trouble rejects with `StoreAway`. */
export interface Batches {
  /**
   * Writes a batch, unless the same was asked before: by a batch of the project with this idempotency key (kept for 24 h), or,
   * if `isRetry` and there is no such key, by one of the same key (`keyId`) and digest that was made within 15 minutes.
   * `maxOpen`: batches of the project that have not ended.
   */
  create(batch: NewBatch, maxOpen: number): Promise<CreatedBatch>
  /** Undefined when there is none in this project. */
  find(id: string, project: string): Promise<Batch | undefined>
  /** Newest first, those before `after`; at most `limit`. Undefined: there is no batch `after` in this project. */
  list(
    project: string,
    page: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly Batch[] | undefined>
  /** The parts of ended chunks in the order in which they ended, `after` the given number: so what grows keeps its beginning. */
  parts(
    batchId: string,
    page: { readonly after?: number | undefined; readonly limit: number },
  ): Promise<readonly DonePart[]>
  /**
   * No further chunk of it begins. Without effect on a batch that has ended. Undefined when there is none in this project.
   * `by`: a person who did it for the project, or Torana itself, which the audit tells in the same step. `code`: why Torana did.
   */
  cancel(id: string, project: string, by?: Actor, code?: string): Promise<Batch | undefined>
  /**
   * It goes on without its key, by the terms of its project, and begins at once. Without effect on a batch that does so already, was
   * cancelled or has ended. Undefined when there is none in this project. The audit tells it in the same step.
   */
  continue(id: string, project: string, by: Actor): Promise<Batch | undefined>
  /** Those that are in progress, by their keys. */
  open(): Promise<readonly OpenBatches[]>
  /**
   * Takes chunks of texts or of pictures for this node, at most `limit`: first those whose holder is gone, then new ones. It may
   * take fewer than there are: ask until there are none. Projects take turns. Within a project every other chunk is of the
   * batch with the earliest end of its window, and the others of the batch that has waited longest for a turn. A batch that
   * pauses gets one chunk at a time, after its pause, until `resume`.
   */
  claim(nodeId: string, limit: number, wanted?: WantedChunks): Promise<readonly HeldChunk[]>
  /** Holds them for another `CHUNK_HOLD_MS`. Returns those that are to be given up: lost, or of a batch that was cancelled. */
  renew(holds: readonly ChunkHold[]): Promise<readonly ChunkHold[]>
  /**
   * Ends a chunk. Rejects with `ChunkLost` when it is no longer the holder's. In the same step the files of its results are
   * there, as large as they are so far. With the last chunk the batch ends, once: its input is released, and the webhooks of
   * its project that ask for the event get it to send.
   *
   * Before a batch ends, also by `cancel`, chunks with vectors that have left their space lose their results, and their lines
   * are no longer counted as done. They become chunks of their own, and the batch goes on with these; one that was cancelled ends
   * without them. Tokens and cost stay: they were paid. From the second time on the batch pauses before (`spacePauseMs`), at most
   * until its window ends.
   */
  finish(hold: ChunkHold, end: ChunkEnd): Promise<void>
  /**
   * Takes room of the project for the results of a chunk, in place of what was taken for it before: as much as there is of
   * `maxBytes` for the project, up to `mostBytes`. Returns how much; 0: there are not `leastBytes`, and nothing has changed. `finish`
   * leaves what the results really have, `giveBack` nothing. Rejects with `ChunkLost` when it is no longer the holder's.
   */
  takeRoom(hold: ChunkHold, wanted: WantedRoom, maxBytes: number): Promise<number>
  /** Gives up a chunk of which nothing ran. Nobody takes it for so long, unless its batch was cancelled. Without effect when it is no longer the holder's. */
  giveBack(hold: ChunkHold, forMs: number): Promise<void>
  /** Lines of the batch succeed: it pauses no longer, and what was given back may begin at once. */
  resume(batchId: string): Promise<void>
  /** No chunk of the batch begins for so long, because of this fault. */
  pause(batchId: string, code: string, forMs: number): Promise<void>
  /** Batches whose results have been kept for their time, oldest first, at most `limit`. */
  due(limit: number): Promise<readonly string[]>
  /** Forgets a batch that has ended, with its chunks. Its parts are deleted before. */
  forget(id: string): Promise<void>
}

/** Longer than any pause of a healthy process, short enough that a dead one's chunks soon go on. */
export const CHUNK_HOLD_MS = 15_000

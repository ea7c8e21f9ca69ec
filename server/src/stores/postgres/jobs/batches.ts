import { spaceNames } from '#core/embedding/made-vectors.ts'
import type { Actor } from '#ports/audit.ts'
import {
  ChunkLost,
  type Batch,
  type Batches,
  type BatchState,
  type ChunkEnd,
  type ChunkHold,
  type CreatedBatch,
  type DonePart,
  type ConfirmedBatch,
  type HeldChunk,
  type JudgeMade,
  type NewBatch,
  type OpenBatches,
  type UnconfirmedBatch,
  type WantedChunks,
  type WantedRoom,
} from '#ports/batches.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { WebhooksFor } from '#ports/webhooks.ts'
import { outputFiles } from '../../batch-files.ts'
import { batchEndEvents } from '../../webhook-events.ts'
import { plainArray, textArray } from '../arrays.ts'
import { writeAudit } from '../audit.ts'
import { reachable } from '../unreachable.ts'
import type { Database, Sql } from '../database.ts'
import { ownerIn, type OwnerColumns } from './owner-columns.ts'
import {
  ALIKE_BATCH,
  CANCEL,
  COUNT_CHUNK,
  COUNT_OPEN,
  DONE_BATCHES,
  DUE_BATCHES,
  EARLIER_BATCH,
  END_BATCH,
  END_WAITS,
  FIND_BATCH,
  FINISH_CHUNK,
  FORGET_BATCH,
  FREE_OLD_BATCH_KEY,
  GIVE_BACK,
  HAS_FINISHED,
  INSERT_BATCH,
  LIST_BATCHES,
  LOCK_BATCH,
  NEXT_BATCH,
  OPEN_BATCHES,
  PARTS,
  PAUSE,
  RELEASE_INPUT,
  RENEW_CHUNKS,
  RESUME,
  TAKE_LOST,
  TAKE_NEXT,
} from './batches-sql.ts'
import { cancelAction, changeByPerson, continuing, createAction, pausing, resuming } from './batch-actions.ts'
import { batchOf, partOf, valuesOf, type BatchRow, type ChunkRow, type PartRow } from './batch-rows.ts'
import { keptOfChunk, takeRoom } from './batch-room.ts'
import { heldOf, insertChunks } from './batch-chunks.ts'
import { keptInSpace, type KeptInSpace } from './batch-space.ts'
import { addOutputFile } from './files.ts'
import { LOCK_ALIKE } from './image-jobs-sql.ts'
import { enqueueWebhooks } from './webhooks.ts'

/** Batches that are looked at together: each that waits is read whole. */
const MAX_DONE = 100
/** Retries when another request reuses the idempotency key meanwhile. */
const CREATE_ROUNDS = 10

export class PostgresBatches implements Batches {
  readonly #database: Database
  readonly #webhooksFor: WebhooksFor
  readonly #judge: JudgeMade
  readonly #onCreated: () => void

  constructor(
    database: Database,
    webhooksFor: WebhooksFor = () => [],
    judge: JudgeMade = () => 'final',
    onCreated: () => void = () => {},
  ) {
    this.#onCreated = onCreated
    this.#database = database
    this.#webhooksFor = webhooksFor
    this.#judge = judge
  }

  async create(batch: NewBatch, maxOpen: number, by?: Actor): Promise<CreatedBatch> {
    const created = await reachable(
      this.#database.transaction(async (sql) => {
        const created = await this.#create(sql, batch, maxOpen)
        if (by && created.kind === 'created')
          await writeAudit(sql, this.#database.auditChain, createAction(created.batch, by))
        return created
      }),
    )
    this.#onCreated()
    return created
  }

  async find(id: string, project: string): Promise<Batch | undefined> {
    return this.#one(FIND_BATCH, [id, project])
  }

  async list(
    project: string,
    { after, limit }: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly Batch[] | undefined> {
    if (after !== undefined && (await this.find(after, project)) === undefined) return undefined
    const rows = await reachable(
      this.#database.query<BatchRow>(LIST_BATCHES, [project, after ?? null, limit]),
    )
    return rows.map(batchOf)
  }

  async parts(
    batchId: string,
    { after = 0, limit }: { readonly after?: number | undefined; readonly limit: number },
  ): Promise<readonly DonePart[]> {
    const rows = await reachable(this.#database.query<PartRow>(PARTS, [batchId, after, limit]))
    return rows.map(partOf)
  }

  cancel(id: string, project: string, by?: Actor, code?: string): Promise<Batch | undefined> {
    return reachable(
      this.#database.transaction(async (sql) => {
        const [row] = await sql.query<BatchRow>(LOCK_BATCH, [id])
        if (row?.project !== project) return undefined
        if (row.state !== 'in_progress') return batchOf(row)
        const [cancelled] = await sql.query<BatchRow>(CANCEL, [id, code ?? null])
        await sql.query(END_WAITS, [id])
        const { row: ended } = await this.#endIfDone(sql, cancelled as BatchRow)
        const batch = batchOf(ended)
        if (by) await writeAudit(sql, this.#database.auditChain, cancelAction(batch, by))
        return batch
      }),
    )
  }

  continue(id: string, project: string, by: Actor): Promise<Batch | undefined> {
    return changeByPerson(this.#database, { id, project }, continuing(by))
  }

  pauseBy(id: string, project: string, by: Actor, reason?: string): Promise<Batch | undefined> {
    return changeByPerson(this.#database, { id, project }, pausing(by, reason))
  }

  resumeBy(id: string, project: string, by: Actor): Promise<Batch | undefined> {
    return changeByPerson(this.#database, { id, project }, resuming(by))
  }

  async open(): Promise<readonly OpenBatches[]> {
    const rows = await reachable(
      this.#database.query<OwnerColumns & { readonly continued: boolean; readonly ids: string[] }>(
        OPEN_BATCHES,
        [],
        'batches-open',
      ),
    )
    return rows.map(({ continued, ids, ...owner }) => ({ ...ownerIn(owner), isContinued: continued, ids }))
  }

  claim(nodeId: string, limit: number, wanted: WantedChunks = {}): Promise<readonly HeldChunk[]> {
    const hasPictures = wanted.of === 'pictures'
    const notOf = [textArray(wanted.notOf ?? []), textArray(wanted.notOfBatches ?? [])]
    return reachable(
      this.#database.transaction(async (sql) => {
        const lost = await sql.query<ChunkRow>(
          TAKE_LOST,
          [nodeId, limit, hasPictures, ...notOf],
          'batches-take-lost',
        )
        // Returned alone: a claim that waited for a batch while it holds chunks would break the order of locks.
        if (lost.length > 0) return heldOf(sql, lost)
        const chunks: ChunkRow[] = []
        while (chunks.length < limit) {
          const [next] = await sql.query<{ batch_id: string }>(
            NEXT_BATCH,
            [hasPictures, ...notOf],
            'batches-next',
          )
          if (next === undefined) break
          const taken = await sql.query<ChunkRow>(TAKE_NEXT, [next.batch_id, nodeId], 'batches-take-next')
          // Another node took its last chunk. The next claim looks for other batches.
          if (taken.length === 0) break
          chunks.push(...taken)
        }
        return chunks.length === 0 ? [] : heldOf(sql, chunks)
      }),
    )
  }

  async renew(holds: readonly ChunkHold[]): Promise<readonly ChunkHold[]> {
    const rows = await reachable(
      this.#database.query<{ batch_id: string; chunk: number; must_end: boolean }>(RENEW_CHUNKS, [
        textArray(holds.map(({ batchId }) => batchId)),
        plainArray(holds.map(({ chunk }) => chunk)),
        plainArray(holds.map(({ token }) => token)),
      ]),
    )
    return holds.filter(({ batchId, chunk }) => {
      const kept = rows.find((row) => row.batch_id === batchId && row.chunk === chunk)
      return kept === undefined || kept.must_end
    })
  }

  async finish(hold: ChunkHold, end: ChunkEnd): Promise<void> {
    const isFinished = await reachable(this.#database.transaction((sql) => this.#finish(sql, hold, end)))
    if (!isFinished) throw new ChunkLost(`chunk ${hold.chunk} of ${hold.batchId} is no longer this node's`)
  }

  async endDone(
    confirmed: ReadonlyMap<string, ConfirmedBatch> = new Map(),
  ): Promise<readonly UnconfirmedBatch[]> {
    const done = await reachable(
      this.#database.query<{ batch_id: string }>(DONE_BATCHES, [MAX_DONE], 'batches-done'),
    )
    const waiting: UnconfirmedBatch[] = []
    for (const { batch_id: id } of done) {
      const ended = await reachable(
        this.#database.transaction(async (sql) => {
          const [row] = await sql.query<BatchRow>(LOCK_BATCH, [id])
          const isOpen = row?.state === 'in_progress' || row?.state === 'cancelling'
          return row && isOpen ? await this.#endIfDone(sql, row, confirmed.get(id)) : undefined
        }),
      )
      if (ended?.waiting !== undefined) waiting.push(ended.waiting)
    }
    return waiting
  }

  takeRoom(hold: ChunkHold, wanted: WantedRoom, maxBytes: number): Promise<number> {
    return reachable(this.#database.transaction((sql) => takeRoom(sql, hold, wanted, maxBytes)))
  }

  async giveBack({ batchId, chunk, token }: ChunkHold, forMs: number): Promise<void> {
    await reachable(this.#database.query(GIVE_BACK, [batchId, chunk, token, forMs]))
  }

  async resume(batchId: string): Promise<void> {
    await reachable(
      this.#database.transaction(async (sql) => {
        const resumed = await sql.query(RESUME, [batchId])
        if (resumed.length > 0) await sql.query(END_WAITS, [batchId])
      }),
    )
  }

  async pause(batchId: string, code: string, forMs: number): Promise<void> {
    await reachable(this.#database.query(PAUSE, [batchId, code, forMs]))
  }

  async due(limit: number): Promise<readonly string[]> {
    const rows = await reachable(this.#database.query<{ batch_id: string }>(DUE_BATCHES, [limit]))
    return rows.map(({ batch_id }) => batch_id)
  }

  async forget(id: string): Promise<void> {
    await reachable(this.#database.query(FORGET_BATCH, [id]))
  }

  async #one(statement: string, values: readonly unknown[]): Promise<Batch | undefined> {
    const [row] = await reachable(this.#database.query<BatchRow>(statement, values))
    return row && batchOf(row)
  }

  async #create(sql: Sql, batch: NewBatch, maxOpen: number): Promise<CreatedBatch> {
    const { id, project, keyId, digest, idempotencyKey = null, isRetry } = batch
    if (idempotencyKey === null) await sql.query(LOCK_ALIKE, [`${keyId}\n${digest}`])
    for (let round = 0; round < CREATE_ROUNDS; round += 1) {
      if (idempotencyKey !== null) await sql.query(FREE_OLD_BATCH_KEY, [project, idempotencyKey])
      const [earlier] = await sql.query<BatchRow>(EARLIER_BATCH, [id, project, idempotencyKey])
      if (earlier?.batch_id === id) return { kind: 'created', batch: batchOf(earlier) }
      if (earlier)
        return earlier.digest === digest ? { kind: 'joined', batch: batchOf(earlier) } : { kind: 'conflict' }
      if (isRetry && idempotencyKey === null) {
        const [alike] = await sql.query<BatchRow>(ALIKE_BATCH, [project, keyId, digest])
        if (alike) return { kind: 'joined', batch: batchOf(alike) }
      }
      const [open] = await sql.query<{ count: number }>(COUNT_OPEN, [project])
      if ((open?.count ?? 0) >= maxOpen) return { kind: 'too-many' }
      const [made] = await sql.query<BatchRow>(INSERT_BATCH, valuesOf(batch))
      // Another request inserted the key first and has committed: the next round finds it, unless it was freed since.
      if (made === undefined) continue
      await insertChunks(sql, id, batch.chunks)
      if (made.state === 'failed') await this.#tell(sql, made)
      return { kind: 'created', batch: batchOf(made) }
    }
    throw new StoreUnreachable('PostgreSQL: an idempotency key changes hands faster than it can be looked at')
  }

  async #finish(sql: Sql, { batchId, chunk, token }: ChunkHold, end: ChunkEnd): Promise<boolean> {
    const { counts, part, done, made = [] } = end
    const [batch] = await sql.query<BatchRow>(LOCK_BATCH, [batchId])
    const rest = batch?.state === 'in_progress' ? end.rest : undefined
    const { headBytes = 0, outputBytes = 0, errorBytes = 0 } = part ?? {}
    const place = [part?.token ?? null, headBytes, outputBytes, errorBytes]
    const range = [done?.firstByte, done?.bytes, done?.firstLine, done?.lines, done?.without]
    const ran = range.map((value) => value ?? null)
    const number = (batch?.done_chunks ?? 0) + 1
    const faults = counts.failed === 0 ? null : JSON.stringify(counts.faults)
    const makers = made.length === 0 ? null : JSON.stringify(made)
    const ended = [...place, ...ran, number, faults, makers, ...keptOfChunk(end)]
    const finished = await sql.query<{ grown_bytes: bigint }>(FINISH_CHUNK, [batchId, chunk, token, ...ended])
    if (batch === undefined || finished.length === 0)
      return (await sql.query(HAS_FINISHED, [batchId, chunk, token])).length === 1
    if (rest !== undefined) await insertChunks(sql, batchId, [rest], batch.chunks)
    const { completed, failed, expired, tokens, outputTokens, costNanoUsd } = counts
    const added = [completed, failed, expired, tokens, costNanoUsd, outputBytes, errorBytes, outputTokens]
    const spaces = textArray(spaceNames(made))
    const grownBytes = finished[0]?.grown_bytes ?? 0n
    const values = [batchId, rest === undefined ? 0 : 1, ...added, spaces, grownBytes]
    const [counted] = await sql.query<BatchRow & { counted_at: Date }>(COUNT_CHUNK, values)
    if (counted === undefined) return true
    const nowMs = counted.counted_at.getTime()
    for (const file of outputFiles(batchOf(counted), nowMs)) await addOutputFile(sql, file)
    await this.#endIfDone(sql, counted)
    return true
  }

  /** The batch is locked, so this runs once after its last chunk. */
  async #endIfDone(sql: Sql, row: BatchRow, confirmed?: ConfirmedBatch): Promise<KeptInSpace> {
    if (!isDone(row)) return { row, waiting: undefined }
    const kept = await keptInSpace(sql, row, this.#judge, confirmed)
    if (!isDone(kept.row) || kept.waiting !== undefined) return kept
    const { batch_id, state, expired } = kept.row
    const end: BatchState = state === 'cancelling' ? 'cancelled' : expired > 0 ? 'expired' : 'completed'
    const [ended] = await sql.query<BatchRow>(END_BATCH, [batch_id, end])
    await sql.query(RELEASE_INPUT, [batch_id])
    await this.#tell(sql, ended as BatchRow)
    return { row: ended as BatchRow, waiting: undefined }
  }

  async #tell(sql: Sql, row: BatchRow): Promise<void> {
    await enqueueWebhooks(sql, batchEndEvents(batchOf(row), this.#webhooksFor))
  }
}

function isDone({ state, chunks, next_chunk, done_chunks }: BatchRow): boolean {
  return done_chunks === (state === 'cancelling' ? next_chunk : chunks)
}

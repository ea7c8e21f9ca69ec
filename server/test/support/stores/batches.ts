import {
  CHUNK_HOLD_MS,
  ChunkLost,
  type Batch,
  type Batches,
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
import type { Actor } from '#ports/audit.ts'
import type { Clock } from '#ports/clock.ts'
import { IDEMPOTENCY_MS, RETRY_JOIN_MS } from '#ports/image-jobs.ts'
import { outputFiles } from '#stores/batch-files.ts'
import { batchEndEvents } from '#stores/webhook-events.ts'
import type { MemoryFiles } from './files.ts'
import type { MemoryJobWebhooks } from './image-jobs.ts'
import {
  dropLeft,
  isDone,
  keptBytesOf,
  kindOf,
  mayTakeLost,
  nextOf,
  NOTHING_USED,
  spacesOf,
  storedBatch,
  waiting,
  type StoredBatch,
  type StoredChunk,
  type UsedByBatch,
} from './stored-batch.ts'

/** Batches in memory, gone with the process: for tests. */
export class MemoryBatches implements Batches {
  readonly #clock: Clock
  readonly #webhooks: MemoryJobWebhooks | undefined
  readonly #files: MemoryFiles | undefined
  readonly #judge: JudgeMade
  /** Oldest first. */
  readonly #batches = new Map<string, StoredBatch>()
  #claims = 0
  readonly #usedBy: UsedByBatch

  constructor(
    clock: Clock,
    webhooks?: MemoryJobWebhooks,
    files?: MemoryFiles,
    judge: JudgeMade = () => 'final',
    usedBy: UsedByBatch = () => NOTHING_USED,
  ) {
    this.#usedBy = usedBy
    this.#clock = clock
    this.#judge = judge
    this.#webhooks = webhooks
    this.#files = files
    files?.countResultsBy({
      bytesOf: (project) => this.#keptBytes(project),
      isOpen: (id) => this.#batches.has(id) && this.#batches.get(id)?.batch.endedAtMs === undefined,
      forget: (id) => this.#batches.get(id)?.chunks.forEach((chunk) => (chunk.keptBytes = 0)),
    })
  }

  async create(asked: NewBatch, maxOpen: number): Promise<CreatedBatch> {
    const { digest, idempotencyKey, isRetry } = asked
    const nowMs = this.#clock.nowMs()
    const same = this.#batches.get(asked.id)
    if (same) return { kind: 'created', batch: same.batch }
    const earlier = this.#newest(
      (one) =>
        idempotencyKey !== undefined &&
        one.idempotencyKey === idempotencyKey &&
        one.batch.project === asked.project &&
        one.batch.createdAtMs > nowMs - IDEMPOTENCY_MS,
    )
    if (earlier)
      return earlier.digest === digest ? { kind: 'joined', batch: earlier.batch } : { kind: 'conflict' }
    const alike = this.#newest(
      (one) =>
        isRetry &&
        idempotencyKey === undefined &&
        one.idempotencyKey === undefined &&
        one.batch.project === asked.project &&
        one.batch.keyId === asked.keyId &&
        one.digest === digest &&
        one.batch.createdAtMs > nowMs - RETRY_JOIN_MS,
    )
    if (alike) return { kind: 'joined', batch: alike.batch }
    const open = [...this.#batches.values()].filter(
      ({ batch }) => batch.project === asked.project && batch.endedAtMs === undefined,
    )
    if (open.length >= maxOpen) return { kind: 'too-many' }
    const stored = storedBatch(asked, nowMs)
    this.#batches.set(asked.id, stored)
    if (stored.batch.state === 'failed') await this.#tell(stored.batch)
    return { kind: 'created', batch: stored.batch }
  }

  async find(id: string, project: string): Promise<Batch | undefined> {
    const batch = this.#batches.get(id)?.batch
    return batch?.project === project ? this.#withUse(batch) : undefined
  }

  async list(
    project: string,
    { after, limit }: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly Batch[] | undefined> {
    if (after !== undefined && (await this.find(after, project)) === undefined) return undefined
    return [...this.#batches.values()]
      .map(({ batch }) => batch)
      .filter((batch) => batch.project === project && (after === undefined || batch.id < after))
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, limit)
      .map((batch) => this.#withUse(batch))
  }

  async parts(
    batchId: string,
    { after = 0, limit }: { readonly after?: number | undefined; readonly limit: number },
  ): Promise<readonly DonePart[]> {
    const chunks = this.#batches.get(batchId)?.chunks ?? []
    return chunks
      .flatMap(({ part }) => (part === undefined || part.number <= after ? [] : [part]))
      .sort((a, b) => a.number - b.number)
      .slice(0, limit)
  }

  async cancel(id: string, project: string, _by?: Actor, code?: string): Promise<Batch | undefined> {
    const stored = this.#batches.get(id)
    if (stored?.batch.project !== project) return undefined
    if (stored.batch.state !== 'in_progress') return stored.batch
    const cancellingAtMs = this.#clock.nowMs()
    const cancelled = {
      state: 'cancelling',
      cancellingAtMs,
      cancelCode: code,
      pause: undefined,
      pausedBy: undefined,
    } as const
    stored.batch = { ...stored.batch, ...cancelled }
    for (const chunk of stored.chunks) if (chunk.isGivenBack) chunk.heldUntilMs = cancellingAtMs
    await this.#endIfDone(stored)
    return stored.batch
  }

  async continue(id: string, project: string): Promise<Batch | undefined> {
    const stored = this.#batches.get(id)
    if (stored?.batch.project !== project) return undefined
    if (stored.batch.state !== 'in_progress' || stored.batch.isContinued) return stored.batch
    this.#endWaits(stored, { isContinued: true })
    return stored.batch
  }

  async pauseBy(id: string, project: string, by: Actor, reason?: string): Promise<Batch | undefined> {
    const stored = this.#batches.get(id)
    if (stored?.batch.project !== project) return undefined
    if (stored.batch.state !== 'in_progress' || stored.batch.pausedBy !== undefined) return stored.batch
    const pausedBy = { name: by.name, atMs: this.#clock.nowMs(), reason }
    stored.batch = { ...stored.batch, pausedBy, pause: undefined }
    return stored.batch
  }

  async resumeBy(id: string, project: string): Promise<Batch | undefined> {
    const stored = this.#batches.get(id)
    if (stored?.batch.project !== project) return undefined
    if (stored.batch.state === 'in_progress') this.#endWaits(stored, { pausedBy: undefined })
    return stored.batch
  }

  async open(): Promise<readonly OpenBatches[]> {
    const open = [...this.#batches.values()].filter(({ batch }) => batch.state === 'in_progress')
    const groups = Map.groupBy(open, ({ batch }) => `${batch.keyId} ${batch.isContinued}`)
    return [...groups.values()].map((group) => {
      const { keyId, project, player, isContinued } = (group[0] as StoredBatch).batch
      return { keyId, project, player, isContinued, ids: group.map(({ batch }) => batch.id) }
    })
  }

  async claim(
    _nodeId: string,
    limit: number,
    { of = 'texts', notOf = [], notOfBatches = [] }: WantedChunks = {},
  ): Promise<readonly HeldChunk[]> {
    const isWanted = (stored: StoredBatch): boolean =>
      kindOf(stored) === of &&
      !notOf.includes(stored.batch.project) &&
      !notOfBatches.includes(stored.batch.id)
    const nowMs = this.#clock.nowMs()
    const claimed: HeldChunk[] = []
    const take = (stored: StoredBatch, number: number): void => {
      const chunk = stored.chunks[number] as StoredChunk
      Object.assign(chunk, {
        state: 'held',
        token: chunk.token + 1,
        heldUntilMs: nowMs + CHUNK_HOLD_MS,
        isGivenBack: false,
      })
      const { firstByte, bytes, firstLine, lines, without, token } = chunk
      const hold = { batchId: stored.batch.id, chunk: number, token }
      const isLate = stored.batch.expiresAtMs <= nowMs
      claimed.push({ hold, batch: stored.batch, isLate, firstByte, bytes, firstLine, lines, without })
    }
    for (const stored of this.#batches.values().filter(isWanted))
      for (const [number, { state, heldUntilMs }] of stored.chunks.entries())
        if (claimed.length < limit && state === 'held' && heldUntilMs <= nowMs && mayTakeLost(stored, nowMs))
          take(stored, number)
    while (claimed.length < limit) {
      const next = nextOf(this.#batches.values(), nowMs, isWanted)
      if (next === undefined) break
      this.#claims += 1
      next.claimedAt = this.#claims
      next.nextChunk += 1
      take(next, next.nextChunk - 1)
    }
    return claimed
  }

  async renew(holds: readonly ChunkHold[]): Promise<readonly ChunkHold[]> {
    const heldUntilMs = this.#clock.nowMs() + CHUNK_HOLD_MS
    return holds.filter((hold) => {
      const held = this.#heldBy(hold)
      if (held === undefined) return true
      held.chunk.heldUntilMs = heldUntilMs
      const { state, pausedBy, expiresAtMs } = held.stored.batch
      return state === 'cancelling' || (pausedBy !== undefined && expiresAtMs > this.#clock.nowMs())
    })
  }

  async finish(
    hold: ChunkHold,
    { counts, part, done, rest, made = [], pictureBytes }: ChunkEnd,
  ): Promise<void> {
    const held = this.#heldBy(hold)
    if (held === undefined) {
      const before = this.#batches.get(hold.batchId)?.chunks[hold.chunk]
      if (before?.state === 'done' && before.token === hold.token) return
      throw new ChunkLost(`chunk ${hold.chunk} of ${hold.batchId} is no longer this node's`)
    }
    const { stored, chunk } = held
    const { batch } = stored
    const number = stored.doneChunks + 1
    Object.assign(chunk, {
      state: 'done',
      part: part && { ...part, chunk: hold.chunk, number, firstLine: done?.firstLine ?? chunk.firstLine },
      counts,
      made,
      keptBytes: keptBytesOf(chunk, part, pictureBytes),
    })
    if (done !== undefined) Object.assign(chunk, { without: undefined, ...done })
    if (rest !== undefined && batch.state === 'in_progress') stored.chunks.push(waiting(rest))
    stored.doneChunks += 1
    stored.doneAtMs = this.#clock.nowMs()
    stored.expired += counts.expired
    stored.batch = {
      ...batch,
      completed: batch.completed + counts.completed,
      failed: batch.failed + counts.failed,
      tokens: batch.tokens + counts.tokens,
      outputTokens: batch.outputTokens + counts.outputTokens,
      costNanoUsd: batch.costNanoUsd + counts.costNanoUsd,
      outputBytes: batch.outputBytes + (part?.outputBytes ?? 0),
      errorBytes: batch.errorBytes + (part?.errorBytes ?? 0),
      spaces: spacesOf(stored),
    }
    for (const file of outputFiles(stored.batch, this.#clock.nowMs())) this.#files?.addOutput(file)
    await this.#endIfDone(stored)
  }

  async takeRoom(hold: ChunkHold, { leastBytes, mostBytes }: WantedRoom, maxBytes: number): Promise<number> {
    const held = this.#heldBy(hold)
    if (held === undefined)
      throw new ChunkLost(`chunk ${hold.chunk} of ${hold.batchId} is no longer this node's`)
    const { stored, chunk } = held
    const { project } = stored.batch
    const kept = this.#files?.keptNow(project).bytes ?? this.#keptBytes(project)
    const room = Math.min(mostBytes, maxBytes - (kept - chunk.keptBytes))
    if (room < leastBytes) return 0
    chunk.keptBytes = room
    return room
  }

  async giveBack(hold: ChunkHold, forMs: number): Promise<void> {
    const held = this.#heldBy(hold)
    if (held === undefined) return
    const waitsMs = held.stored.batch.state === 'in_progress' ? forMs : 0
    Object.assign(held.chunk, {
      heldUntilMs: this.#clock.nowMs() + waitsMs,
      isGivenBack: true,
      keptBytes: 0,
    })
  }

  async resume(batchId: string): Promise<void> {
    const stored = this.#batches.get(batchId)
    if (stored?.batch.pause !== undefined) this.#endWaits(stored, {})
  }

  async pause(batchId: string, code: string, forMs: number): Promise<void> {
    const stored = this.#batches.get(batchId)
    if (stored?.batch.state !== 'in_progress' || stored.batch.pausedBy !== undefined) return
    stored.notBeforeMs = this.#clock.nowMs() + forMs
    stored.batch = { ...stored.batch, pause: { code, untilMs: stored.notBeforeMs } }
  }

  async due(limit: number): Promise<readonly string[]> {
    const nowMs = this.#clock.nowMs()
    return [...this.#batches.values()]
      .filter(({ batch }) => batch.endedAtMs !== undefined && batch.endedAtMs < nowMs - batch.resultsKeptMs)
      .slice(0, limit)
      .map(({ batch }) => batch.id)
  }

  async forget(id: string): Promise<void> {
    if (this.#batches.get(id)?.batch.endedAtMs !== undefined) this.#batches.delete(id)
  }

  #endWaits(stored: StoredBatch, change: Partial<Batch>): void {
    stored.notBeforeMs = this.#clock.nowMs()
    stored.batch = { ...stored.batch, ...change, pause: undefined }
    for (const chunk of stored.chunks) if (chunk.isGivenBack) chunk.heldUntilMs = stored.notBeforeMs
  }

  #withUse(batch: Batch): Batch {
    const { tokens, costNanoUsd, unknownNanoUsd } = this.#usedBy(batch.id)
    return {
      ...batch,
      tokens: batch.tokens + tokens,
      costNanoUsd: batch.costNanoUsd + costNanoUsd,
      unknownNanoUsd,
    }
  }

  #keptBytes(project: string): number {
    const own = [...this.#batches.values()].filter(({ batch }) => batch.project === project)
    return own.flatMap(({ chunks }) => chunks).reduce((sum, { keptBytes }) => sum + keptBytes, 0)
  }

  #newest(isWanted: (stored: StoredBatch) => boolean): StoredBatch | undefined {
    return [...this.#batches.values()].findLast(isWanted)
  }

  #heldBy({ batchId, chunk, token }: ChunkHold) {
    const stored = this.#batches.get(batchId)
    const held = stored?.chunks[chunk]
    return stored && held?.state === 'held' && held.token === token ? { stored, chunk: held } : undefined
  }

  async endDone(
    confirmed: ReadonlyMap<string, ConfirmedBatch> = new Map(),
  ): Promise<readonly UnconfirmedBatch[]> {
    const waiting: UnconfirmedBatch[] = []
    for (const [id, stored] of this.#batches) {
      if (stored.batch.endedAtMs !== undefined) continue
      const made = await this.#endIfDone(stored, confirmed.get(id))
      if (made.length > 0) waiting.push({ id, chunks: stored.chunks.length, made })
    }
    return waiting
  }

  /** What it waits for. */
  async #endIfDone(stored: StoredBatch, confirmed?: ConfirmedBatch): Promise<UnconfirmedBatch['made']> {
    if (!isDone(stored)) return []
    const waiting = dropLeft(stored, this.#judge, confirmed, this.#clock.nowMs())
    this.#files?.resize(stored.batch.outputFileId, stored.batch.outputBytes)
    this.#files?.resize(stored.batch.errorFileId, stored.batch.errorBytes)
    if (!isDone(stored) || waiting.length > 0) return isDone(stored) ? waiting : []
    const { batch, expired } = stored
    const isCancelled = batch.state === 'cancelling'
    const state = isCancelled ? 'cancelled' : expired > 0 ? 'expired' : 'completed'
    stored.batch = { ...batch, state, endedAtMs: this.#clock.nowMs(), pause: undefined }
    await this.#files?.release(batch.inputFileId, batch.id)
    await this.#tell(stored.batch)
    return []
  }

  async #tell(batch: Batch): Promise<void> {
    if (this.#webhooks === undefined) return
    const { outbox, webhooksFor } = this.#webhooks
    await outbox.enqueue(batchEndEvents(batch, webhooksFor))
  }
}

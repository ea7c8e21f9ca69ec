import { crc32 } from 'node:zlib'
import { bytesOfVector, vectorOfBytes } from '#core/embedding/cached-vector.ts'
import type { Checksum, StoredVector } from '#core/embedding/cached-vector.ts'
import { append, emptyList, unlink } from '#core/structure/linked-list.ts'
import type { Linked } from '#core/structure/linked-list.ts'
import type { Clock } from '#ports/clock.ts'
import type { CachedVector, VectorCache } from '#ports/vector-cache.ts'
import { RedisConnection, ReplyTimeout } from './connection.ts'

/** Time that a request may lose here before it calls an upstream, which takes several times as long. */
const REPLY_DEADLINE_MS = 50
/**
 * Digests per command. All commands are sent at once, and the replies by the deadline count; a reply should arrive in time on a slow
 * line too: 64 vectors of 3,072 dimensions are 0.8 MB.
 */
const DIGESTS_PER_COMMAND = 64
/** Bytes of writes sent and not yet acknowledged: a read behind them waits for 8 ms at a gigabit. */
const MAX_SENT_BYTES = 1024 * 1024
/** Bytes of writes not yet sent: five of the largest answers of 1,536 dimensions. More come only if Redis is too slow for them. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024
/** A longer time means for ever: Redis adds the time to live to the time of day and must not overflow. */
const MAX_TTL_MS = Number.MAX_SAFE_INTEGER

export interface RedisVectorCacheOptions {
  /** A Redis of its own with `maxmemory` and `allkeys-lru`. */
  readonly url: string | (() => string)
  readonly clock: Pick<Clock, 'nowMs'>
  /** Default: `REPLY_DEADLINE_MS`. */
  readonly replyDeadlineMs?: number | undefined
  /** Default: `MAX_WAITING_BYTES`. */
  readonly maxWaitingBytes?: number | undefined
  /** Called for every failure, once for each read or write. */
  readonly events?: ((event: VectorCacheEvent) => void) | undefined
}

export type VectorCacheEvent =
  /** Redis cannot be reached or broke its deadline; until it is back everything is a miss and nothing is kept. */
  | { readonly kind: 'away'; readonly error: Error }
  /** Digests without an answer by the deadline. */
  | { readonly kind: 'late'; readonly digests: number }
  /** Values that are not ours, of another version, or damaged. */
  | { readonly kind: 'broken'; readonly values: number }
  /** Vectors that were not kept, although Redis was reachable. */
  | { readonly kind: 'dropped'; readonly vectors: number; readonly reason: string }

/** Since the start, for metrics. */
interface Counts {
  lateDigests: number
  brokenValues: number
  /** Includes those while Redis was unreachable. */
  droppedVectors: number
}

/** Its values are not copied before they are sent: the caller may not change them, and they are sent within milliseconds. */
interface Write extends Linked<Write> {
  readonly digest: string
  readonly vector: StoredVector
  readonly bytes: number
  readonly ttlMs: number
}

/**
 * Vectors that all nodes share. While Redis is unreachable it is not called: see `RedisConnection`. Writes are queued and sent a
 * megabyte at a time, so that reads get between them.
 */
export class RedisVectorCache implements VectorCache {
  readonly #options: RedisVectorCacheOptions
  readonly #connection: RedisConnection
  readonly #counts: Counts = { lateDigests: 0, brokenValues: 0, droppedVectors: 0 }
  /** Sent ones leave when they are acknowledged. */
  readonly #writes = emptyList<Write>()
  #writeBytes = 0
  #isWriting = false

  constructor(options: RedisVectorCacheOptions) {
    this.#options = options
    this.#connection = new RedisConnection({
      url: options.url,
      scripts: [],
      replyDeadlineMs: options.replyDeadlineMs ?? REPLY_DEADLINE_MS,
      onError: (error) => options.events?.({ kind: 'away', error }),
    })
  }

  get counts(): Readonly<Counts> {
    return this.#counts
  }

  state(): 'ready' | 'away' {
    return this.#connection.isReady ? 'ready' : 'away'
  }

  /** Resolves after the first attempt, whether it succeeded or not; further attempts follow by themselves. */
  open(): Promise<void> {
    return this.#connection.open()
  }

  async getMany(digests: readonly string[]): Promise<readonly (StoredVector | undefined)[]> {
    const found = Array.from<StoredVector | undefined>({ length: digests.length })
    if (digests.length === 0 || this.state() === 'away') return found
    const parts = partsOf(digests)
    let broken = 0
    let answered = 0
    let isOver = false
    try {
      await this.#connection.exchange(
        parts.map((part) => ['MGET', ...part.map(keyOf)]),
        (reply, index) => {
          const part = parts[index] ?? []
          if (isOver) return
          for (const [at, value] of valuesIn(reply, part.length).entries()) {
            const digest = part[at] ?? ''
            const vector = value ? vectorOfBytes(value, checksumFor(digest)) : undefined
            found[index * DIGESTS_PER_COMMAND + at] = vector
            if (value && !vector) broken += 1
          }
          answered += part.length
        },
      )
    } catch (error) {
      // Any other error ended the connection, which has reported it.
      if (error instanceof ReplyTimeout) this.#reportLate(digests.length - answered)
    }
    isOver = true
    if (broken > 0) this.#reportBroken(broken)
    return found
  }

  setMany(
    entries: readonly { readonly digest: string; readonly vector: CachedVector }[],
    ttlMs: number,
  ): void {
    const wholeMs = Math.min(Math.floor(ttlMs), MAX_TTL_MS)
    if (!(wholeMs > 0)) return
    if (this.state() === 'away') {
      this.#counts.droppedVectors += entries.length
      return
    }
    const expiresAtMs = this.#options.clock.nowMs() + wholeMs
    const maxBytes = this.#options.maxWaitingBytes ?? MAX_WAITING_BYTES
    let tooMany = 0
    for (const { digest, vector } of entries) {
      const { values, tokens, deployment, madeAtMs } = vector
      const bytes = values.byteLength
      if (this.#writeBytes + bytes > maxBytes) {
        tooMany += 1
        continue
      }
      const stored = { values, tokens, deployment, madeAtMs, expiresAtMs }
      const neighbours = { before: undefined, after: undefined }
      append(this.#writes, { digest, vector: stored, bytes, ttlMs: wholeMs, ...neighbours })
      this.#writeBytes += bytes
    }
    if (tooMany > 0) this.#reportDropped(tooMany, `more than ${maxBytes} bytes wait to be written`)
    if (!this.#isWriting) void this.#write()
  }

  /** This node's writes in progress; Redis itself knows how much it holds. */
  size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#writes.length, bytes: this.#writeBytes }
  }

  /** Queued writes are dropped: the vectors can be made again. */
  async close(): Promise<void> {
    this.#connection.close()
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    try {
      while (this.#writes.first) {
        if (this.state() === 'away') this.#dropAll()
        else await this.#writeSome(this.#nextWrites())
      }
    } finally {
      this.#isWriting = false
    }
  }

  async #writeSome(writes: readonly Write[]): Promise<void> {
    const commands = writes.map(commandOf).filter((command) => command !== undefined)
    let kept = 0
    let refusal: unknown
    let isOver = false
    try {
      await this.#connection.exchange(commands, (reply) => {
        if (isOver) return
        if (reply === 'OK') kept += 1
        else refusal = reply
      })
    } catch (error) {
      refusal = error
    }
    isOver = true
    for (const write of writes) this.#forget(write)
    const unfit = writes.length - commands.length
    if (unfit > 0) this.#reportDropped(unfit, 'a name or a number that entries have no room for')
    if (kept < commands.length) this.#reportDropped(commands.length - kept, String(refusal))
  }

  #nextWrites(): readonly Write[] {
    const writes: Write[] = []
    let bytes = 0
    for (let write = this.#writes.first; write && bytes < MAX_SENT_BYTES; write = write.after) {
      writes.push(write)
      bytes += write.bytes
    }
    return writes
  }

  #dropAll(): void {
    this.#counts.droppedVectors += this.#writes.length
    while (this.#writes.first) this.#forget(this.#writes.first)
  }

  #forget(write: Write): void {
    unlink(this.#writes, write)
    this.#writeBytes -= write.bytes
  }

  #reportLate(digests: number): void {
    this.#counts.lateDigests += digests
    this.#options.events?.({ kind: 'late', digests })
  }

  #reportBroken(values: number): void {
    this.#counts.brokenValues += values
    this.#options.events?.({ kind: 'broken', values })
  }

  #reportDropped(vectors: number, reason: string): void {
    this.#counts.droppedVectors += vectors
    this.#options.events?.({ kind: 'dropped', vectors, reason })
  }
}

/** The version of what a digest is made of; the form of values has its own version. */
function keyOf(digest: string): string {
  return `v1:${digest}`
}

function checksumFor(digest: string): Checksum {
  return (bytes) => crc32(bytes, crc32(digest))
}

function partsOf(digests: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(digests.length / DIGESTS_PER_COMMAND) }, (_, index) =>
    digests.slice(index * DIGESTS_PER_COMMAND, (index + 1) * DIGESTS_PER_COMMAND),
  )
}

/** Throws when this is no reply to a read of `length` digests: then replies were lost, or Redis refuses. */
function valuesIn(reply: unknown, length: number): readonly (Buffer | null)[] {
  if (reply instanceof Error) throw reply
  const isOurs =
    Array.isArray(reply) &&
    reply.length === length &&
    reply.every((value) => value === null || Buffer.isBuffer(value))
  if (!isOurs) throw new Error('Redis answered a question for vectors with the reply to another one')
  return reply
}

/** Undefined for a vector that cannot be stored exactly. */
function commandOf({ digest, vector, ttlMs }: Write): readonly (string | Buffer)[] | undefined {
  const bytes = bytesOfVector(vector, checksumFor(digest))
  if (bytes === undefined) return undefined
  return ['SET', keyOf(digest), Buffer.from(bytes.buffer), 'PX', String(ttlMs)]
}

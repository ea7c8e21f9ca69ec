/**
 * One body on its way into memory. Nearly every body arrives whole with its first part: those are neither counted nor given room. For
 * any other, the request is counted and its bytes take room before more is read; without room the node does not read on.
 */
import type { IncomingMessage } from 'node:http'
import type { Holding } from '#core/schedule/fair-share.ts'
import { Fault } from '#core/fault/fault.ts'
import type { AwaitedRoom, BodyRoom, WatchedBody } from './body-room.ts'
import type { BodyLimit } from './bounds.ts'
import { paceFault } from './pace.ts'

/** The sender of a body that arrives, as far as its bounds go. */
export interface BodySender {
  /** The project or client whose share of the memory for bodies it takes. */
  readonly share: string
  /** The share as messages name it: `project 'search'`. */
  readonly shownAs: string
  /** Counts the request before more of it is read. Undefined if there is nothing to wait for. */
  readonly count: () => Promise<void> | undefined
  /** Receives the memory that the body takes, and gives it back when the request ends. */
  readonly hold: (room: Disposable) => void
}

/** Room grows by doubling: few steps, and never more than twice the bytes received. */
const FIRST_ROOM_BYTES = 4 * 1024
const MAX_ROOM_BYTES = 1024 * 1024
/** Bytes received before memory is reserved for the rest. An announced length alone reserves nothing. */
const EARNEST_BYTES = 64 * 1024
/** Parts held before they are joined: each takes some hundred bytes besides its own, which may be one. */
const MAX_PARTS = 1000
/**
 * Announced bytes from which a body that has room for all of it is put together while it arrives. Joining 27 MB at its end would stop
 * the event loop for some thirty milliseconds, and take its memory twice.
 */
const LARGE_BYTES = 1024 * 1024
/** Bodies come and go within a second. */
const RETRY_MS = 1000

export class ArrivingBody implements WatchedBody, Disposable {
  readonly #request: IncomingMessage
  readonly #sender: BodySender
  readonly #limit: BodyLimit
  readonly #bodyRoom: BodyRoom
  readonly #announced: number | undefined
  readonly #resolve: (body: Buffer<ArrayBuffer>) => void
  readonly #reject: (error: unknown) => void
  #bytes = 0
  #parts: Buffer<ArrayBuffer>[] = []
  #joined: Buffer<ArrayBuffer>[] | undefined
  /** A large body that has room for all of it, as far as it has arrived. */
  #whole: Buffer<ArrayBuffer> | undefined
  #isCounted = false
  #isOver = false
  #roomBytes = 0
  #holdings: Holding[] | undefined
  #awaited: AwaitedRoom | undefined
  #isPaused = false
  /** Whether its room comes from the reserve. */
  #isLent = false
  #bytesAtLook = 0
  #idleMs = 0
  #readingMs = 0

  constructor(
    request: IncomingMessage,
    sender: BodySender,
    limit: BodyLimit,
    bodyRoom: BodyRoom,
    resolve: (body: Buffer<ArrayBuffer>) => void,
    reject: (error: unknown) => void,
  ) {
    const length = request.headers['content-length']
    this.#request = request
    this.#sender = sender
    this.#limit = limit
    this.#bodyRoom = bodyRoom
    this.#announced = length === undefined ? undefined : Number(length)
    this.#resolve = resolve
    this.#reject = reject
    request.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError)
    bodyRoom.watch(this)
  }

  /** Gives the room back. */
  [Symbol.dispose](): void {
    for (const holding of this.#holdings ?? []) holding[Symbol.dispose]()
    this.#holdings = undefined
  }

  look(passedMs: number): void {
    // The node makes the sender wait: the pause does not count as slowness.
    if (this.#isPaused) return
    this.#readingMs += passedMs
    this.#idleMs = this.#bytes === this.#bytesAtLook ? this.#idleMs + passedMs : 0
    this.#bytesAtLook = this.#bytes
    const pace = { bytes: this.#bytes, idleMs: this.#idleMs, readingMs: this.#readingMs }
    const { idleMs } = this.#bodyRoom
    const fault = paceFault(pace, idleMs)
    if (fault !== undefined) this.#fail(fault)
    else if (this.#isLent && this.#readingMs >= idleMs) this.#fail(this.#noRoom())
  }

  readonly #onData = (part: Buffer<ArrayBuffer>): void => {
    if (this.#isOver) return
    this.#bytes += part.length
    if (this.#bytes > this.#limit.maxBytes) return this.#fail(tooLarge(this.#limit))
    if (this.#whole === undefined) this.#parts.push(part)
    else part.copy(this.#whole, this.#bytes - part.length)
    if (this.#bytes === this.#announced && this.#roomBytes === 0) return
    if (this.#parts.length === MAX_PARTS) this.#join()
    if (this.#bytes > this.#roomBytes) this.#grow()
  }

  readonly #onEnd = (): void => {
    if (this.#isOver) return
    this.#end()
    if (this.#whole !== undefined) return this.#resolve(this.#whole)
    const [only] = this.#parts
    const all = this.#joined === undefined ? this.#parts : [...this.#joined, ...this.#parts]
    this.#resolve(only !== undefined && all.length === 1 ? only : Buffer.concat(all))
  }

  readonly #onError = (): void => {
    this.#fail(new Fault('request_timeout', 'The connection ended before the whole body arrived.'))
  }

  #beginWhole(): void {
    if (this.#announced === undefined || this.#announced < LARGE_BYTES || this.#roomBytes < this.#announced)
      return
    const whole = Buffer.allocUnsafeSlow(this.#announced)
    let at = 0
    for (const part of [...(this.#joined ?? []), ...this.#parts]) at += part.copy(whole, at)
    this.#parts = []
    this.#joined = undefined
    this.#whole = whole
  }

  /** Joins the parts received since the last join. Joined bytes are not copied again for later parts. */
  #join(): void {
    this.#joined ??= []
    this.#joined.push(Buffer.concat(this.#parts))
    this.#parts = []
  }

  #grow(): void {
    if (!this.#isCounted) {
      this.#isCounted = true
      const counting = this.#sender.count()
      if (counting !== undefined) {
        this.#pause()
        counting.then(this.#goOn, (error: unknown) => this.#fail(error))
        return
      }
    }
    const lacking = this.#bytes - this.#roomBytes
    const asMuchAgain = Math.min(Math.max(this.#roomBytes, FIRST_ROOM_BYTES), MAX_ROOM_BYTES)
    const bytes = Math.max(lacking, Math.min(asMuchAgain, this.#stillToCome()))
    const holding = this.#bodyRoom.take(this.#sender.share, bytes)
    if (holding === undefined) this.#awaitRoom(bytes)
    else this.#hold(holding, bytes)
  }

  /** A body that has waited gets room for all of it, so that it ends soon and does not wait again with its bytes in memory. */
  #awaitRoom(bytes: number): void {
    const isEarnest = this.#bytes >= EARNEST_BYTES
    const rest = isEarnest ? Math.max(bytes, this.#stillToCome()) : bytes
    const awaited = this.#bodyRoom.wait(this.#sender.share, rest, isEarnest)
    if (awaited === undefined) return this.#fail(this.#noRoom())
    this.#pause()
    this.#awaited = awaited
    void awaited.granted.then((granted) => {
      this.#awaited = undefined
      if (this.#isOver) return granted?.holding[Symbol.dispose]()
      if (granted === undefined) return this.#fail(this.#noRoom())
      this.#isLent = granted.isReserve
      if (this.#isLent) this.#readingMs = 0
      this.#hold(granted.holding, rest)
      this.#beginWhole()
      return this.#goOn()
    })
  }

  #stillToCome(): number {
    return (this.#announced ?? this.#limit.maxBytes) - this.#roomBytes
  }

  #hold(holding: Holding, bytes: number): void {
    if (this.#holdings === undefined) {
      this.#holdings = []
      this.#sender.hold(this)
    }
    this.#holdings.push(holding)
    this.#roomBytes += bytes
  }

  #pause(): void {
    this.#isPaused = true
    this.#request.pause()
  }

  readonly #goOn = (): void => {
    if (this.#isOver) return
    if (this.#bytes > this.#roomBytes) {
      this.#grow()
      if (this.#awaited !== undefined || this.#isOver) return
    }
    this.#isPaused = false
    this.#request.resume()
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#end()
    this.#parts = []
    this.#joined = undefined
    this.#whole = undefined
    this.#request.pause()
    this[Symbol.dispose]()
    this.#reject(error)
  }

  #end(): void {
    this.#isOver = true
    this.#bodyRoom.forget(this)
    this.#awaited?.leave()
    this.#request.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError)
  }

  #noRoom(): Fault {
    const { share, shownAs } = this.#sender
    const { held, capacity } = this.#bodyRoom
    const own = this.#bodyRoom.heldBy(share)
    return new Fault(
      'too_many_bodies',
      `This node has no memory left for the body: it holds ${held} of ${capacity} bytes of requests, ${own} of them of ${shownAs}. Retry, or send fewer large requests at once.`,
      { retryAfterMs: RETRY_MS },
    )
  }
}

export function tooLarge({ maxBytes, advice }: BodyLimit): Fault {
  return new Fault('body_too_large', `The body is larger than ${maxBytes} bytes. ${advice}`)
}

/**
 * A request's body that is sent as it is read: at the pace of
 * the connection, a piece for each round of the event loop.
 */

export interface StreamedBody {
  /** Exactly so many bytes: the upstream is told before the first of them. */
  readonly size: number
  /** From the beginning. A chunk must not change once it was handed out. */
  open(): AsyncIterable<Uint8Array>
}

/** What was to be sent could not be read, or is not of the size that was announced. */
export class BodyUnread extends Error {
  override readonly name = 'BodyUnread'
}

/**
 * As much as a socket takes without waiting. In one large
 * piece, a picture of 50 MB would be encrypted in one go.
 */
const PIECE_BYTES = 64 * 1024
const ignore = (): void => {}
const NOTHING = new Uint8Array()

/** One sending of a body. The client library asks for its pieces; the exchange may end it at any time. */
export class SentBody implements AsyncIterableIterator<Uint8Array> {
  readonly #body: StreamedBody
  readonly #yieldLoop: () => Promise<unknown>
  readonly #over = Promise.withResolvers<never>()
  #source: AsyncIterator<Uint8Array> | undefined
  #rest: Uint8Array = NOTHING
  #read = 0
  #handed = 0
  #isHeld = false
  #isOver = false

  /** `yieldLoop` is called before each piece. */
  constructor(body: StreamedBody, yieldLoop: () => Promise<unknown>) {
    this.#body = body
    this.#yieldLoop = yieldLoop
    this.#over.promise.catch(ignore)
  }

  /** Whether the last byte was handed to the client library: from then on, the upstream may have all of it. */
  get isWhole(): boolean {
    return this.#handed === this.#body.size
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#isHeld || this.#isOver) return this.#over.promise
    if (this.isWhole) return { done: true, value: undefined }
    const piece = await this.#readPiece()
    // Between two writes the loop reads what has come: an answer
    // is read before a write finds the connection closed.
    await this.#yieldLoop()
    if (this.#isHeld || this.#isOver) return this.#over.promise
    this.#handed += piece.length
    return { done: false, value: piece }
  }

  /** Sends nothing more, though the answer is still awaited. */
  hold(): void {
    if (this.isWhole) return
    this.#isHeld = true
    this.#close()
  }

  /** Nobody needs it any more. */
  stop(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#over.reject(new BodyUnread('the exchange is over'))
    this.#close()
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.stop()
    return Promise.resolve({ done: true, value: undefined })
  }

  /** The last piece only when nothing comes after it: an upstream that has all of it would begin to work. */
  async #readPiece(): Promise<Uint8Array> {
    if (this.#rest.length === 0) this.#rest = await this.#readChunk()
    if (this.#rest.length === 0)
      throw new BodyUnread(`a body of ${this.#read} bytes instead of ${this.#body.size}`)
    const piece = this.#rest.subarray(0, PIECE_BYTES)
    this.#rest = this.#rest.subarray(piece.length)
    this.#read += piece.length
    const isLast = this.#read === this.#body.size && this.#rest.length === 0
    if (this.#read > this.#body.size || (isLast && (await this.#readChunk()).length > 0))
      throw new BodyUnread(`a body of more than ${this.#body.size} bytes`)
    return piece
  }

  /** Empty at the end. */
  async #readChunk(): Promise<Uint8Array> {
    try {
      this.#source ??= this.#body.open()[Symbol.asyncIterator]()
      for (;;) {
        const { done, value } = await this.#source.next()
        if (done === true) return NOTHING
        if (value.length > 0) return value
      }
    } catch (cause) {
      throw new BodyUnread('a body that could not be read', { cause })
    }
  }

  /** A reader of a file that is told so closes it. Whether that goes well does not matter to the request. */
  #close(): void {
    this.#rest = NOTHING
    this.#source?.return?.().catch(ignore)
  }
}

/** A request's body that is sent while it is read: at the pace of the connection, one part per round of the event loop. */

export interface StreamedBody {
  /** The exact size: the upstream learns it before the first byte. */
  readonly size: number
  /** Opens the body from the beginning. A chunk must not change once it was handed out. */
  open(): AsyncIterable<Uint8Array>
}

/** The body could not be read, or has another size than announced. */
export class BodyUnread extends Error {
  override readonly name = 'BodyUnread'
}

/**
 * Size of a part: what a socket takes without waiting. In one large write, an image of 50 MB would be
 * encrypted in one go.
 */
const PART_BYTES = 64 * 1024
const ignore = (): void => {}
const NOTHING = new Uint8Array()

/** One transmission of a body. The client library asks for its parts; the exchange may end it at any time. */
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

  /** `yieldLoop` is called before each part. */
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
    const part = await this.#readPart()
    // Between two writes the loop reads incoming data: an answer is read before a write finds the connection closed.
    await this.#yieldLoop()
    if (this.#isHeld || this.#isOver) return this.#over.promise
    this.#handed += part.length
    return { done: false, value: part }
  }

  /** Sends nothing more, although the answer is still awaited. */
  hold(): void {
    if (this.isWhole) return
    this.#isHeld = true
    this.#close()
  }

  /** Ends the transmission. */
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

  /** The last part is sent only when nothing comes after it: an upstream that has all of it would begin to work. */
  async #readPart(): Promise<Uint8Array> {
    if (this.#rest.length === 0) this.#rest = await this.#readChunk()
    if (this.#rest.length === 0)
      throw new BodyUnread(`a body of ${this.#read} bytes instead of ${this.#body.size}`)
    const part = this.#rest.subarray(0, PART_BYTES)
    this.#rest = this.#rest.subarray(part.length)
    this.#read += part.length
    const isLast = this.#read === this.#body.size && this.#rest.length === 0
    if (this.#read > this.#body.size || (isLast && (await this.#readChunk()).length > 0))
      throw new BodyUnread(`a body of more than ${this.#body.size} bytes`)
    return part
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

  /** Closes the reader of the file. Whether that succeeds does not matter to the request. */
  #close(): void {
    this.#rest = NOTHING
    this.#source?.return?.().catch(ignore)
  }
}

/** The body of a request, chunk by chunk on demand: the sender is not read faster than its bytes are used. */
import type { IncomingMessage } from 'node:http'
import { Fault } from '#core/fault/fault.ts'
import { paceFault } from '../../gate/pace.ts'

export interface IncomingLimits {
  readonly maxBytes: number
  /** Advice for a sender of too large a body. */
  readonly advice: string
  /** Longest wait for the next chunk. */
  readonly idleMs: number
}

/** Must be released. The rest of the body is then neither read nor buffered, and the connection can still be answered on. */
export class IncomingBytes {
  /** Bytes handed out so far. */
  received = 0
  readonly #request: IncomingMessage
  readonly #limits: IncomingLimits
  #chunk: Buffer | undefined
  #isEnded = false
  #isCut = false
  #wake: (() => void) | undefined
  /** Time spent waiting for the sender. */
  #readingMs = 0

  /** A body that is announced too large is not read at all. */
  constructor(request: IncomingMessage, limits: IncomingLimits) {
    this.#request = request
    this.#limits = limits
    if (Number(request.headers['content-length'] ?? 0) > limits.maxBytes) throw this.#tooLarge()
    this.#isCut = request.destroyed && !request.readableEnded
    this.#isEnded = request.readableEnded
    request.pause()
    request.on('data', this.#onData).on('end', this.#onEnd)
    request.on('error', this.#onCut).on('close', this.#onCut)
  }

  /** Undefined at the end of the body. */
  async next(): Promise<Buffer | undefined> {
    // Reads all that has arrived, through `#onData`: a body in chunks of one byte must not cost a disk write for each.
    if (this.#chunk === undefined) this.#request.read()
    if (this.#chunk === undefined && !this.#isEnded && !this.#isCut) await this.#arrival()
    const chunk = this.#chunk
    this.#chunk = undefined
    if (chunk === undefined && this.#isEnded) return undefined
    if (chunk === undefined)
      throw new Fault('request_timeout', 'The connection ended before the whole body arrived.')
    this.received += chunk.length
    if (this.received > this.#limits.maxBytes) throw this.#tooLarge()
    const pace = { bytes: this.received, idleMs: 0, readingMs: this.#readingMs }
    const tooSlow = paceFault(pace, this.#limits.idleMs)
    if (tooSlow !== undefined) throw tooSlow
    return chunk
  }

  release(): void {
    this.#request.pause()
    this.#request.off('data', this.#onData).off('end', this.#onEnd)
    this.#request.off('error', this.#onCut).off('close', this.#onCut)
  }

  async #arrival(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const { idleMs } = this.#limits
    const idle = setTimeout(() => {
      reject(paceFault({ bytes: this.received, idleMs, readingMs: 0 }, idleMs))
    }, idleMs)
    const sinceMs = performance.now()
    this.#wake = resolve
    this.#request.resume()
    try {
      await promise
    } finally {
      clearTimeout(idle)
      this.#readingMs += performance.now() - sinceMs
      this.#wake = undefined
    }
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#request.pause()
    this.#chunk = chunk
    this.#wake?.()
  }

  readonly #onEnd = (): void => {
    this.#isEnded = true
    this.#wake?.()
  }

  readonly #onCut = (): void => {
    this.#isCut = true
    this.#wake?.()
  }

  #tooLarge(): Fault {
    return new Fault(
      'body_too_large',
      `The body is larger than ${this.#limits.maxBytes} bytes. ${this.#limits.advice}`,
    )
  }
}

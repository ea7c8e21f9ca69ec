/**
 * Opens every outgoing connection: one pool per origin, one handler object per call. It knows time, size and
 * bytes, but not their meaning.
 */
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { ProxySettings } from '#core/settings.ts'
import type { UpstreamTls } from '#core/catalog/upstream-tls.ts'
import { proxyAgent } from './fetch.ts'
import { digestOf, NO_TIMEOUTS, openPool } from './pool.ts'
import { Rounds, type Flow } from './rounds.ts'
import { SentBody, type StreamedBody } from './sent-body.ts'
import { codingIn, Unpacking } from './unpacking.ts'

export interface HttpQuestion {
  readonly origin: string
  /** Certificates of the upstream; undefined for the usual ones. */
  readonly tls?: UpstreamTls | undefined
  readonly path: string
  /** Flat list of names and values. */
  readonly headers: string[]
  readonly timeoutMs: number
  /** Largest answer read, unpacked; undefined for the limit of all calls. */
  readonly answerBytes?: number | undefined
}

export interface HttpCall extends HttpQuestion {
  readonly body: string | StreamedBody
}

/** Takes the bytes of a 2xx answer as they arrive, unpacked. An error that it throws ends the exchange. */
export interface ByteSink {
  /** Called once, before the first byte, for a reader that depends on the kind of content. */
  start?(status: number, headers: HttpAnswer['headers']): void
  push(chunk: Uint8Array): void
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body of an answer that is not 2xx, cut to its first 64 KB; empty otherwise. */
  readonly errorBody: string
  /** When the head of the answer came, on the clock of `performance.now()`. */
  readonly firstByteMs: number
}

/** The call took longer than its timeout. */
export class HttpTimeout extends Error {
  override readonly name = 'HttpTimeout'
}
/** The answer exceeded the limit. */
export class HttpTooLarge extends Error {
  override readonly name = 'HttpTooLarge'
}

/** The connection was cut after the answer had begun. */
export class HttpCut extends Error {
  override readonly name = 'HttpCut'
}

const unsent = new WeakSet<object>()

/**
 * Whether this error of a call came before anything of it was sent, or, for a streamed body, before its last
 * byte was. An upstream that has only a part of a request has nothing to charge for.
 */
export function isUnsent(error: unknown): boolean {
  return typeof error === 'object' && error !== null && unsent.has(error)
}

export interface HttpOptions {
  readonly connectTimeoutMs: number
  readonly answerBytes: number
  readonly proxy?: ProxySettings | undefined
  /** Called before each part of 64 KB of a streamed body; shared by all of them. */
  readonly yieldOnSending: () => Promise<unknown>
}

/** Bytes kept of an error body: enough for any message; an upstream's HTML page need not be kept. */
const ERROR_BODY_BYTES = 64 * 1024

/** Interval of the sweep over all calls, which is cheaper than a timer for each, and late by at most this. */
const SWEEP_MS = 20
/** Bytes of one answer per round of the event loop: a fast upstream could send two megabytes in one round. */
const BYTES_PER_ROUND = 256 * 1024
/** Answers in small chunks need no counting. */
const SMALL_CHUNK = 16 * 1024
export class UpstreamHttp {
  readonly #rounds = new Rounds()
  readonly #options: HttpOptions
  readonly #pools = new Map<string, Dispatcher>()
  readonly #viaProxy: Dispatcher | undefined
  readonly #inFlight = new Set<Exchange>()
  readonly #sweeper: NodeJS.Timeout

  constructor(options: HttpOptions) {
    this.#options = options
    this.#viaProxy = options.proxy && proxyAgent(options.proxy)
    this.#sweeper = setInterval(() => this.#expireLate(), SWEEP_MS)
    this.#sweeper.unref()
  }

  post(call: HttpCall, sink: ByteSink): Promise<HttpAnswer> {
    const { origin, tls, path, headers, body } = call
    const request = { origin, path, method: 'POST', ...NO_TIMEOUTS } as const
    if (typeof body === 'string') {
      const whole = { ...request, headers, body }
      return this.#exchange(call, sink, undefined, this.#dispatcherFor(origin, tls), whole)
    }
    const sending = new SentBody(body, this.#options.yieldOnSending)
    const announced = [...headers, 'content-length', String(body.size)]
    const upload = { ...request, headers: announced, body: sending as unknown as Readable, allowH2: false }
    return this.#exchange(call, sink, sending, this.#dispatcherFor(origin, tls, 'uploads'), upload)
  }

  /** Asks without a body. No redirect is followed. */
  get(question: HttpQuestion, sink: ByteSink): Promise<HttpAnswer> {
    const { origin, tls, path, headers } = question
    const asked = { origin, path, method: 'GET', headers, ...NO_TIMEOUTS } as const
    return this.#exchange(question, sink, undefined, this.#dispatcherFor(origin, tls), asked)
  }

  #exchange(
    { timeoutMs, answerBytes: maxBytes = this.#options.answerBytes }: HttpQuestion,
    sink: ByteSink,
    sending: SentBody | undefined,
    dispatcher: Dispatcher,
    request: Dispatcher.DispatchOptions,
  ): Promise<HttpAnswer> {
    const own = { inFlight: this.#inFlight, rounds: this.#rounds, timeoutMs, maxBytes, sink, sending }
    return new Promise((resolve, reject) => {
      dispatcher.dispatch(request, new Exchange(own, resolve, reject))
    })
  }

  /**
   * Uploads use separate connections of HTTP/1.1: many on one connection would wait for each other, and an
   * upstream that has read enough can close its own.
   */
  #dispatcherFor(origin: string, tls: UpstreamTls | undefined, use?: 'uploads'): Dispatcher {
    if (this.#viaProxy && tls === undefined) return this.#viaProxy
    const uses = use === undefined ? origin : `${origin} ${use}`
    const key = tls === undefined ? uses : `${uses} ${digestOf(tls)}`
    let pool = this.#pools.get(key)
    if (pool === undefined) {
      pool = openPool(origin, { ...this.#options, tls, isForUploads: use === 'uploads' })
      this.#pools.set(key, pool)
    }
    return pool
  }

  #expireLate(): void {
    const nowMs = performance.now()
    for (const exchange of this.#inFlight) exchange.expireIfLate(nowMs)
  }

  /** Calls in progress are cut: the node has waited for them as long as it may. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    const open = [...this.#pools.values(), ...(this.#viaProxy ? [this.#viaProxy] : [])]
    await Promise.all(open.map((dispatcher) => dispatcher.destroy()))
  }
}

const ignore = (): void => {}
const NOWHERE: ByteSink = { push: ignore }
const NO_HEADERS: HttpAnswer['headers'] = {}

interface ExchangeParts {
  readonly inFlight: Set<Exchange>
  readonly rounds: Rounds
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly sink: ByteSink
  /** Undefined when the body is sent whole. */
  readonly sending: SentBody | undefined
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #inFlight: Set<Exchange>
  readonly #rounds: Rounds
  readonly #timeoutMs: number
  readonly #startedMs = performance.now()
  #sink: ByteSink
  readonly #maxBytes: number
  readonly #sending: SentBody | undefined
  #resolve: (answer: HttpAnswer) => void
  #reject: (error: unknown) => void
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #firstByteMs = 0
  #headers = NO_HEADERS
  #bytes = 0
  #bytesAtRest = 0
  #errorChunks: Uint8Array[] | undefined
  /** Undefined when the answer is not compressed. */
  #unpacking: Unpacking | undefined
  #timedOut = false
  #isOver = false

  constructor(
    { inFlight, rounds, timeoutMs, maxBytes, sink, sending }: ExchangeParts,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#rounds = rounds
    this.#sink = sink
    this.#maxBytes = maxBytes
    this.#sending = sending
    this.#resolve = resolve
    this.#reject = reject
    this.#timeoutMs = timeoutMs
    this.#inFlight = inFlight
    inFlight.add(this)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#timedOut) controller.abort(new HttpTimeout())
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: HttpAnswer['headers'],
  ): void {
    // An interim response; the answer is yet to come.
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    this.#firstByteMs = performance.now()
    if (status > 299) {
      this.#errorChunks = []
      // An upstream that has refused reads no further: sending more would only break the connection under its answer.
      this.#sending?.hold()
    }
    const coding = codingIn(headers)
    if (coding !== undefined) this.#unpack(coding, controller)
    if (status <= 299) this.#sink.start?.(status, headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#unpacking) this.#unpacking.write(chunk, controller)
    else this.#take(chunk, controller, controller)
  }

  onResponseEnd(): void {
    if (this.#unpacking) this.#unpacking.end()
    else this.#answered()
  }

  #unpack(coding: string, controller: Dispatcher.DispatchController): void {
    try {
      const unpacking = new Unpacking(coding, {
        push: (bytes) => this.#take(bytes, unpacking, controller),
        // For an error, the bytes read so far are enough.
        end: (error) =>
          error === undefined || this.#errorChunks ? this.#answered() : this.#abort(error, controller),
      })
      this.#unpacking = unpacking
    } catch (error) {
      if (this.#errorChunks === undefined) this.#abort(error, controller)
      // Its status still has a meaning, its bytes have none.
      else this.#bytes = ERROR_BODY_BYTES
    }
  }

  /** Unpacked bytes of the answer. */
  #take(chunk: Uint8Array, flow: Flow, controller: Dispatcher.DispatchController): void {
    this.#bytes += chunk.length
    if (this.#errorChunks) {
      if (this.#bytes - chunk.length < ERROR_BODY_BYTES) this.#errorChunks.push(chunk)
      // A compression bomb is not unpacked for a body that is not read.
      else if (this.#unpacking) {
        this.#answered()
        controller.abort(new HttpTooLarge())
      }
      return
    }
    try {
      if (this.#bytes > this.#maxBytes)
        throw new HttpTooLarge(`an answer of more than ${this.#maxBytes} bytes`)
      this.#sink.push(chunk)
      const isFull = chunk.length > SMALL_CHUNK && this.#rounds.isFull(chunk.length)
      if (isFull || this.#bytes - this.#bytesAtRest > BYTES_PER_ROUND) {
        this.#bytesAtRest = this.#bytes
        this.#rounds.resumeLater(flow)
      }
    } catch (error) {
      this.#abort(error, controller)
    }
  }

  #abort(error: unknown, controller: Dispatcher.DispatchController): void {
    this.#fail(error)
    controller.abort(error as Error)
  }

  #answered(): void {
    const errorBody = this.#errorChunks
      ? Buffer.concat(this.#errorChunks).toString('utf8', 0, ERROR_BODY_BYTES)
      : ''
    this.#resolve({ status: this.#status, headers: this.#headers, errorBody, firstByteMs: this.#firstByteMs })
    this.#letGo()
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#fail(
      this.#status === 0 || error instanceof HttpTimeout ? error : new HttpCut('an answer that was cut off'),
    )
  }

  /** The promise is settled immediately: an abort of a connection still being opened would reach us only when it opens. */
  expireIfLate(nowMs: number): void {
    if (nowMs - this.#startedMs < this.#timeoutMs) return
    this.#timedOut = true
    const controller = this.#controller
    const error = new HttpTimeout(`no answer within ${Math.round(this.#timeoutMs)} ms`)
    this.#fail(error)
    controller?.abort(error)
  }

  #fail(error: unknown): void {
    // An abort reports its error here again, when whether the call was sent is no longer known.
    if (this.#isOver) return
    const isPart = this.#sending?.isWhole === false
    // Some close the connection upon a part of a body, before the end of their answer has arrived.
    if (isPart && this.#errorChunks !== undefined) return this.#answered()
    // The client starts a request when it has a connection to send it on.
    const isUnsent = this.#controller === undefined || (isPart && this.#status === 0)
    if (isUnsent && typeof error === 'object' && error !== null) unsent.add(error)
    this.#reject(error)
    this.#letGo()
  }

  /** The client keeps this object until the connection's next call: it must keep neither an answer nor raw headers alive. */
  #letGo(): void {
    this.#isOver = true
    if (this.#controller !== undefined) this.#controller.rawHeaders = null
    this.#controller = undefined
    this.#inFlight.delete(this)
    this.#sending?.stop()
    this.#unpacking?.stop()
    this.#sink = NOWHERE
    this.#resolve = ignore
    this.#reject = ignore
    this.#headers = NO_HEADERS
  }
}

import { createHash } from 'node:crypto'
import type { Client, sendForBytes } from './client.ts'

/**
 * Deadline of a reply, after which this node goes on without Redis. A healthy one answers in about 1 ms and in 5 ms at its busiest; a
 * request should not be slowed noticeably, and a pause of a neighbour or of our own garbage collection (up to 50 ms) should not count
 * as an outage.
 */
export const REPLY_DEADLINE_MS = 75
/**
 * Back-off before Redis is tried again: doubled with every failure in a row, and drawn between half and the whole, so that nodes that
 * lost it together do not return together.
 */
const MIN_RETRY_MS = 300
const MAX_RETRY_MS = 1000

export interface RedisScript {
  readonly text: string
  readonly sha1: string
}

export interface RedisConnectionOptions {
  /** Called for each new connection: passwords rotate. */
  readonly url: string | (() => string)
  /** Loaded into Redis with every new connection. */
  readonly scripts: readonly RedisScript[]
  /** Default: `REPLY_DEADLINE_MS`. */
  readonly replyDeadlineMs?: number | undefined
  /** Called whenever Redis becomes unreachable or cannot be reached. */
  readonly onError?: ((error: Error) => void) | undefined
  /** Called whenever Redis becomes ready. */
  readonly onReady?: (() => void) | undefined
}

export class ReplyTimeout extends Error {
  constructor(deadlineMs: number) {
    super(`Redis did not reply within ${deadlineMs} ms`)
  }
}

export function scriptOf(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') }
}

/**
 * One connection to Redis that doubles as its circuit breaker. It is ready only while Redis keeps every deadline: the first reply
 * that is late, lost or an error ends the connection, and everything in flight on it is rejected at once. Nothing is queued meanwhile
 * and nothing is ever sent again, because it may have run. A new connection is the probe: it must greet us and load the scripts in
 * time before it is used.
 */
export class RedisConnection {
  readonly #options: RedisConnectionOptions
  readonly #replyDeadlineMs: number
  #client: Client | undefined
  #sendForBytes: typeof sendForBytes | undefined
  #retryTimer: NodeJS.Timeout | undefined
  #failuresInARow = 0
  #lastError: Error | undefined
  /** Replies to `exchange`, since the start. */
  #repliesSeen = 0
  #isClosed = false

  constructor(options: RedisConnectionOptions) {
    this.#options = options
    this.#replyDeadlineMs = options.replyDeadlineMs ?? REPLY_DEADLINE_MS
  }

  /** What ended the last connection. Undefined once a script has succeeded since. */
  get lastError(): Error | undefined {
    return this.#lastError
  }

  get isReady(): boolean {
    return this.#client !== undefined
  }

  /** Resolves after the first attempt, whether it succeeded or not; further attempts follow by themselves. */
  async open(): Promise<void> {
    const library = await import('./client.ts')
    this.#sendForBytes = library.sendForBytes
    let client: Client
    try {
      const { url } = this.#options
      client = library.newClient(typeof url === 'string' ? url : url())
    } catch (error) {
      // A file of its certificates cannot be read.
      return this.#retryLater(error as Error)
    }
    client.on('error', (error: Error) => this.#end(client, error))
    const deadline = setTimeout(() => client.destroy(), library.CONNECT_DEADLINE_MS)
    try {
      await client.connect()
      const loads = this.#options.scripts.map(({ text }) => client.sendCommand(['SCRIPT', 'LOAD', text]))
      await inTime(this.#replyDeadlineMs, Promise.all(loads))
      if (this.#isClosed) client.destroy()
      else {
        this.#client = client
        this.#options.onReady?.()
      }
    } catch (error) {
      client.destroy()
      this.#retryLater(error as Error)
    } finally {
      clearTimeout(deadline)
    }
  }

  /**
   * Runs a script once, within one deadline, and reads its reply. Rejects when Redis is unreachable, late or refuses, or when the
   * reply cannot be read; then the connection has ended.
   */
  async run<Result>(
    { text, sha1 }: RedisScript,
    keys: readonly string[],
    json: string,
    read: (reply: unknown) => Result,
  ): Promise<Result> {
    const client = this.#client
    if (client === undefined) throw new Error('Redis is away')
    const rest = [String(keys.length), ...keys, json]
    try {
      const reply = client.sendCommand(['EVALSHA', sha1, ...rest]).catch((error: unknown) => {
        // Redis does not know the script, so it did not run: the one error after which sending again is safe.
        if (error instanceof Error && error.message.startsWith('NOSCRIPT'))
          return client.sendCommand(['EVAL', text, ...rest])
        throw error
      })
      const result = read(await inTime(this.#replyDeadlineMs, reply))
      this.#failuresInARow = 0
      this.#lastError = undefined
      return result
    } catch (error) {
      this.#end(client, error as Error)
      throw error
    }
  }

  /**
   * Sends commands at once and hands over each reply as it comes, strings as bytes; a refusal is a reply too, the `ErrorReply`.
   * Resolves after the last one. Rejects when Redis is or becomes unreachable, or `take` throws; then the connection has ended.
   * Rejects also when replies are missing at the deadline, and then ends the connection only if no reply to any command came
   * meanwhile: large replies take a while, and delay those behind them. Later replies are still handed over.
   */
  async exchange(
    commands: readonly (readonly (string | Buffer)[])[],
    take: (reply: unknown, index: number) => void,
  ): Promise<void> {
    const [client, send] = [this.#client, this.#sendForBytes]
    if (client === undefined || send === undefined) throw new Error('Redis is away')
    const seenBefore = this.#repliesSeen
    const replies = commands.map(async (command, index) => {
      const reply = await send(client, command)
      this.#repliesSeen += 1
      take(reply, index)
    })
    try {
      await inTime(this.#replyDeadlineMs, Promise.all(replies))
      this.#failuresInARow = 0
    } catch (error) {
      if (!(error instanceof ReplyTimeout) || this.#repliesSeen === seenBefore)
        this.#end(client, error as Error)
      throw error
    }
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#retryTimer)
    this.#client?.destroy()
    this.#client = undefined
  }

  /** Late replies of an ended connection are dropped. */
  #end(client: Client, error: Error): void {
    if (client !== this.#client) return
    this.#client = undefined
    client.destroy()
    this.#retryLater(error)
  }

  #retryLater(error: Error): void {
    if (this.#isClosed) return
    this.#lastError = error
    this.#options.onError?.(error)
    const longestMs = Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** this.#failuresInARow)
    this.#failuresInARow += 1
    this.#retryTimer = setTimeout(() => void this.open(), longestMs * (0.5 + Math.random() / 2))
    this.#retryTimer.unref()
  }
}

/**
 * The deadline begins one turn of the event loop later, when the library has written the command. After it, one more turn is given,
 * in which a reply that is already in the socket is read: a stall of our own event loop is not Redis's fault.
 */
function inTime<Reply>(deadlineMs: number, reply: Promise<Reply>): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const begin = setImmediate(() => {
      timer = setTimeout(() => setImmediate(() => reject(new ReplyTimeout(deadlineMs))), deadlineMs)
    })
    reply.then(resolve, reject).finally(() => {
      clearImmediate(begin)
      clearTimeout(timer)
    })
  })
}

/** The open connections of one listener: which may be closed, and which are cut. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Interval of the check for clients that do not read. One timer serves all connections, since nearly every client reads. */
const SLOW_READER_CHECK_MS = 1000
/**
 * Checks without an answer in progress before idle connections are closed: about a second. It gives time to clients whose request is
 * on its way, either after an answer that could not announce that it was the last, or on a connection that has just opened.
 */
const QUIET_LOOKS = 10

export class Connections {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  /** Connections that had unsent bytes at the last check. */
  readonly #slow = new Set<Socket>()
  #timer: NodeJS.Timeout | undefined
  #looksLeft = 0
  #isLast = false

  constructor(server: Server) {
    this.#server = server
    const keep = (socket: Socket): void => {
      this.#open.add(socket)
      if (this.#isLast) this.#looksLeft = QUIET_LOOKS
      socket.once('close', () => {
        this.#open.delete(socket)
        this.#slow.delete(socket)
      })
    }
    server.on('connection', keep)
    // Under TLS, unsent bytes wait in the TLS socket, not in the TCP socket below it.
    server.on('secureConnection', keep)
  }

  /**
   * From now on a client that reads nothing of its answer for `idleMs` is cut off: it could keep the answer in the node's memory for
   * ever. A connection costs nothing until its bytes have waited for about a second.
   */
  endStalled(idleMs: number, stalled: () => void): void {
    // Node would close the connection by itself, but only without a listener for this event.
    this.#server.on('timeout', (socket) => {
      if (!this.#slow.has(socket)) return this.unlessAsked(socket, () => socket.destroy())
      stalled()
      socket.destroy()
    })
    this.#timer = setInterval(() => this.#look(idleMs), Math.min(SLOW_READER_CHECK_MS, idleMs / 2)).unref()
  }

  has(socket: object): boolean {
    return this.#open.has(socket as Socket)
  }

  /**
   * Runs `work` on a connection without a request, after the bytes in its socket were read: a process that runs late fires its timers
   * first.
   */
  unlessAsked(socket: Socket, work: () => void): void {
    if (answerOn(socket) !== undefined) work()
    else setImmediate(() => answerOn(socket) === undefined && work())
  }

  /** Every answer that has not begun announces that it is the last one on its connection. */
  sayLast(): void {
    this.#isLast = true
    for (const socket of this.#open) {
      if (socket.bytesRead === 0) this.#looksLeft = QUIET_LOOKS
      const answer = answerOn(socket)
      if (answer?.headersSent === false) answer.setHeader('connection', 'close')
      else answer?.once('close', () => (this.#looksLeft = QUIET_LOOKS))
    }
  }

  /**
   * Called repeatedly: whether no answer is in progress and clients had time to send another request after the last one. It counts
   * checks, not milliseconds: a stalled process reads no requests.
   */
  areQuiet(): boolean {
    for (const socket of this.#open) if (answerOn(socket) !== undefined) return false
    this.#looksLeft -= 1
    return this.#looksLeft < 0
  }

  cut(): void {
    clearInterval(this.#timer)
    for (const socket of this.#open) socket.destroy()
  }

  #look(idleMs: number): void {
    for (const socket of this.#open) {
      const isSlow = socket.writableLength > 0
      if (isSlow === this.#slow.has(socket)) continue
      if (isSlow) {
        this.#slow.add(socket)
        // The timeout restarts with each byte that the system takes.
        socket.setTimeout(idleMs)
        continue
      }
      this.#slow.delete(socket)
      // After the end of an answer, Node sets the timeout of idle connections instead.
      if (socket.timeout === idleMs) socket.setTimeout(0)
    }
  }
}

/** The answer in progress on a connection, under Node's own name for it. */
export function answerOn(socket: object): ServerResponse | undefined {
  const { _httpMessage: answer } = socket as { readonly _httpMessage?: ServerResponse | null }
  return answer ?? undefined
}

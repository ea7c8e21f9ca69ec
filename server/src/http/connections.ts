/** The open connections of one listener: which of them may be closed, and which are cut. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How often the node looks for clients that don't read: one timer for all connections, since nearly every client reads. */
const SLOW_READER_CHECK_MS = 1000
/**
 * Looks without an answer under way before idle connections are closed: about a second. For clients whose request is on its way: behind an
 * answer that could not say that it was the last one, or on a connection that they have only just opened.
 */
const QUIET_LOOKS = 10

export class Connections {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  /** Those that did not take all their bytes at the last look. */
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
    // What an answer waits in is the socket of TLS, not the one below it.
    server.on('secureConnection', keep)
  }

  /**
   * From now on a client that reads nothing of its answer for so long is cut off: it could hold the answer in the memory of
   * the node for ever. Nothing is done for a connection until its bytes have waited for about a second.
   */
  endStalled(idleMs: number, stalled: () => void): void {
    // Node itself would do the same, but only where nobody listens.
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
   * Does so to a connection on which no request came in time, once what lies in its socket was read: a process that is late runs its
   * timers first.
   */
  unlessAsked(socket: Socket, work: () => void): void {
    if (answerOn(socket) !== undefined) work()
    else setImmediate(() => answerOn(socket) === undefined && work())
  }

  /** Every answer that has not begun will say that it is the last one on its connection. */
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
   * Asked again and again: whether no answer is under way, and clients have had time to ask again behind those that were. Looks are
   * counted, not milliseconds: in a process that stood still, no request was read.
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
        // It begins anew with each byte that the system takes.
        socket.setTimeout(idleMs)
        continue
      }
      this.#slow.delete(socket)
      // Behind the end of an answer, Node has set the time-out of idle connections instead.
      if (socket.timeout === idleMs) socket.setTimeout(0)
    }
  }
}

/** The answer under way on a connection, under Node's own name for it. */
export function answerOn(socket: object): ServerResponse | undefined {
  const { _httpMessage: answer } = socket as { readonly _httpMessage?: ServerResponse | null }
  return answer ?? undefined
}

/**
 * The sender of the lab as a process: embeddings at a steady rate, whether or not earlier ones were answered, or a number of them in
 * progress, which finds a gateway's capacity. Speaks HTTP over plain sockets, one request at a time on each, so that it can send far
 * more than a gateway can take. It ends early when its input is closed. A run of hours is summed up in parts.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { closedLoop, inputClosed, Latencies, openLoop } from './load.ts'

export interface Stream {
  /** Undefined: that of all. */
  readonly port?: number
  /** Before `/v1`. */
  readonly path?: string
  /** Several take turns. */
  readonly key: string | readonly string[]
  /** Instead of the key as a bearer token. */
  readonly headers?: Readonly<Record<string, string>>
  readonly model: string
  readonly perSecond: number
  readonly encoding?: 'base64' | 'float'
}

export interface Paced {
  readonly port: number
  readonly seconds: number
  /** How long answers are waited for afterwards. */
  readonly patienceMs: number
  readonly streams: readonly Stream[]
  /** Requests of the first stream in progress, instead of a rate. */
  readonly atOnce?: number
}

/** The answer is a `SentPart` for each of this many equal parts of the time, instead of every request. */
export interface PacedInParts extends Paced {
  readonly parts: number
}

/** The requests of all streams whose answers came in one part of the time. */
export interface SentPart {
  readonly sent: number
  readonly answered: number
  /** Of all others, by status and code. */
  readonly failures: Readonly<Record<string, number>>
  readonly p50Ms: number
  readonly p99Ms: number
}

/**
 * One request: when it was sent (since 1970), how long it took, its status (0: none came), whether it named a retry time,
 * and why.
 */
export type SentRequest = readonly [
  atMs: number,
  tookMs: number,
  status: number,
  saysWhen: 0 | 1,
  code: string,
]

/** The file of this program, for `scriptOn`. */
export const SENDER: string = import.meta.filename
/** As many connections as a load balancer would open. Beyond it a request counts as failed. */
const MAX_CONNECTIONS = 4000

interface Pending {
  readonly results: SentRequest[]
  readonly atMs: number
  readonly sentMs: number
  readonly done: () => void
}

class Connection {
  readonly #socket: Socket
  readonly #idle: (connection: Connection) => void
  #pending: Pending | undefined
  #text = ''
  #bodyFrom = -1
  #bodyBytes = -1
  #isLast = false

  constructor(port: number, idle: (connection: Connection) => void) {
    this.#idle = idle
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
    this.#socket.on('data', (chunk: Buffer | string) => this.#came(chunk.toString()))
    this.#socket.on('error', () => this.#gone())
    this.#socket.on('close', () => this.#gone())
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed
  }

  send(bytes: string, pending: Pending): void {
    this.#pending = pending
    this.#socket.write(bytes)
  }

  close(): void {
    this.#socket.destroy()
  }

  #came(chunk: string): void {
    this.#text += chunk
    if (this.#bodyFrom < 0) this.#readHead()
    if (this.#bodyFrom < 0) return
    const isWhole =
      this.#bodyBytes >= 0
        ? this.#text.length >= this.#bodyFrom + this.#bodyBytes
        : this.#text.endsWith('0\r\n\r\n')
    if (!isWhole) return
    const status = Number(this.#text.slice(9, 12))
    const saysWhen = /\r\nretry-after:/i.test(this.#text.slice(0, this.#bodyFrom)) ? 1 : 0
    const code = status === 200 ? '' : (/"code":"(\w+)"/.exec(this.#text)?.[1] ?? '')
    this.#text = ''
    this.#bodyFrom = -1
    // A further request on it would be reset, by the sender's own fault.
    if (this.#isLast) this.#socket.destroy()
    this.#end(status, saysWhen, code)
    if (!this.#isLast) this.#idle(this)
  }

  #readHead(): void {
    const end = this.#text.indexOf('\r\n\r\n')
    if (end < 0) return
    this.#bodyFrom = end + 4
    const head = this.#text.slice(0, end)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    this.#isLast = /\r\nconnection: *close/i.test(head)
    this.#bodyBytes = length === undefined ? -1 : Number(length)
  }

  #gone(): void {
    this.#socket.destroy()
    this.#end(0, 0, 'no answer')
  }

  #end(status: number, saysWhen: 0 | 1, code: string): void {
    const pending = this.#pending
    this.#pending = undefined
    if (!pending) return
    pending.results.push([pending.atMs, performance.now() - pending.sentMs, status, saysWhen, code])
    pending.done()
  }
}

/** Connections of one port. */
class Sender {
  readonly #port: number
  readonly #idle: Connection[] = []
  readonly #all = new Set<Connection>()
  underWay = 0
  #number = 0

  constructor(port: number) {
    this.#port = port
  }

  send(
    { path = '', key, headers, model, encoding = 'base64' }: Stream,
    results: SentRequest[],
    done: () => void = () => {},
  ): void {
    this.#number += 1
    const secret = typeof key === 'string' ? key : key[this.#number % key.length]
    const body = `{"model":"${model}","input":"text ${this.#number} of ${process.pid}","encoding_format":"${encoding}"}`
    const sent = Object.entries(headers ?? { authorization: `Bearer ${secret}` })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')
    const bytes = `POST ${path}/v1/embeddings HTTP/1.1\r\nhost: localhost\r\n${sent}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const atMs = Date.now()
    const connection = this.#free()
    if (!connection) {
      results.push([atMs, 0, 0, 0, 'no connection'])
      // Not at once: a closed loop would turn without a pause.
      setTimeout(done, 1)
      return
    }
    this.underWay += 1
    const ended = (): void => {
      this.underWay -= 1
      done()
    }
    connection.send(bytes, { results, atMs, sentMs: performance.now(), done: ended })
  }

  close(): void {
    for (const connection of this.#all) connection.close()
  }

  #free(): Connection | undefined {
    for (let free = this.#idle.pop(); free !== undefined; free = this.#idle.pop()) {
      if (free.isOpen) return free
      this.#all.delete(free)
    }
    if (this.#all.size >= MAX_CONNECTIONS) return undefined
    const connection = new Connection(this.#port, (one) => this.#idle.push(one))
    this.#all.add(connection)
    return connection
  }
}

function partOf(sent: readonly SentRequest[]): SentPart {
  const failures: Record<string, number> = {}
  const latencies = new Latencies()
  for (const [, tookMs, status, , code] of sent) {
    latencies.record(tookMs)
    const why = `${status} ${code}`
    if (status !== 200) failures[why] = (failures[why] ?? 0) + 1
  }
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0)
  const [p50Ms, p99Ms] = [latencies.atMs(0.5), latencies.atMs(0.99)]
  return { sent: sent.length, answered: sent.length - failed, failures, p50Ms, p99Ms }
}

async function inParts(paced: PacedInParts): Promise<readonly SentPart[]> {
  const parts: SentPart[] = []
  const results: SentRequest[] = []
  const look = (): void => void parts.push(partOf(results.splice(0)))
  // The last part also has the answers that come within the patience.
  const timer = setInterval(
    () => parts.length < paced.parts - 1 && look(),
    (paced.seconds * 1000) / paced.parts,
  )
  await send(paced, results)
  clearInterval(timer)
  look()
  return parts
}

/** The requests of each stream. `together`: where those of all streams go instead. */
async function send(
  { port, seconds, patienceMs, streams, atOnce }: Paced,
  together?: SentRequest[],
): Promise<readonly SentRequest[][]> {
  const senders = new Map<number, Sender>()
  const all = streams.map((stream) => {
    const to = stream.port ?? port
    const sender = senders.get(to) ?? new Sender(to)
    senders.set(to, sender)
    const results: SentRequest[] = together ?? []
    return { stream, results, send: (done?: () => void) => sender.send(stream, results, done) }
  })
  const signal = AbortSignal.any([AbortSignal.timeout(seconds * 1000), inputClosed()])
  const [first] = all
  await (atOnce === undefined || first === undefined
    ? Promise.all(all.map(({ stream, send }) => openLoop({ perSecond: stream.perSecond, signal }, send)))
    : // Not waited for: an answer may come later than the patience.
      Promise.race([
        closedLoop({ clients: atOnce, signal }, () => new Promise<void>((resolve) => first.send(resolve))),
        once(signal, 'abort'),
      ]))
  const untilMs = performance.now() + patienceMs
  const isUnderWay = (): boolean => [...senders.values()].some(({ underWay }) => underWay > 0)
  while (isUnderWay() && performance.now() < untilMs) await wait(10)
  for (const sender of senders.values()) sender.close()
  await wait(50)
  return all.map(({ results }) => results)
}

if (import.meta.main) {
  const paced = JSON.parse(process.argv[2] ?? '') as Paced | PacedInParts
  process.stdout.write(JSON.stringify(await ('parts' in paced ? inParts(paced) : send(paced))))
}

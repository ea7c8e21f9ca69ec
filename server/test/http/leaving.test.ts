/** How a listener closes its connections: no client loses a request that it had good reason to send. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import fastify from 'fastify'
import { Listener } from '#http/listener.ts'

/** Many sweeps of a listener that closes. */
const SWEEPS_MS = 400

interface Slow {
  readonly begun: Promise<void>
  readonly end: () => void
}

interface Served {
  readonly listener: Listener
  /** The next request for `/slow` or `/stream` ends when this object's `end` is called. */
  readonly nextSlow: () => Slow
  readonly connected: () => Promise<Connection>
}

class Connection {
  readonly #socket: Socket
  #text = ''

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', () => {}).on('data', (piece) => (this.#text += String(piece)))
  }

  send(path: string): void {
    this.#socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
  }

  /** All that came until `end`, or until the connection was closed. */
  async until(end: string): Promise<string> {
    while (!this.#text.includes(end) && !this.#socket.readableEnded && !this.#socket.destroyed) await wait(5)
    const text = this.#text
    this.#text = ''
    return text
  }

  async ask(path: string): Promise<string> {
    this.send(path)
    return this.until('done')
  }

  close(): void {
    this.#socket.destroy()
  }
}

async function serve(bounds: Parameters<Listener['open']>[1] = {}): Promise<Served> {
  const app = fastify()
  const slow: { begin: () => void; ended: Promise<void> }[] = []
  app.get('/fast', () => 'done')
  app.get('/readyz', () => 'done')
  app.get('/slow', async () => {
    const next = slow.shift()
    next?.begin()
    await next?.ended
    return 'done'
  })
  app.get('/stream', async (_, reply) => {
    reply.hijack()
    reply.raw.writeHead(200).write('begun')
    const next = slow.shift()
    next?.begin()
    await next?.ended
    reply.raw.end('done')
  })
  await app.ready()
  const at = { host: '127.0.0.1', port: 0 }
  const listener = await Listener.bind({ at, nextId: () => 'id', docsUrl: undefined })
  await listener.open(app, bounds)
  const connections: Connection[] = []
  after(async () => {
    for (const connection of connections) connection.close()
    await listener.close()
  })
  return {
    listener,
    nextSlow() {
      const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      slow.push({ begin: begun.resolve, ended: ended.promise })
      return { begun: begun.promise, end: ended.resolve }
    },
    async connected() {
      const socket = connect(Number(new URL(listener.url).port), '127.0.0.1')
      await once(socket, 'connect')
      const connection = new Connection(socket)
      connections.push(connection)
      return connection
    },
  }
}

test('an answer in progress when the node stops says that it is the last one', async () => {
  const { listener, nextSlow, connected } = await serve()
  const connection = await connected()
  const slow = nextSlow()
  connection.send('/slow')
  await slow.begun
  listener.leave()
  slow.end()
  assert.match(await connection.until('done'), /^HTTP\/1\.1 200 [^]*^connection: close\r\n/im)
})

test('while the node waits for an answer, it keeps idle connections and answers what comes on them', async () => {
  const { listener, nextSlow, connected } = await serve()
  const [idle, other] = [await connected(), await connected()]
  assert.match(await idle.ask('/fast'), /connection: keep-alive/i)
  const slow = nextSlow()
  other.send('/slow')
  await slow.begun
  const closed = listener.close(60_000)
  await wait(SWEEPS_MS)
  assert.match(await idle.ask('/fast'), /^HTTP\/1\.1 200 [^]*^connection: close\r\n/im)
  slow.end()
  assert.match(await other.until('done'), /^HTTP\/1\.1 200 /)
  await closed
})

test('behind a stream that began before, the next request on its connection is answered', async () => {
  const { listener, nextSlow, connected } = await serve()
  const connection = await connected()
  const slow = nextSlow()
  connection.send('/stream')
  await slow.begun
  const closed = listener.close(60_000)
  slow.end()
  await connection.until('done')
  await wait(SWEEPS_MS)
  assert.match(await connection.ask('/fast'), /^[^]*HTTP\/1\.1 200 [^]*^connection: close\r\n/im)
  await closed
})

test('a connection that the system has made before the listener closes is answered, though Node has not taken it yet', async () => {
  const { listener } = await serve()
  const port = Number(new URL(listener.url).port)
  const connections = Array.from({ length: 50 }, () => {
    const connection = new Connection(connect(port, '127.0.0.1'))
    connection.send('/fast')
    return connection
  })
  const closed = listener.close(60_000)
  for (const connection of connections) assert.match(await connection.until('done'), /^HTTP\/1\.1 200 /)
  await closed
})

test('a listener that was released takes no connections, and waits for its clients no longer than it may', async () => {
  const { listener, connected } = await serve()
  const [kept, left] = [await connected(), await connected()]
  await Promise.all([kept.ask('/fast'), left.ask('/fast')])
  listener.release()
  await wait(SWEEPS_MS)
  await assert.rejects(connected(), { code: 'ECONNREFUSED' })
  await listener.unconnected(SWEEPS_MS)
  assert.match(await kept.ask('/fast'), /^HTTP\/1\.1 200 [^]*^connection: close\r\n/im)
  left.close()
  await listener.unconnected(3_600_000)
})

test('an idle connection holds up no end', async () => {
  const { listener, connected } = await serve()
  const connection = await connected()
  await connection.ask('/fast')
  await listener.close(3_600_000)
})

test('a request that lay unread while the process stood still did not come too late', async () => {
  const { connected } = await serve({ headersTimeout: 500, requestTimeout: 500 })
  const connection = await connected()
  // The listener's side of it is open by now.
  await wait(200)
  // After this, a turn of the event loop begins with its timers.
  await new Promise(setImmediate)
  connection.send('/fast')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000)
  assert.match(await connection.until('done'), /^HTTP\/1\.1 200 /)
  // A request that does come too late gets 408.
  assert.match(await (await connected()).until('done'), /^HTTP\/1\.1 408 /)
})

test('a stopping node waits until no client sends requests, and no longer than it may', async () => {
  const { listener, connected } = await serve()
  listener.leave()
  let isUnasked = false
  const unasked = listener.unasked(60_000).then(() => (isUnasked = true))
  for (let times = 0; times < 30; times += 1) {
    await (await connected()).ask('/fast')
    await wait(50)
    assert.equal(isUnasked, false)
  }
  const asking = new AbortController()
  const checks = (async () => {
    while (!asking.signal.aborted) await (await connected()).ask('/readyz')
  })()
  await unasked
  asking.abort()
  await checks
  const [askedAgain] = await Promise.all([listener.unasked(0), (await connected()).ask('/fast')])
  assert.equal(askedAgain, undefined)
})

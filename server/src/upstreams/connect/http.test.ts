import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer, request as httpRequest, type RequestListener } from 'node:http'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate as yieldLoop, setTimeout as delay } from 'node:timers/promises'
import { HttpTimeout, isUnsent, UpstreamHttp, type HttpAnswer } from './http.ts'
import { BodyUnread, type StreamedBody } from './sent-body.ts'

const http = new UpstreamHttp({ connectTimeoutMs: 5_000, answerBytes: 1_000_000, yieldOnSending: yieldLoop })
const closing: (() => Promise<unknown>)[] = [() => http.close()]
after(async () => {
  for (const close of closing.reverse()) await close()
})

const MEGABYTE = 1024 * 1024

/** A source that reports how far it was read and whether it was closed. */
interface Source extends StreamedBody {
  opened: number
  bytesRead: number
  closed: number
}

interface SourcePlan {
  readonly announced?: number
  /** Before the chunk of this number. */
  readonly before?: (index: number) => Promise<void> | void
}

function aSource(chunks: readonly Uint8Array[], { announced, before }: SourcePlan = {}): Source {
  const size = chunks.reduce((sum, { length }) => sum + length, 0)
  const source: Source = {
    size: announced ?? size,
    opened: 0,
    bytesRead: 0,
    closed: 0,
    async *open() {
      source.opened += 1
      try {
        for (const [index, chunk] of chunks.entries()) {
          await before?.(index)
          source.bytesRead += chunk.length
          yield chunk
        }
        await before?.(chunks.length)
      } finally {
        source.closed += 1
      }
    },
  }
  return source
}

const CHUNK = randomBytes(64 * 1024)

/** Of 64 KB each. */
const manyChunks = (count: number): Uint8Array[] => Array.from({ length: count }, () => CHUNK)

interface PostOptions {
  readonly timeoutMs?: number
  readonly via?: UpstreamHttp
}

async function post(
  origin: string,
  body: string | StreamedBody,
  options: PostOptions = {},
): Promise<HttpAnswer & { text: string; begun: number[] }> {
  const { timeoutMs = 20_000, via = http } = options
  const chunks: Uint8Array[] = []
  const headers = ['content-type', 'application/octet-stream']
  const begun: number[] = []
  const answer = await via.post(
    { origin, path: '/upload', headers, body, timeoutMs },
    { start: (status) => begun.push(status), push: (chunk) => chunks.push(chunk) },
  )
  return { ...answer, text: Buffer.concat(chunks).toString(), begun }
}

async function errorOf(work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(
    (value) => assert.fail(`it answered: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof Error)
  return error
}

async function until(isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo(); waited += 5) {
    assert.ok(waited < 10_000, `still not so: ${isSo.toString()}`)
    await delay(5)
  }
}

async function listening(server: Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Served {
  readonly origin: string
  connections: number
}

async function serve(listener: RequestListener): Promise<Served> {
  const server = createHttpServer(listener)
  const served = { origin: await listening(server), connections: 0 }
  server.on('connection', () => (served.connections += 1))
  return served
}

/** Reads everything and answers with what came. */
const echo: RequestListener = (request, response) => {
  const hash = createHash('sha256')
  request.on('data', (chunk: Buffer) => hash.update(chunk))
  request.on('error', () => {})
  request.on('end', () => {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers
    response.end(JSON.stringify({ length, coding, sha256: hash.digest('hex'), url: request.url }))
  })
}

/** A raw connection. */
async function serveRaw(connected: (socket: Socket) => void): Promise<string> {
  return listening(createServer(connected))
}

const chunkings: [string, Uint8Array[]][] = [
  ['one chunk of 5 MB', [randomBytes(5 * MEGABYTE + 1)]],
  ['single bytes', Array.from({ length: 300 }, () => randomBytes(1))],
  ['chunks of 64 KB', manyChunks(40)],
  ['empty chunks in between', [new Uint8Array(), randomBytes(3), new Uint8Array(), randomBytes(70_000)]],
]
for (const [name, chunks] of chunkings) {
  test(`a body arrives bit by bit, and its length before it: ${name}`, async () => {
    const { origin } = await serve(echo)
    const source = aSource(chunks)
    const { status, text } = await post(origin, source)
    assert.equal(status, 200)
    assert.deepEqual(JSON.parse(text), {
      length: String(source.size),
      sha256: createHash('sha256').update(Buffer.concat(chunks)).digest('hex'),
      url: '/upload',
    })
    assert.deepEqual([source.opened, source.closed], [1, 1])
  })
}

test('uploads that went well use their connection again', async () => {
  const served = await serve(echo)
  for (let round = 0; round < 5; round += 1) {
    await post(served.origin, aSource(manyChunks(5)))
    await yieldLoop()
  }
  assert.equal(served.connections, 1)
})

test('an empty body is sent as one', async () => {
  const { origin } = await serve(echo)
  const { text } = await post(origin, aSource([]))
  assert.equal((JSON.parse(text) as { length: string }).length, '0')
})

test('a source is read no faster than the upstream reads', async () => {
  let resume = (): void => {}
  const { origin } = await serve((request, response) => {
    resume = () => echo(request, response)
  })
  const source = aSource(manyChunks(1_000))
  const answered = post(origin, source)
  await until(() => source.bytesRead > 0)
  let before = -1
  while (before !== source.bytesRead) {
    before = source.bytesRead
    await delay(200)
  }
  // What both ends of the connection hold in the kernel's buffers.
  assert.ok(source.bytesRead < 16 * MEGABYTE, `${source.bytesRead} bytes were read`)
  resume()
  assert.equal((await answered).status, 200)
  assert.equal(source.bytesRead, source.size)
})

test('a connection that breaks before the last byte was handed over has sent nothing', async () => {
  const origin = await serveRaw((socket) => {
    let bytes = 0
    socket.on('data', ({ length }) => {
      bytes += length
      if (bytes > MEGABYTE) socket.resetAndDestroy()
    })
  })
  const source = aSource(manyChunks(1_000))
  const error = await errorOf(post(origin, source))
  assert.ok(isUnsent(error), String(error))
  await until(() => source.closed === 1)
  assert.ok(source.bytesRead < source.size)
})

test('a connection that breaks after the last byte may have been heard', async () => {
  const { origin } = await serve((request) => request.resume().on('end', () => request.socket.destroy()))
  const error = await errorOf(post(origin, aSource(manyChunks(20))))
  assert.ok(!isUnsent(error), String(error))
})

const broken: [string, SourcePlan, RegExp][] = [
  [
    'fails',
    { before: (index) => (index === 8 ? Promise.reject(new Error('EIO')) : undefined) },
    /not be read/,
  ],
  [
    'fails at its end',
    { before: (index) => (index === 20 ? Promise.reject(new Error('EIO')) : undefined) },
    /not be read/,
  ],
  ['fails at once', { before: () => Promise.reject(new Error('EIO')) }, /not be read/],
  ['is shorter than announced', { announced: 20 * 64 * 1024 + 1 }, /of 1310720 bytes instead of 1310721/],
  ['is longer than announced', { announced: 20 * 64 * 1024 - 1 }, /of more than 1310719 bytes/],
  ['is longer by a chunk', { announced: 19 * 64 * 1024 }, /of more than 1245184 bytes/],
]
for (const [name, plan, reason] of broken) {
  test(`a source that ${name} ends the exchange, and nobody got the whole of it`, async () => {
    let whole = 0
    const served = await serve((request, response) => {
      request.on('end', () => (whole += 1))
      echo(request, response)
    })
    const source = aSource(manyChunks(20), plan)
    const error = await errorOf(post(served.origin, source))
    assert.ok(error instanceof BodyUnread, String(error))
    assert.match(error.message, reason)
    assert.ok(isUnsent(error))
    await until(() => source.closed === 1)
    // The next call finds a working connection.
    assert.equal((await post(served.origin, aSource(manyChunks(2)))).status, 200)
    assert.equal(whole, 1)
  })
}

for (const status of [400, 401, 413, 429]) {
  for (const end of ['keeps the connection', 'closes it'] as const) {
    test(`an upstream that answers ${status} while the body is still sent, and ${end}, is heard`, async () => {
      let isFirst = true
      const served = await serve((request, response) => {
        if (!isFirst) return echo(request, response)
        isFirst = false
        if (end === 'closes it') response.setHeader('connection', 'close')
        request.once('data', () => {
          request.pause()
          response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"code":"no"}}')
        })
      })
      const source = aSource(manyChunks(1_000))
      const answer = await post(served.origin, source)
      assert.deepEqual([answer.status, answer.errorBody], [status, '{"error":{"code":"no"}}'])
      await until(() => source.closed === 1)
      assert.ok(source.bytesRead < source.size)
      assert.equal((await post(served.origin, aSource(manyChunks(2)))).status, 200)
      assert.equal(served.connections, 2)
    })
  }
}

test('nothing more is sent to an upstream that has said no, though it goes on reading', async () => {
  let answered = 0
  let after = 0
  const { origin } = await serve((request, response) => {
    request.on('data', ({ length }: Buffer) => {
      if (answered > 0) after += length
      else response.writeHead(400).write('no')
      answered += 1
    })
    setTimeout(() => response.end(), 300)
  })
  const source = aSource(manyChunks(1_000))
  const { status, errorBody } = await post(origin, source)
  assert.deepEqual([status, errorBody], [400, 'no'])
  assert.ok(after < 16 * MEGABYTE, `${after} bytes came afterwards`)
  assert.equal(source.closed, 1)
})

test('an upstream that answers early and hangs up at once is heard, or was sent nothing', async () => {
  const origin = await serveRaw((socket) => {
    socket.once('data', () => {
      socket.pause()
      const answer = 'HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno'
      // Unread bytes turn its close into a reset.
      socket.write(answer, () => socket.destroy())
    })
  })
  for (let round = 0; round < 20; round += 1) {
    const source = aSource(manyChunks(200))
    const outcome = await post(origin, source).then(
      ({ status }) => status,
      (error: unknown) => isUnsent(error),
    )
    assert.ok(outcome === 413 || outcome === true, String(outcome))
    await until(() => source.closed === 1)
  }
})

test('an early answer whose end is cut off is still the answer', async () => {
  const origin = await serveRaw((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 429 Slow Down\r\ncontent-length: 1000\r\nretry-after: 7\r\n\r\nslow', () => {
        setTimeout(() => socket.destroy(), 50)
      })
    })
  })
  const { status, headers, errorBody } = await post(origin, aSource(manyChunks(1_000)))
  assert.deepEqual([status, headers['retry-after'], errorBody], [429, '7', 'slow'])
})

test('an upstream that answers well before it has read everything is heard', async () => {
  const { origin } = await serve((request, response) => {
    request.once('data', () => {
      request.pause()
      response.end('done')
    })
  })
  const source = aSource(manyChunks(1_000))
  const { status, text } = await post(origin, source)
  assert.deepEqual([status, text], [200, 'done'])
  await until(() => source.closed === 1)
})

test('an upstream that began a good answer and broke it off may have been heard, even by a part', async () => {
  const { origin } = await serve((request, response) => {
    request.once('data', () => {
      request.pause()
      response.writeHead(200).write('event')
      setTimeout(() => request.socket.destroy(), 50)
    })
  })
  const error = await errorOf(post(origin, aSource(manyChunks(1_000))))
  assert.ok(!isUnsent(error), String(error))
})

test('a time-out ends an upload that stands still, and closes its source', async () => {
  const { origin } = await serve(() => {})
  const source = aSource(manyChunks(1_000))
  const error = await errorOf(post(origin, source, { timeoutMs: 300 }))
  assert.ok(error instanceof HttpTimeout)
  assert.ok(isUnsent(error))
  await until(() => source.closed === 1)
  const { bytesRead } = source
  await delay(50)
  assert.equal(source.bytesRead, bytesRead)
})

test('a time-out does not wait for a source that stands still', async () => {
  let release = (): void => {}
  const stuck = new Promise<void>((resolve) => (release = resolve))
  const { origin } = await serve(echo)
  const source = aSource(manyChunks(10), { before: (index) => (index === 5 ? stuck : undefined) })
  const error = await errorOf(post(origin, source, { timeoutMs: 300 }))
  assert.ok(error instanceof HttpTimeout)
  assert.ok(isUnsent(error))
  release()
  await until(() => source.closed === 1)
})

test('a time-out after the last byte may have been heard', async () => {
  const { origin } = await serve((request) => request.resume())
  const error = await errorOf(post(origin, aSource(manyChunks(2)), { timeoutMs: 500 }))
  assert.ok(error instanceof HttpTimeout)
  assert.ok(!isUnsent(error))
})

test('a source is not opened before there is a connection', async () => {
  // It never answers the handshake.
  const origin = (await serveRaw(() => {})).replace('http:', 'https:')
  const source = aSource(manyChunks(2))
  const error = await errorOf(post(origin, source, { timeoutMs: 300 }))
  assert.ok(isUnsent(error))
  assert.equal(source.opened, 0)
})

for (const body of ['{}', aSource(manyChunks(3))]) {
  test(`hints before the answer are not the answer: ${typeof body === 'string' ? 'text' : 'upload'}`, async () => {
    const { origin } = await serve((request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' })
      request.resume().on('end', () => response.end('well'))
    })
    const { status, text, begun } = await post(origin, body)
    assert.deepEqual([status, text, begun], [200, 'well', [200]])
  })
}

test('a body goes through a proxy as it is', async () => {
  const { origin } = await serve(echo)
  const seen: (string | undefined)[] = []
  const proxy = await serve((request, response) => {
    seen.push(request.url, request.headers['content-length'], request.headers['transfer-encoding'])
    const { method, headers } = request
    const onwards = httpRequest(request.url ?? '', { method, headers }, (answer) => answer.pipe(response))
    request.pipe(onwards)
  })
  const via = new UpstreamHttp({
    connectTimeoutMs: 5_000,
    answerBytes: 1_000_000,
    yieldOnSending: yieldLoop,
    proxy: { http: proxy.origin, https: undefined, no: undefined },
  })
  closing.push(() => via.close())
  const chunks = manyChunks(30)
  const source = aSource(chunks)
  const { text } = await post(origin, source, { via })
  const { sha256 } = JSON.parse(text) as { sha256: string }
  assert.equal(sha256, createHash('sha256').update(Buffer.concat(chunks)).digest('hex'))
  assert.deepEqual(seen, [`${origin}/upload`, String(source.size), undefined])
})

test('a text is sent with its length, as ever', async () => {
  const { origin } = await serve(echo)
  const { text } = await post(origin, 'täxt')
  assert.equal((JSON.parse(text) as { length: string }).length, '5')
})

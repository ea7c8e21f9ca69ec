import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { deliver, deliveredPart } from './delivery.ts'
import { Jobs } from './images/jobs.ts'
import type { Picture } from './images/pictures.ts'
import { Pictures } from './images/pictures.ts'
import { playImage } from './images/play-image.ts'
import type { LogEntry } from './log.ts'
import { OracleLog } from './log.ts'
import { PlannedFailures } from './planned-failures.ts'
import type { Outcome } from './play.ts'
import { credentialOf, play } from './play.ts'

/** 2,048 inputs of 8,192 tokens at 4 bytes are 64 MiB; twice that leaves room for JSON escapes. */
const maxRequestBytes = 128 * 1024 * 1024

/** Longer than any client keeps an idle connection, so that a reset is always one the scenario asked for. */
const keepAliveMs = 120_000

type Counters = {
  calls: number
  served: number
  /** Inputs and tokens of served calls. */
  inputs: number
  tokens: number
  inFlight: number
  peakInFlight: number
}

export type FakeProvider = {
  url: string
  port: number
  entries(): LogEntry[]
  counters(): Counters
  /** The bytes of a picture that was served not long ago. */
  picture(sha256: string): Buffer | undefined
  close(): Promise<void>
}

export async function startFakeProvider({
  port = 0,
  host = '127.0.0.1',
  logFile,
}: { port?: number; host?: string; logFile?: string } = {}): Promise<FakeProvider> {
  const log = new OracleLog(logFile)
  const failures = new PlannedFailures()
  const studio = { failures, pictures: new Pictures(), jobs: new Jobs() }
  const counters: Counters = { calls: 0, served: 0, inputs: 0, tokens: 0, inFlight: 0, peakInFlight: 0 }

  async function exchange(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const body = await bodyOf(request)
    const { headers, method = 'GET' } = request
    const call = { method, url, headers, body }
    const outcome = (await playImage(call, studio)) ?? (await play(call, failures))
    const entry = log.append(entryOf(outcome, request, url.pathname, body.length))
    if (entry.served) {
      counters.served += 1
      counters.inputs += entry.inputs
      counters.tokens += entry.tokens
    }
    response.setHeader('x-request-id', `fake-${entry.id}`)
    if (outcome.ending === 'reset') request.socket.resetAndDestroy()
    else if (outcome.ending === 'reply') await replied(outcome, response)
  }

  function administer(request: IncomingMessage, response: ServerResponse, url: URL): void {
    const sha256 = /^\/_pictures\/(.+)$/.exec(url.pathname)?.[1]
    if (sha256 !== undefined) sendPicture(response, studio.pictures.find(sha256))
    else if (url.pathname === '/_health') sendJson(response, { ok: true, ...counters })
    else if (url.pathname !== '/_log')
      sendJson(response, { error: 'Try /_health, /_log or /_pictures/<sha256>.' }, 404)
    else if (request.method === 'DELETE') {
      log.clear()
      sendJson(response, { cleared: true })
    } else sendJson(response, log.entries(Number(url.searchParams.get('since') ?? 0)))
  }

  const server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake-provider')
    if (url.pathname.startsWith('/_')) return administer(request, response, url)
    counters.calls += 1
    counters.inFlight += 1
    counters.peakInFlight = Math.max(counters.peakInFlight, counters.inFlight)
    response.once('close', () => (counters.inFlight -= 1))
    exchange(request, response, url).catch((error: unknown) => {
      // A client that left while sending is part of many tests; anything else is a bug of this server.
      if (!request.destroyed || request.complete) console.error('fake-provider:', error)
      response.destroy()
    })
  })
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address() as AddressInfo

  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    entries: () => log.entries(),
    counters: () => ({ ...counters }),
    picture: (sha256) => studio.pictures.find(sha256)?.content,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
      log.close()
    },
  }
}

async function replied(outcome: Outcome, response: ServerResponse): Promise<void> {
  const { scenario, reply } = outcome
  if (scenario === null) response.writeHead(reply.status, reply.headers).end(reply.body)
  else await deliver(scenario, response, reply)
}

function entryOf(
  { scenario, wire, question, image, reply, served, ending }: Outcome,
  request: IncomingMessage,
  path: string,
  requestBytes: number,
): Omit<LogEntry, 'id' | 'at'> {
  const answered = ending === 'reply'
  const sent = scenario === null ? reply.body : deliveredPart(scenario, reply.body)
  return {
    callId: headerOf(request, 'x-torana-call-id'),
    scenario: scenario?.name ?? '',
    wire: wire?.name ?? null,
    path,
    model: question?.model ?? null,
    inputs: question?.texts.length ?? 0,
    inputType: question?.inputType ?? null,
    dimensions: question?.dimensions ?? null,
    encoding: question?.encoding ?? null,
    tokens: question?.tokens.reduce((sum, count) => sum + count, 0) ?? 0,
    requestBytes,
    responseSha256: answered ? createHash('sha256').update(sent).digest('hex') : null,
    status: answered ? reply.status : null,
    served,
    authorization: credentialOf(request.headers)?.slice(-4) ?? null,
    ...image,
  }
}

function headerOf(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name]
  return typeof value === 'string' ? value : null
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxRequestBytes) throw new Error(`A request body exceeds ${maxRequestBytes} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function sendPicture(response: ServerResponse, picture: Picture | undefined): void {
  if (picture === undefined) return sendJson(response, { error: 'No such picture, or too long ago.' }, 404)
  const contentType = picture.format === 'text' ? 'text/plain' : `image/${picture.format}`
  response.writeHead(200, { 'content-type': contentType }).end(picture.content)
}

function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

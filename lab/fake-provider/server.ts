import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { driftOf } from './answer.ts'
import { behaviourOf, type Behaviour } from './behaviour.ts'
import { Capacity } from './capacity.ts'
import { contentNotes } from './contents.ts'
import { deliver, deliveredPart } from './delivery.ts'
import { FileMemory, Inbox } from './inbox.ts'
import { Jobs } from './images/jobs.ts'
import { Pictures, type Picture } from './images/pictures.ts'
import { playImage } from './images/play-image.ts'
import { OracleLog, type LogEntry } from './log.ts'
import { ModeDesk } from './mode-desk.ts'
import { LISTING_PATH } from './listing.ts'
import { Modes, type ModeReport } from './modes.ts'
import { OwnPorts } from './own-ports.ts'
import { PlannedFailures } from './planned-failures.ts'
import { credentialOf, fieldsOf, play, refusalOf, type Call, type Outcome } from './play.ts'
import { isPlayed } from './players/all.ts'
import type { Scenario } from './traits.ts'

/** Longer than any client keeps an idle connection, so that a reset is always one the scenario asked for. */
const keepAliveMs = 120_000

type Counters = {
  /** Without looks at the list of models. */
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
  /** Those that ask for work. The others are polls, downloads and looks at whether the upstream is there. */
  calls(): LogEntry[]
  counters(): Counters
  /** The bytes of a picture that was served not long ago. */
  picture(sha256: string): Buffer | undefined
  /** Changes how `mode-<name>` behaves, as `POST /_mode` does: what is left out is back at its default. */
  setMode(name: string, behaviour?: Partial<Behaviour>): Promise<ModeReport>
  /** How it behaves, and its counters. */
  mode(name: string): ModeReport
  /** Gives `mode-<name>` a port of its own, which the mode refuse-connections closes; its URL. */
  ownPort(name: string): Promise<string>
  close(): Promise<void>
}

export async function startFakeProvider({
  port = 0,
  host = '127.0.0.1',
  logFile,
}: { port?: number; host?: string; logFile?: string } = {}): Promise<FakeProvider> {
  const log = new OracleLog(logFile)
  const failures = new PlannedFailures()
  const capacity = new Capacity()
  const modes = new Modes()
  const studio = { failures, pictures: new Pictures(), jobs: new Jobs() }
  const memory = new FileMemory()
  const counters: Counters = { calls: 0, served: 0, inputs: 0, tokens: 0, inFlight: 0, peakInFlight: 0 }

  async function decided(call: Call): Promise<Outcome> {
    return (await playImage(call, studio)) ?? (await play(call, failures, capacity))
  }

  async function exchange(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const inbox = new Inbox(request, memory)
    const { headers, method = 'GET' } = request
    if (method === 'POST') await modes.inPath(url.pathname)?.released()
    const prefix = url.pathname.split('/')[1] ?? ''
    const scenario = () => modes.scenarioOf(decodeURIComponent(prefix))
    const call = { method, url, headers, inbox, scenario, number: counters.calls }
    const outcome = await decided(call).finally(() => inbox.release())
    const entry = log.append(entryOf(outcome, request, url.pathname, inbox.bytes))
    modes.inPath(url.pathname)?.finish(entry)
    if (entry.served) {
      counters.served += 1
      counters.inputs += entry.inputs
      counters.tokens += entry.tokens
    }
    response.setHeader('x-request-id', `fake-${entry.id}`)
    if (outcome.ending === 'reset') request.socket.resetAndDestroy()
    else if (outcome.ending === 'reply') await replied(outcome, response)
  }

  async function administer(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const sha256 = /^\/_pictures\/(.+)$/.exec(url.pathname)?.[1]
    if (sha256 !== undefined) sendPicture(response, studio.pictures.find(sha256))
    else if (url.pathname === '/_health') sendJson(response, { ok: true, ...counters })
    else if (url.pathname === '/_mode' || url.pathname === '/_port') await changeMode(request, response, url)
    else if (url.pathname !== '/_log')
      sendJson(response, { error: 'Try /_health, /_log, /_mode, /_port or /_pictures/<sha256>.' }, 404)
    else if (request.method === 'DELETE') {
      log.clear()
      sendJson(response, { cleared: true })
    } else sendJson(response, log.entries(Number(url.searchParams.get('since') ?? 0)))
  }

  async function changeMode(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { body } = await new Inbox(request, memory).receive()
    const { method = 'GET' } = request
    try {
      sendJson(response, await desk.answer(method, url, method === 'POST' ? fieldsOf(body) : {}))
    } catch (error) {
      const { status, message } = refusalOf(error)
      sendJson(response, { error: message }, status)
    }
  }

  function count(response: ServerResponse, url: URL): void {
    counters.calls += 1
    counters.inFlight += 1
    counters.peakInFlight = Math.max(counters.peakInFlight, counters.inFlight)
    const mode = modes.inPath(url.pathname)
    mode?.begin()
    response.once('close', () => {
      counters.inFlight -= 1
      mode?.leave()
    })
  }

  function take(request: IncomingMessage, response: ServerResponse): void {
    if (isPlayed(request, response)) return
    const url = new URL(request.url ?? '/', 'http://fake-provider')
    const isAdministration = url.pathname.startsWith('/_')
    // A node looks at the list of models whenever it likes: a look is no call, and stands in the log alone.
    const isLook = request.method === 'GET' && url.pathname.endsWith(`/${LISTING_PATH}`)
    if (!isAdministration && !isLook) count(response, url)
    const done = isAdministration ? administer(request, response, url) : exchange(request, response, url)
    done.catch((error: unknown) => {
      // A client that left while sending is part of many tests; anything else is a bug of this server.
      if (!request.destroyed || request.complete) console.error('fake-provider:', error)
      response.destroy()
    })
  }

  const newServer = () => createServer({ keepAliveTimeout: keepAliveMs }, take)
  const ports = new OwnPorts(host, newServer)
  const desk = new ModeDesk(modes, ports)
  const server = newServer()
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address() as AddressInfo

  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    entries: () => log.entries(),
    calls: () => log.entries().filter(({ method }) => method === 'POST'),
    counters: () => ({ ...counters }),
    picture: (sha256) => studio.pictures.find(sha256)?.content,
    setMode: async (name, behaviour = {}) => desk.set(name, behaviourOf(behaviour)),
    mode: (name) => desk.report(name),
    ownPort: (name) => desk.openPort(name),
    async close() {
      await ports.shutAll()
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
  { scenario, wire, question, image, waitedMs, reply, served, ending }: Outcome,
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
    method: request.method ?? '',
    path,
    model: question?.model ?? null,
    inputs: question?.texts.length ?? 0,
    inputType: question?.inputType ?? null,
    dimensions: question?.dimensions ?? null,
    encoding: question?.encoding ?? null,
    tokens: question?.tokens.reduce((sum, count) => sum + count, 0) ?? 0,
    ...(question?.contents === undefined ? {} : { contents: contentNotes(question.contents) }),
    requestBytes,
    responseSha256: answered ? createHash('sha256').update(sent).digest('hex') : null,
    status: answered ? reply.status : null,
    served,
    authorization: credentialOf(request.headers)?.slice(-4) ?? null,
    ...(waitedMs === undefined ? {} : { waitedMs }),
    ...driftNote(scenario, question?.texts ?? []),
    ...image,
  }
}

function driftNote(scenario: Scenario | null, texts: readonly string[]): Pick<LogEntry, 'vectors'> {
  const kind = scenario && texts.map((text) => driftOf(scenario, texts, text)).find((one) => one !== null)
  return kind ? { vectors: kind } : {}
}

function headerOf(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name]
  return typeof value === 'string' ? value : null
}

function sendPicture(response: ServerResponse, picture: Picture | undefined): void {
  if (picture === undefined) return sendJson(response, { error: 'No such picture, or too long ago.' }, 404)
  const contentType = picture.format === 'text' ? 'text/plain' : `image/${picture.format}`
  response.writeHead(200, { 'content-type': contentType }).end(picture.content)
}

function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

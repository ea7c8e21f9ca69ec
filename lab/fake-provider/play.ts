import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { answerOf } from './answer.ts'
import type { Capacity } from './capacity.ts'
import type { Reply } from './delivery.ts'
import { errorReply, htmlPage } from './errors.ts'
import type { Inbox } from './inbox.ts'
import { listing } from './listing.ts'
import { imageWires } from './images/wires/all.ts'
import type { ImageRecord } from './log.ts'
import { openai } from './openai-wire.ts'
import type { PlannedFailures } from './planned-failures.ts'
import { refuseUnservable } from './refusals.ts'
import { UnknownTrait, type Scenario } from './traits.ts'
import { isFields, Refusal, type Fields, type Question, type Target, type Wire } from './wire.ts'
import { wires } from './wires/all.ts'

export type Call = {
  method: string
  url: URL
  headers: IncomingHttpHeaders
  inbox: Inbox
  /** Counts the calls of this server. */
  number: number
  /** What the path asks for and its mode adds at this moment; throws `UnknownTrait`. */
  scenario(): Scenario
}

export type Outcome = {
  scenario: Scenario | null
  wire: { name: string } | null
  question: Question | null
  /** What the log says of a call about pictures. */
  image?: ImageRecord
  /** Before its work began; undefined in scenarios without capacity-N. */
  waitedMs?: number | undefined
  reply: Reply
  served: boolean
  /** What happens on the connection: the reply, a reset, or silence for ever. */
  ending: 'reply' | 'reset' | 'silence'
}

/** Decides everything about one call; the connection itself is the server's business. */
export async function play(call: Call, failures: PlannedFailures, capacity: Capacity): Promise<Outcome> {
  let scenario: Scenario | null = null
  let wire: Wire | null = null
  let question: Question | null = null
  const { body } = await call.inbox.receive()
  try {
    const [, , ...rest] = call.url.pathname.split('/')
    scenario = call.scenario()
    const listed = call.method === 'GET' ? listing(rest.join('/')) : null
    if (listed !== null) {
      failures.refuseAlways(scenario, credentialOf(call.headers))
      const { ending } = ended(scenario, false)
      const reply = okReply('application/json', scenario.has('garbage') ? `%${listed}` : listed)
      return { scenario, wire, question, reply, served: false, ending }
    }
    const [located, target] = wireAt(rest.join('/'), call.url.searchParams)
    wire = located
    if (call.method !== 'POST') throw new Refusal(405, `${call.method} is not allowed here, POST is.`)
    refuseLargeBody(scenario, call.inbox.bytes)
    refuseBeyond(wire, call.inbox.bytes)
    const credential = credentialOf(call.headers)
    refuseMissingCredential(wire, call.headers)
    question = await wire.read(fieldsOf(body), target)
    if (scenario.has('slow-N')) await delay(scenario.amount('slow-N'))
    failures.refuse(scenario, credential)
    refuseUnservable(scenario, wire, question)
    const { served, ending } = ended(scenario, true)
    const waitedMs = served ? await capacity.serve(scenario, credential) : undefined
    const reply = replyTo(scenario, wire, question, call.number)
    return { scenario, wire, question, served, ending, reply, waitedMs }
  } catch (error) {
    const reply = errorReply(scenario, wire ?? openai, refusalOf(error))
    return { scenario, wire, question, reply, served: false, ending: 'reply' }
  }
}

export function credentialOf(headers: IncomingHttpHeaders): string | null {
  const value =
    headers.authorization ??
    headers['api-key'] ??
    headers['x-api-key'] ??
    headers['x-goog-api-key'] ??
    headers['x-key']
  return typeof value === 'string' ? value : null
}

function wireAt(path: string, query: URLSearchParams): [Wire, Target] {
  for (const wire of wires) {
    const target = wire.locate(path, query)
    if (target !== null) return [wire, target]
  }
  const bases = new Set([...wires, ...imageWires].map(({ base }) => `/<traits>/${base}`))
  throw new Refusal(404, `Nothing is served at /<traits>/${path}. Base URLs: ${[...bases].join(', ')}.`)
}

function replyTo(scenario: Scenario, wire: Wire, question: Question, callNumber: number): Reply {
  if (scenario.has('html-200')) return okReply('text/html', htmlPage('Welcome'))
  const { body, headers } = wire.write(answerOf(scenario, wire, question, callNumber))
  const text = scenario.has('garbage') ? `%${body.slice(1)}` : body
  return okReply('application/json', text, headers)
}

function okReply(contentType: string, body: string, headers: Record<string, string> = {}): Reply {
  return { status: 200, headers: { 'content-type': contentType, ...headers }, body: Buffer.from(body) }
}

export function ended(scenario: Scenario, served: boolean): Pick<Outcome, 'served' | 'ending'> {
  if (scenario.has('never')) return { served: false, ending: 'silence' }
  if (scenario.has('reset')) return { served: false, ending: 'reset' }
  if (scenario.has('serves-then-hangs')) return { served, ending: 'silence' }
  return { served, ending: scenario.has('serves-then-resets') ? 'reset' : 'reply' }
}

export function refuseLargeBody(scenario: Scenario, bytes: number): void {
  const maxBytes = scenario.amount('max-bytes-N') ?? Infinity
  if (bytes > maxBytes) throw new Refusal(413, `The body has ${bytes} bytes, at most ${maxBytes} fit.`)
}

function refuseBeyond({ maxBodyBytes = Infinity }: Wire, bytes: number): void {
  if (bytes > maxBodyBytes) {
    throw new Refusal(400, `Request payload size exceeds the limit: ${maxBodyBytes} bytes.`)
  }
}

function refuseMissingCredential({ credentials }: Wire, headers: IncomingHttpHeaders): void {
  if (credentials.length === 0 || credentials.some((name) => headers[name] !== undefined)) return
  throw new Refusal(401, `No credential: send ${credentials.join(' or ')}.`, { code: 'invalid_api_key' })
}

export function fieldsOf(body: Buffer): Fields {
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch {
    throw new Refusal(400, 'We could not parse the JSON body of your request.')
  }
  if (!isFields(value)) throw new Refusal(400, 'The body must be a JSON object.')
  return value
}

export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof UnknownTrait) return new Refusal(404, error.message)
  throw error
}

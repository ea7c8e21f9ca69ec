/** Requests that no client of good will sends, made for every operation of a contract, byte by byte. */
import { connect } from 'node:net'
import type { Operation, Schema } from './contract.ts'

/** The longest id that a path may hold, on both ports. */
const MAX_PARAM_LENGTH = 512

/** Endless answers, and how many of each a node gives in parallel. */
export const STREAMS = [
  { path: '/api/v1/events?topics=flows', atOnce: 50 },
  { path: '/api/v1/usage/export', atOnce: 2 },
  { path: '/api/v1/audit/export', atOnce: 2 },
] as const

/** Parameters that an operation needs to get as far as possible. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  events: { topics: 'flows,attention' },
}

export interface WalkedRequest {
  readonly operation: Operation
  /** The fault of the request. */
  readonly kind: Kind
  readonly what: string
  readonly text: string
}

export type Kind =
  | 'unfinished body'
  | 'longest field'
  | 'longer field'
  | 'HEAD'
  | 'unknown method'
  | 'NUL'
  | 'lone surrogate'
  | 'malformed content type'
  | 'as it is'

export interface Walker {
  /** Header lines that identify the caller. Empty: none. */
  readonly credential: (operation: Operation) => readonly string[]
  /** Values of path parameters by name; an unknown one names nothing that exists. */
  readonly params?: Readonly<Record<string, string>>
}

/** A key or token, shown wherever an operation asks who calls. */
export function bearer(secret: string): Walker['credential'] {
  return ({ permission }) => (permission === 'anyone' ? [] : [`authorization: Bearer ${secret}`])
}

/** Every request of the walk for one operation. */
export function requestsOf(operation: Operation, walker: Walker): readonly WalkedRequest[] {
  return [
    ...unfinished(operation, walker),
    ...fields(operation, walker),
    ...methods(operation, walker),
    ...contentTypes(operation, walker),
    plain(operation, walker),
  ]
}

/** The operation as its path says, with an empty body. */
export function plain(operation: Operation, walker: Walker): WalkedRequest {
  return made(operation, walker, 'as it is', 'nothing wrong but the caller', {})
}

interface Made {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly method?: string
  readonly headers?: readonly string[]
  /** Sent as it is behind the headers. */
  readonly body?: string
  readonly json?: string
}

function made(
  operation: Operation,
  { credential, params: known = {} }: Walker,
  kind: Kind,
  what: string,
  { params = {}, query = {}, method = operation.method, headers = [], body, json }: Made,
): WalkedRequest {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    return params[name] ?? known[name] ?? `no-such-${name}`
  })
  const asked = Object.entries({ ...NEEDED[operation.id], ...query }).map(
    ([name, value]) => `${name}=${value}`,
  )
  const takesBody = operation.consumes.length > 0 && method === operation.method
  const sent = json ?? (takesBody && body === undefined ? '{}' : undefined)
  const lines = [
    `${method} ${path}${asked.length > 0 ? '?' : ''}${asked.join('&')} HTTP/1.1`,
    'host: localhost',
    'connection: close',
    ...credential(operation),
    ...headers,
    ...(sent === undefined
      ? []
      : ['content-type: application/json', `content-length: ${Buffer.byteLength(sent)}`]),
  ]
  return { operation, kind, what, text: `${lines.join('\r\n')}\r\n\r\n${sent ?? body ?? ''}` }
}

function unfinished(operation: Operation, walker: Walker): WalkedRequest[] {
  const begun = '{"project": "no-such-project", "x": "'
  const form = '--edge\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nba'
  const kinds = [
    ['a body shorter than announced', 'application/json', 'content-length: 5000', begun],
    ['a chunk that stops', 'application/json', 'transfer-encoding: chunked', `ff\r\n${begun}`],
    ['a form that stops', 'multipart/form-data; boundary=edge', 'content-length: 5000', form],
  ] as const
  return kinds.map(([what, type, length, body]) =>
    made(operation, walker, 'unfinished body', what, {
      headers: [`content-type: ${type}`, length],
      body,
    }),
  )
}

/** Of path, query and body: the longest allowed, one longer, a NUL, and half of a character. */
function fields(operation: Operation, walker: Walker): WalkedRequest[] {
  const { parameters, fields: ofBody } = operation
  const make = (kind: Kind, what: string, parts: Made): WalkedRequest =>
    made(operation, walker, kind, what, parts)
  const requests: WalkedRequest[] = []
  for (const { in: where, name, schema } of parameters) {
    if (where === 'header') continue
    const at = (value: string): Made =>
      where === 'path' ? { params: { [name]: value } } : { query: { [name]: value } }
    const maxLength = where === 'path' ? MAX_PARAM_LENGTH : (lengthOf(schema) ?? 1000)
    requests.push(
      make('longest field', `${name} of ${maxLength}`, at('x'.repeat(maxLength))),
      make('longer field', `${name} of ${maxLength + 1}`, at('x'.repeat(maxLength + 1))),
      make('NUL', `${name} is a NUL`, at('%00')),
      make('NUL', `a NUL in ${name}`, at('a%00b')),
      make('lone surrogate', `half of a character in ${name}`, at('%ED%A0%80')),
      make('NUL', `${name} in the year 1`, at('0001-01-01T00:00:00Z')),
    )
  }
  for (const [name, schema] of Object.entries(ofBody)) {
    if (!isText(schema)) continue
    const at = (text: string): Made => ({ json: `{${JSON.stringify(name)}: "${text}"}` })
    const maxLength = lengthOf(schema) ?? 1000
    requests.push(
      make('longest field', `${name} of ${maxLength}`, at('x'.repeat(maxLength))),
      make('longer field', `${name} of ${maxLength + 1}`, at('x'.repeat(maxLength + 1))),
      make('NUL', `a NUL in ${name}`, at('a\\u0000b')),
      make('lone surrogate', `half of a character in ${name}`, at('a\\ud800b')),
    )
  }
  return requests
}

function isText({ type, anyOf = [] }: Schema): boolean {
  return [type].flat().includes('string') || anyOf.some(isText)
}

function lengthOf({ maxLength, anyOf = [] }: Schema): number | undefined {
  return maxLength ?? anyOf.map(lengthOf).find((length) => length !== undefined)
}

function methods(operation: Operation, walker: Walker): WalkedRequest[] {
  const as = (kind: Kind, method: string): WalkedRequest => made(operation, walker, kind, method, { method })
  return [as('HEAD', 'HEAD'), as('unknown method', 'FROB'), as('unknown method', 'PROPFIND')]
}

function contentTypes(operation: Operation, walker: Walker): WalkedRequest[] {
  return ['', ';', 'application'].map((type) =>
    made(operation, walker, 'malformed content type', `the content type '${type}'`, {
      headers: [`content-type: ${type}`, 'content-length: 2'],
      body: '{}',
    }),
  )
}

export interface Exchange {
  /** 0: there was no answer in time. */
  readonly status: number
  readonly head: string
  readonly body: string
  /** Whether the node closed the connection by itself. */
  readonly isClosed: boolean
}

const HEAD_END = '\r\n\r\n'

/** Sends the bytes and waits for the node to end the connection, except behind an answer without an end. */
export function exchange(url: string, { text }: WalkedRequest, waitMs: number): Promise<Exchange> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let received = ''
    const finish = (isClosed: boolean): void => {
      clearTimeout(late)
      socket.destroy()
      const end = received.indexOf(HEAD_END)
      const head = end < 0 ? '' : received.slice(0, end)
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
      resolve({ status, head, body: end < 0 ? '' : received.slice(end + HEAD_END.length), isClosed })
    }
    const late = setTimeout(finish, waitMs, false)
    socket.on('data', (chunk: Buffer) => {
      // An invitation to go on is no answer.
      received = (received + chunk.toString('latin1')).replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')
      if (/^HTTP[\s\S]*?content-type: text\/event-stream[\s\S]*?\r\n\r\n/.test(received)) finish(true)
    })
    // A reset is one way to close.
    socket.on('error', () => {})
    socket.once('close', () => finish(true))
    socket.once('connect', () => socket.write(text))
  })
}

/**
 * An upstream that repeats what it was sent in every possible way: in errors of every status and form, in headers, in
 * fields beside the vectors, in answers that are broken, and in silence. Every second call is answered correctly.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

const JSON_TYPE = { 'content-type': 'application/json' }
const STATUSES = [400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 451, 500, 501, 502, 503, 504, 529]
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** Longer than the gateway waits for an answer. */
const LATE_MS = 4000

type Part = { readonly text?: string; readonly image_url?: { readonly url: string } }
type Entry = string | { readonly content: readonly Part[] }

interface Question {
  readonly input?: string | readonly Entry[]
  readonly prompt?: string
}

type Quoting = (response: ServerResponse, quoted: string, question: Question) => void

const json = (response: ServerResponse, status: number, value: unknown, headers = {}): void => {
  response.writeHead(status, { ...JSON_TYPE, ...headers }).end(JSON.stringify(value))
}
const headerOf = (quoted: string): string => encodeURIComponent(quoted).slice(0, 2000)

/** The forms of errors that servers have. */
const errors: readonly ((quoted: string) => unknown)[] = [
  (quoted) => ({ error: { message: `failed on ${quoted}`, type: 'invalid_request_error', code: 'bad' } }),
  (quoted) => ({ error: { message: 'failed', param: quoted, code: quoted, type: quoted } }),
  (quoted) => ({ error: quoted }),
  (quoted) => ({ message: quoted, code: 7 }),
  (quoted) => ({ detail: [{ loc: ['body', 'input', 0], msg: `bad: ${quoted}`, input: quoted }] }),
  (quoted) => ({ object: 'error', message: { input: [quoted] } }),
]

const good: Quoting = (response, _quoted, question) => {
  if (question.prompt !== undefined)
    return json(response, 200, { created: 1, data: [{ b64_json: PICTURE, revised_prompt: question.prompt }] })
  const texts = entriesOf(question)
  const data = texts.map((one, index) => ({ object: 'embedding', index, embedding: vectorOf(one) }))
  return json(response, 200, {
    object: 'list',
    data,
    model: 'm',
    usage: { prompt_tokens: 9 * texts.length, total_tokens: 9 * texts.length },
  })
}

const ways: readonly Quoting[] = [
  ...STATUSES.flatMap((status): Quoting[] =>
    errors.map((form) => (response, quoted) => {
      json(response, status, form(quoted), { 'x-error': headerOf(quoted), 'x-request-id': headerOf(quoted) })
    }),
  ),
  (response, quoted) => void response.writeHead(500, { 'content-type': 'text/html' }).end(`<p>${quoted}</p>`),
  (response, quoted) => void response.writeHead(400, { 'content-type': 'text/plain' }).end(quoted),
  (response, quoted) => void response.writeHead(200, JSON_TYPE).end(quoted),
  (response, quoted) => void response.writeHead(200, JSON_TYPE).end(`{"data":[{"embedding":"${quoted}`),
  (response, quoted) => json(response, 200, { error: { message: quoted }, model: quoted }),
  (response, quoted) => json(response, 200, { data: [{ index: 0, embedding: [quoted] }], usage: quoted }),
  (response, quoted) =>
    void response.writeHead(302, { location: `http://127.0.0.1/${headerOf(quoted)}` }).end(),
  (response, quoted) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-length': 100_000 }).write(quoted)
    setTimeout(() => response.destroy(), 5)
  },
  (response) => void response.destroy(),
  (response, quoted) => void setTimeout(() => json(response, 500, { error: quoted }), LATE_MS),
  // As it should be, with the texts beside the vectors.
  (response, quoted, question) => {
    response.setHeader('x-quoted', headerOf(quoted))
    response.setHeader('openai-processing-ms', headerOf(quoted))
    good(response, quoted, question)
  },
]

function vectorOf(one: string): number[] {
  let seed = 1
  for (const character of one) seed = (seed * 31 + (character.codePointAt(0) ?? 0)) % 65_521
  return Array.from({ length: 8 }, (_, index) => ((seed * (index + 3)) % 1000) + 1)
}

/** Texts, and for contents the texts and the data URLs of their parts. */
function entriesOf({ input = [] }: Question): readonly string[] {
  const entries = typeof input === 'string' ? [input] : input
  return entries.map((entry) =>
    typeof entry === 'string'
      ? entry
      : entry.content.map(({ text: words, image_url }) => words ?? image_url?.url ?? '').join(' '),
  )
}

let calls = 0
/** Calls with texts of both projects. */
let shared = 0

export async function playQuoting(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') return json(response, 200, { calls, shared })
  const question = JSON.parse(await text(request)) as Question
  const quoted = question.prompt ?? entriesOf(question).join(' | ')
  calls += 1
  if (['CANARYALPHA', 'CANARYBETA'].every((word) => isIn(quoted, word))) shared += 1
  const way = calls % 2 === 0 ? good : (ways[Math.floor(calls / 2) % ways.length] as Quoting)
  return way(response, quoted, question)
}

/** As a text, or in an image in base64, where it begins at a multiple of three bytes. */
function isIn(quoted: string, word: string): boolean {
  return quoted.includes(word) || quoted.includes(Buffer.from(word.slice(0, 9)).toString('base64'))
}

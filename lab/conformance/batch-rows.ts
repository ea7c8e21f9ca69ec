/** What clients are asked to do with files, uploads, batches and webhooks, and how their answers are judged. */
import { createHash } from 'node:crypto'
import type { FakeProvider } from '../fake-provider/server.ts'
import { fromBase64, vectorOf } from '../fake-provider/vectors.ts'
import type { Program } from './clients.ts'
import type { ClientAnswer } from './run-client.ts'
import { judgeError, type Verdict } from './verdict.ts'

/** What a client program prints of a case; each kind of work has some of the fields. */
export interface BatchResult {
  readonly status?: string
  readonly counts?: readonly number[]
  readonly errors?: readonly string[]
  readonly output?: string
  readonly refused?: string
  readonly afterCancel?: string
  readonly made?: readonly string[]
  readonly listed?: readonly string[]
  readonly content?: string
  readonly report?: string
}

/** A webhook of Torana, as it came. */
export interface Delivered {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly secret: string
  readonly batchId: string
}

export interface World {
  readonly provider: FakeProvider
  readonly delivered: Delivered
}

export interface BatchRow {
  readonly name: string
  readonly work: 'run' | 'cancel' | 'pages' | 'parts' | 'files' | 'missing' | 'unwrap'
  /** The further fields of the question to the program. */
  readonly asked: (client: Program, world: World) => object
  readonly judge: (answer: BatchResult, world: World, client: Program) => Verdict
  /** The status and code of the error that must come instead of an answer. */
  readonly fails?: { readonly status: number; readonly code: string; readonly says: string }
}

export const EMBEDDINGS = 'plain-embed'
export const SLOW = 'slow-embed'
export const PICTURES = 'plain-image'
/** Enough for several calls. */
const TEXTS = Array.from({ length: 300 }, (_, index) => `Text ${index} mit Umlaut: ä, and 漢字.`)
const MANY = Array.from({ length: 20_000 }, (_, index) => `text ${index}`)

export function linesOf(url: string, bodies: readonly object[]): string {
  return bodies
    .map((body, index) => `${JSON.stringify({ custom_id: `${index}`, method: 'POST', url, body })}\n`)
    .join('')
}

/** What a batch is made of. */
interface Lines {
  readonly endpoint: string
  readonly lines: string
}

function textLines(model: string, texts: readonly string[]): Lines {
  const endpoint = '/v1/embeddings'
  const bodies = texts.map((input) => ({ model, input, encoding_format: 'base64' }))
  return { endpoint, lines: linesOf(endpoint, bodies) }
}

function pictureLines(client: Program): Lines {
  const endpoint = '/v1/images/generations'
  const bodies = promptsOf(client).map((prompt, index) => ({
    model: PICTURES,
    prompt,
    size: '96x64',
    response_format: index === 0 ? 'url' : 'b64_json',
  }))
  return { endpoint, lines: linesOf(endpoint, bodies) }
}

function promptsOf({ name }: Program): readonly string[] {
  return [0, 1, 2].map((index) => `picture ${index} for ${name}`)
}

export const batchRows: readonly BatchRow[] = [
  {
    name: 'run',
    work: 'run',
    asked: () => textLines(EMBEDDINGS, TEXTS),
    judge: (answer) => vectorsOf(answer, TEXTS),
  },
  {
    name: 'parts',
    work: 'parts',
    asked: () => textLines(EMBEDDINGS, TEXTS),
    judge: (answer) => vectorsOf(answer, TEXTS),
  },
  {
    name: 'pictures',
    work: 'run',
    asked: pictureLines,
    judge: picturesOf,
  },
  {
    name: 'broken-line',
    work: 'run',
    asked: () => {
      const { endpoint, lines } = textLines(EMBEDDINGS, TEXTS.slice(0, 2))
      return { endpoint, lines: `${lines}{"custom_id": \n` }
    },
    judge: ({ status, errors = [] }) =>
      same('failed, invalid_json_line 3', `${status}, ${errors.join('; ')}`),
  },
  {
    name: 'refused-text',
    work: 'run',
    asked: () => textLines(EMBEDDINGS, ['one', '@@refuse@@', 'three']),
    judge: ({ status, counts = [], refused = '' }) => {
      const [line] = refused === '' ? [] : [JSON.parse(refused) as ResultLine]
      const got = `${status} ${counts.join()}, ${line?.custom_id} ${line?.response?.status_code}`
      return same('completed 3,2,1, 1 400', got)
    },
  },
  {
    name: 'cancel',
    work: 'cancel',
    asked: () => textLines(SLOW, MANY),
    judge: ({ status, afterCancel, counts = [], output = '' }) => {
      const lines = output.split('\n').length - 1
      // Ended at once when nothing of it had begun.
      const isCancelled = afterCancel === 'cancelling' || afterCancel === 'cancelled'
      const got = `${isCancelled}, ${status}, ${counts[1] === lines && lines < MANY.length}`
      return same('true, cancelled, true', got)
    },
  },
  {
    name: 'pages',
    work: 'pages',
    asked: () => textLines(EMBEDDINGS, ['one']),
    judge: ({ made = [], listed = [] }) => {
      const isWhole = made.length === 5 && made.every((id) => listed.includes(id))
      return same(
        'all, each once',
        isWhole && new Set(listed).size === listed.length
          ? 'all, each once'
          : `${listed.length} listed: ${listed.join()}`,
      )
    },
  },
  {
    name: 'files',
    work: 'files',
    asked: () => textLines(EMBEDDINGS, ['one', 'two']),
    judge: ({ made = [], listed = [], content, report }) => {
      const isListed = made.every((id) => listed.includes(id))
      const isSame = content === textLines(EMBEDDINGS, ['one', 'two']).lines
      return same('lines.jsonl batch processed true, true, true', `${report}, ${isListed}, ${isSame}`)
    },
  },
  {
    name: 'missing',
    work: 'missing',
    asked: () => ({}),
    judge: ({ report }) => same('an error', `${report}`),
    fails: { status: 404, code: 'not_found', says: 'batch_missing' },
  },
  {
    name: 'unwrap',
    work: 'unwrap',
    asked: (_client, { delivered: { body, headers, secret } }) => ({ body, headers, secret }),
    judge: ({ report }, { delivered }) => same(`batch.completed ${delivered.batchId}`, `${report}`),
  },
]

export function judged(
  row: BatchRow,
  answer: ClientAnswer<BatchResult>,
  client: Program,
  world: World,
): Verdict {
  if (row.fails !== undefined)
    return judgeError(client, row.fails, answer.ok ? JSON.stringify(answer) : answer.error)
  if (!answer.ok)
    return { result: 'wrong', expected: 'an answer', got: `${answer.error.class}: ${answer.error.message}` }
  return row.judge(answer, world, client)
}

interface ResultLine {
  readonly custom_id: string
  readonly response: {
    readonly status_code: number
    readonly body: {
      readonly data: readonly {
        readonly embedding?: string
        readonly b64_json?: string
        readonly url?: string
      }[]
    }
  } | null
}

function same(expected: string, got: string): Verdict {
  return got === expected ? { result: 'right' } : { result: 'wrong', expected, got }
}

function linesIn(output = ''): readonly ResultLine[] {
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ResultLine)
}

/** Every line once, every vector bit by bit. */
function vectorsOf({ status, counts = [], output }: BatchResult, texts: readonly string[]): Verdict {
  const lines = linesIn(output)
  const ids = new Set(lines.map(({ custom_id }) => custom_id))
  const wrong = lines.filter(({ custom_id, response }) => {
    const vector = fromBase64(response?.body.data[0]?.embedding ?? '')
    const expected = vectorOf(texts[Number(custom_id)] ?? '', vector.length)
    return vector.length === 0 || !vector.every((value, index) => Object.is(value, expected[index]))
  })
  const got = `${status} ${counts.join()}: ${ids.size} of ${lines.length} lines, ${wrong.length} wrong`
  return same(
    `completed ${texts.length},${texts.length},0: ${texts.length} of ${texts.length} lines, 0 wrong`,
    got,
  )
}

/** The first is a link, the others are base64: what each prompt sold, and was sold once. */
function picturesOf({ status, output }: BatchResult, { provider }: World, client: Program): Verdict {
  const lines = linesIn(output)
  const inline = lines
    .flatMap(({ response }) => response?.body.data ?? [])
    .flatMap(({ b64_json: text }) => text ?? [])
  const links = lines.flatMap(({ response }) => response?.body.data ?? []).flatMap(({ url }) => url ?? [])
  const prompts = new Set(promptsOf(client).map((prompt) => sha256(Buffer.from(prompt))))
  const sold = provider
    .entries()
    .filter(({ promptSha256, served }) => served && prompts.has(promptSha256 ?? ''))
  const known = new Set(sold.flatMap(({ pictures = [] }) => pictures.map((one) => one.sha256)))
  const right = inline.filter((text) => known.has(sha256(Buffer.from(text, 'base64')))).length
  const got = `${status}, ${links.length} link, ${right} pictures, ${sold.length} sold`
  return same('completed, 1 link, 2 pictures, 3 sold', got)
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

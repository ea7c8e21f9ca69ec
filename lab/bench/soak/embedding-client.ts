/** Asks for vectors in every form there is, and compares every bit of them. */
import { EMBEDDERS, KEYS } from './config.ts'
import { exchange, type Received } from './exchange.ts'
import { textOf, WIDTH, WORDS } from '../../fake-provider/players/soak/oracle.ts'
import { fromBase64, truncated, vectorOf } from '../../fake-provider/vectors.ts'
import { below, chance, isAnswer, leavingOf, newWord, oneOf, type Visit } from './visit.ts'

const LEAVES = 0.06
const NARROW = 32
/** Cut vectors may be cut in float32 or in doubles, here or upstream. */
const TOLERANCE = 1e-6
/** Texts that all clients repeat: they come from the cache, and from calls that others began. */
const popular = Array.from({ length: 300 }, (_, index) => `a text that everybody asks for, number ${index}`)
const counts = [1, 1, 1, 2, 5, 40, 200]
const tokens = [...WORDS.keys()]

interface Question {
  readonly input: unknown
  readonly texts: readonly string[]
}

export async function embed(visit: Visit): Promise<void> {
  const { origin, project, tally } = visit
  const model = oneOf(EMBEDDERS)
  const { input, texts } = questionOf()
  const encoding = oneOf(['float', 'base64', undefined])
  const dimensions = chance(0.1) ? NARROW : undefined
  const path = oneOf([
    '/v1/embeddings',
    '/embeddings',
    `/v1/engines/${model}/embeddings`,
    `/openai/deployments/${model}/embeddings`,
  ])
  const body = Buffer.from(JSON.stringify({ model, input, encoding_format: encoding, dimensions }))
  const received = await exchange({
    url: `${origin}${path}`,
    key: KEYS[project],
    headers: { 'content-type': 'application/json' },
    body,
    leaving: leavingOf(LEAVES, model === 'slow' ? 1500 : 60),
  })
  tally.requests += 1
  if (received === undefined) tally.left += 1
  else if (isAnswer(visit, `vectors of ${model}`, received))
    compare(visit, received, texts, encoding, dimensions)
}

function questionOf(): Question {
  const count = oneOf(counts)
  if (chance(0.2)) {
    const rows = Array.from({ length: Math.min(count, 40) }, () =>
      Array.from({ length: 1 + below(12) }, () => oneOf(tokens)),
    )
    const [first = []] = rows
    const texts = rows.map(textOf)
    return rows.length === 1 && chance(0.5) ? { input: first, texts } : { input: rows, texts }
  }
  const texts = Array.from({ length: count }, () =>
    chance(0.3) ? oneOf(popular) : `${newWord()} ${'ü\n"\\'.repeat(below(10))}`,
  )
  return texts.length === 1 && chance(0.5) ? { input: texts[0], texts } : { input: texts, texts }
}

interface Answer {
  readonly data: readonly { readonly index: number; readonly embedding: string | readonly number[] }[]
  readonly usage: { readonly prompt_tokens: number }
}

function compare(
  { tally }: Visit,
  { body, headers }: Received,
  texts: readonly string[],
  encoding: string | undefined,
  dimensions: number | undefined,
): void {
  const { data, usage } = JSON.parse(body.toString()) as Answer
  const where = `request ${String(headers['x-request-id'])}`
  tally.vectors += data.length
  tally.must(data.length === texts.length, () => `${data.length} vectors for ${texts.length} texts: ${where}`)
  tally.must(Number.isInteger(usage.prompt_tokens) && usage.prompt_tokens > 0, () => `no usage: ${where}`)
  for (const [position, { index, embedding }] of data.entries()) {
    const isText = typeof embedding === 'string'
    tally.must(isText === (encoding === 'base64'), () => `another encoding than asked for: ${where}`)
    const got = isText ? fromBase64(embedding) : Float32Array.from(embedding)
    const full = vectorOf(texts[position] ?? '', WIDTH)
    const isRight = dimensions === undefined ? isEqual(got, full) : isClose(got, truncated(full, dimensions))
    tally.must(index === position && isRight, () => `the vector of text ${position} is another: ${where}`)
  }
}

function isEqual(got: Float32Array, wanted: Float32Array): boolean {
  return got.length === wanted.length && wanted.every((value, index) => value === got[index])
}

function isClose(got: Float32Array, wanted: Float32Array): boolean {
  return (
    got.length === wanted.length &&
    wanted.every((value, index) => Math.abs(value - (got[index] ?? Number.NaN)) <= TOLERANCE)
  )
}

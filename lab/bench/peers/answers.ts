/** A gateway's answers when its upstream misbehaves. The vectors are known in advance. */
import { truncated, vectorOf } from '../../fake-provider/vectors.ts'
import type { RunningContender, UpstreamPart } from './contender.ts'

interface Question {
  /** The scenario of `lab/fake-provider`. */
  readonly scenario: string
  readonly name: string
  readonly texts: number
  readonly encoding?: 'base64' | 'float'
  readonly dimensions?: number
}

const WIDTH = 1536
const TIMEOUT_MS = 60_000
/** Floats are written with nine digits. */
const MAX_WRONG = 1e-6

export const QUESTIONS: readonly Question[] = [
  { scenario: 'ignores-encoding', name: 'base64 asked, floats come', texts: 2, encoding: 'base64' },
  { scenario: 'base64-only', name: 'nothing asked, base64 comes', texts: 2 },
  {
    scenario: 'float-only',
    name: 'base64 asked, the upstream knows only floats',
    texts: 2,
    encoding: 'base64',
  },
  {
    scenario: 'ignores-dimensions',
    name: '256 dimensions asked, 1,536 come',
    texts: 2,
    encoding: 'float',
    dimensions: 256,
  },
  { scenario: 'max-inputs-32', name: '100 texts, the upstream takes 32', texts: 100, encoding: 'float' },
  { scenario: 'shuffled', name: 'vectors in another order, indexes right', texts: 5, encoding: 'float' },
  { scenario: 'wrong-count', name: 'one vector too few', texts: 3, encoding: 'float' },
  { scenario: 'duplicate-index', name: 'an index twice', texts: 3, encoding: 'float' },
  { scenario: 'wrong-width', name: 'a value missing in every vector', texts: 2, encoding: 'float' },
  { scenario: 'zero-vector', name: 'a vector of zeros', texts: 2, encoding: 'float' },
  { scenario: 'infinite', name: 'a value of 1e999', texts: 2, encoding: 'float' },
  { scenario: 'bad-base64', name: 'base64 with an illegal character', texts: 2, encoding: 'base64' },
  { scenario: 'empty-data', name: '200 without any vector', texts: 2, encoding: 'float' },
  { scenario: 'html-200', name: '200 with a page of HTML', texts: 2, encoding: 'float' },
]

/** `origin`: the address of the fake provider. */
export function questionUpstreams(origin: string): readonly UpstreamPart[] {
  return QUESTIONS.map(({ scenario }) => ({
    name: scenario,
    kind: 'embedding',
    baseUrl: `${origin}/${scenario}/v1`,
  }))
}

/** By the names of the questions. */
export async function answersOf(running: RunningContender): Promise<Record<string, string>> {
  const answers: Record<string, string> = {}
  for (const question of QUESTIONS) answers[question.name] = await ask(question, running)
  return answers
}

async function ask(question: Question, running: RunningContender): Promise<string> {
  const { url, model, headers } = running.target(question.scenario)
  const { encoding, dimensions } = question
  const input = Array.from({ length: question.texts }, (_, index) => `text ${index}`)
  try {
    const answer = await fetch(`${url}/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        model,
        input,
        ...(encoding && { encoding_format: encoding }),
        ...(dimensions && { dimensions }),
      }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await answer.text()
    return answer.status === 200 ? judged(text, input, question) : `refused, ${answer.status}`
  } catch (error) {
    return `no answer (${error instanceof Error ? error.name : String(error)})`
  }
}

/** The fault of an answer with status 200. */
export function judged(text: string, input: readonly string[], question: Question): string {
  const { encoding = 'float', dimensions = WIDTH } = question
  let data: unknown
  try {
    data = (JSON.parse(text) as { readonly data?: unknown }).data
  } catch {
    return '**passed on**: not JSON'
  }
  if (!Array.isArray(data)) return '**passed on**: no vectors'
  const vectors = data.map((item) => vectorIn((item as { readonly embedding?: unknown }).embedding))
  if (vectors.length !== input.length)
    return `**passed on**: ${vectors.length} vectors for ${input.length} texts`
  if (vectors.some((vector) => vector === undefined)) return '**passed on**: no vector in an item'
  const known = vectors as readonly KnownVector[]
  if (known.some(({ form }) => form !== encoding))
    return `**passed on**: ${known[0]?.form} instead of ${encoding}`
  const width = known.find(({ values }) => values.length !== dimensions)?.values.length
  if (width !== undefined) return `**passed on**: ${width} values instead of ${dimensions}`
  const indexes = data.map((item) => Number((item as { readonly index?: unknown }).index))
  if (new Set(indexes).size < indexes.length) return '**passed on**: an index twice'
  if (areRight(known, input, dimensions)) return 'right'
  const sorted = indexes.map((index, at) => ({ index, at }))
  sorted.sort((left, right) => left.index - right.index)
  return areRight(
    sorted.map(({ at }) => known[at] as KnownVector),
    input,
    dimensions,
  )
    ? '**passed on** as it came'
    : '**passed on**: wrong values'
}

function areRight(vectors: readonly KnownVector[], input: readonly string[], dimensions: number): boolean {
  return vectors.every(({ values }, index) => {
    const right = truncated(vectorOf(input[index] as string, WIDTH), dimensions)
    return values.every((value, position) => Math.abs(value - (right[position] as number)) < MAX_WRONG)
  })
}

interface KnownVector {
  readonly form: 'base64' | 'float'
  readonly values: readonly number[]
}

function vectorIn(embedding: unknown): KnownVector | undefined {
  if (Array.isArray(embedding)) return { form: 'float', values: embedding.map(Number) }
  if (typeof embedding !== 'string') return undefined
  const bytes = Buffer.from(embedding, 'base64')
  const values = Array.from({ length: bytes.length >> 2 }, (_, index) => bytes.readFloatLE(index * 4))
  return { form: 'base64', values }
}

/** What the caller got, over all questions. */
export function countsOf(answers: Readonly<Record<string, string>>): {
  readonly right: number
  readonly refused: number
  readonly passedOn: number
} {
  const all = QUESTIONS.map(({ name }) => answers[name] ?? '')
  const right = all.filter((answer) => answer === 'right').length
  const refused = all.filter((answer) => answer.startsWith('refused')).length
  return { right, refused, passedOn: all.length - right - refused }
}

import { fromBase64, vectorOf } from './vectors.ts'

/** What tests of the OpenAI wire ask, and how they read the answer. */
export const inputs = ['first', 'the second text', 'ένα τρίτο', 'fourth']
export const question = { model: 'embed-w16', input: inputs }
export const expected = inputs.map((text) => vectorOf(text, 16))

export type Body = {
  object: string
  data: { index: number; embedding: number[] | string }[]
  model: string
  usage?: { prompt_tokens: number; total_tokens: number }
  error?: { message: string; type: string; param: string | null; code: string | null }
}

export type TestAnswer = { status: number; headers: Headers; text: string; json: () => Body }

export async function embed(
  scenarioUrl: string,
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<TestAnswer> {
  const answer = await fetch(`${scenarioUrl}/v1/embeddings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...question, ...fields }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: () => JSON.parse(text) as Body }
}

/** The vectors of an answer, put in the order of the inputs. */
export function vectorsIn({ data }: Body): Float32Array[] {
  const ordered = data.toSorted((left, right) => left.index - right.index)
  return ordered.map(({ embedding }) =>
    typeof embedding === 'string' ? fromBase64(embedding) : Float32Array.from(embedding),
  )
}

export function isBase64({ data }: Body): boolean {
  return data.every(({ embedding }) => typeof embedding === 'string')
}

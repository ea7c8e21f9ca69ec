/** `torana embed <text> …`: vectors of a few texts, to see that it works and what the vectors say. */
import { command } from '../command/command.ts'
import { table } from '../command/table.ts'

interface EmbeddingAnswer {
  readonly model: string
  readonly data: readonly { readonly embedding: readonly number[] }[]
  readonly usage: { readonly prompt_tokens: number }
}

/** Of each vector, for a look. */
const SHOWN_VALUES = 4

export const embed = command({
  name: 'embed',
  summary: 'turn texts into vectors, and show how near each is to the first',
  arguments: [{ name: '<text>', says: 'what to embed', isMany: true }],
  options: {
    model: { takes: '<model>', says: 'the model (the first embedding model of the key)' },
    dimensions: { takes: '<n>', says: 'the width of the vectors' },
  },
  reach: 'gateway',
  more: '--json prints the answer of the API, with all values.',
  examples: [
    'torana embed cat kitten car',
    'torana embed "a long text" --model text-embedding-3-small --json',
  ],
  async run({ gateway, given, text }) {
    const client = await gateway()
    const dimensions = text('dimensions')
    const answer = await client.ask<EmbeddingAnswer>('/embeddings', {
      model: await client.model(text('model'), 'embedding'),
      input: given,
      // In full: a person wants to read them.
      encoding_format: 'float',
      ...(dimensions !== undefined && { dimensions: Number(dimensions) }),
    })
    return { data: answer, text: listing(given, answer) }
  },
})

function listing(texts: readonly string[], { model, data, usage }: EmbeddingAnswer): string {
  const vectors = data.map(({ embedding }) => embedding)
  const rows = vectors.map((vector, index) => [
    texts[index] ?? '',
    cosine(vectors[0] ?? [], vector).toFixed(4),
    `[${vector
      .slice(0, SHOWN_VALUES)
      .map((value) => value.toFixed(4))
      .join(', ')}, …]`,
  ])
  const width = vectors[0]?.length ?? 0
  return `${table([['text', 'cosine to the first', 'vector'], ...rows])}\n${model}: ${width} values a vector, ${usage.prompt_tokens} tokens.\n`
}

function cosine(one: readonly number[], other: readonly number[]): number {
  const dot = (left: readonly number[], right: readonly number[]): number =>
    left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0)
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other))
}

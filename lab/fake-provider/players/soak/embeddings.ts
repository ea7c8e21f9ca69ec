import { base64Of, tokensOf, truncated, vectorOf } from '../../vectors.ts'
import { textOf, WIDTH } from './oracle.ts'
import type { Answer, Fault } from './calls.ts'

type Input = string | string[] | number[] | number[][]

interface Question {
  readonly input: Input
  readonly dimensions?: number
  readonly encoding_format?: string
}

export function answerEmbeddings(body: Buffer, fault: Fault): Answer {
  const question = JSON.parse(body.toString()) as Question
  const inputs = inputsOf(question.input)
  const texts = inputs.map((input) => (typeof input === 'string' ? input : textOf(input)))
  const width = (question.dimensions ?? WIDTH) - (fault === 'narrow' ? 1 : 0)
  const data = texts.map((text, index) => {
    const vector = width === WIDTH ? vectorOf(text, WIDTH) : truncated(vectorOf(text, WIDTH), width)
    const embedding = question.encoding_format === 'base64' ? base64Of(vector) : Array.from(vector)
    return { object: 'embedding', index, embedding }
  })
  const tokens = inputs.reduce(
    (sum, input) => sum + (typeof input === 'string' ? tokensOf(input) : input.length),
    0,
  )
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  const text = JSON.stringify({ object: 'list', model: 'soak', data, usage })
  const sent = fault === 'garbled' ? `${text.slice(0, text.length / 2)}]]` : text
  return { type: 'application/json', chunks: [Buffer.from(sent)], recorded: { tokens } }
}

function inputsOf(input: Input): (string | number[])[] {
  if (typeof input === 'string') return [input]
  return typeof input[0] === 'number' ? [input as number[]] : (input as string[] | number[][])
}

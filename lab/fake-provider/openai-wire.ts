import { tokensOf } from './vectors.ts'
import {
  countField,
  Refusal,
  requiredString,
  stringField,
  unknownFields,
  type Answer,
  type Encoding,
  type Fields,
  type Item,
  type Question,
  type Refusal as RefusalType,
  type Wire,
} from './wire.ts'

export const openai: Wire = {
  name: 'openai',
  base: 'v1',
  credentials: [],
  maxInputs: 2048,
  indexed: true,
  locate: (path) => (path === 'v1/embeddings' ? { operation: 'embeddings', model: null } : null),
  read: (fields) => openaiQuestion(fields, requiredString(fields, 'model')),
  write: (answer) => ({ body: openaiBody(answer) }),
  refuse: openaiError,
}

const openaiFields = ['model', 'input', 'dimensions', 'encoding_format', 'user']

export async function openaiQuestion(
  fields: Fields,
  model: string,
  { known = openaiFields, dimensions = 'dimensions' }: { known?: string[]; dimensions?: string } = {},
): Promise<Question> {
  const inputs = inputsOf(fields['input'])
  stringField(fields, 'user')
  return {
    model,
    texts: await textsOf(inputs),
    tokens: inputs.map((input) => (typeof input === 'string' ? tokensOf(input) : input.length)),
    tokenArrays: inputs.some((input) => typeof input !== 'string'),
    inputType: stringField(fields, 'input_type'),
    dimensions: countField(fields, dimensions),
    encoding: encodingOf(fields),
    unknownFields: unknownFields(fields, known),
    fields,
  }
}

export function openaiBody({ question, items, encoding, usage, extraFields, text }: Answer): string {
  const data = items.map((item) => itemText(item, text(item.vector, encoding)))
  const extras = extraFields
    ? '"id":"embd-fake","created":1700000000,"meta":{"served_by":{"name":"fake-provider","nodes":[1,2]}},'
    : ''
  const counts = usage === null ? '' : `,"usage":{"prompt_tokens":${usage},"total_tokens":${usage}}`
  return `{${extras}"object":"list","data":[${data.join(',')}],"model":${JSON.stringify(question.model)}${counts}}`
}

export function openaiError({ message, type, param, code }: RefusalType): string {
  return JSON.stringify({ error: { message, type, param, code } })
}

export function itemText({ index }: Item, embedding: string): string {
  return `{"object":"embedding","index":${index},"embedding":${embedding}}`
}

export function encodingOf(fields: Fields): Encoding | null {
  const encoding = fields['encoding_format'] ?? null
  if (encoding === null || encoding === 'float' || encoding === 'base64') return encoding
  const given = typeof encoding === 'string' ? encoding : JSON.stringify(encoding)
  throw new Refusal(
    400,
    `Invalid value for 'encoding_format' = ${given}. Supported values: ['float', 'base64'].`,
  )
}

function inputsOf(input: unknown): (string | number[])[] {
  if (isText(input) || isTokens(input)) return [input]
  if (Array.isArray(input) && input.length > 0 && (input.every(isText) || input.every(isTokens))) return input
  throw new Refusal(
    400,
    "'$.input' is invalid: a non-empty string, a list of tokens, or a non-empty list of either.",
  )
}

function isText(input: unknown): input is string {
  return typeof input === 'string' && input !== ''
}

function isTokens(input: unknown): input is number[] {
  return Array.isArray(input) && input.length > 0 && input.every((token) => Number.isInteger(token))
}

async function textsOf(inputs: (string | number[])[]): Promise<string[]> {
  if (inputs.every((input) => typeof input === 'string')) return inputs
  // Loaded on first need: the table takes longer to load than the whole server.
  const { default: ranks } = await import('gpt-tokenizer/bpeRanks/cl100k_base')
  return inputs.map((input) => (typeof input === 'string' ? input : decoded(input, ranks)))
}

/** From the bytes of all tokens at once, since a character may begin in one and end in the next. */
function decoded(tokens: number[], ranks: readonly (string | readonly number[])[]): string {
  const parts = tokens.map((token) => {
    const part = ranks[token]
    if (part === undefined) throw new Refusal(400, `Invalid tokens: ${token} is not in cl100k_base.`)
    return typeof part === 'string' ? Buffer.from(part) : Uint8Array.from(part)
  })
  return Buffer.concat(parts).toString()
}

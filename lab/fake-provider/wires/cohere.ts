import { tokensOf } from '../vectors.ts'
import {
  countField,
  Refusal,
  requiredString,
  textsField,
  unknownFields,
  type Answer,
  type Encoding,
  type Fields,
  type Question,
  type Wire,
} from '../wire.ts'

export const cohere: Wire = {
  name: 'cohere',
  base: 'cohere/v2',
  credentials: ['authorization'],
  maxInputs: 96,
  indexed: false,
  locate: (path) => (path === 'cohere/v2/embed' ? { operation: 'embed', model: null } : null),
  read: (fields) => cohereQuestion(fields, requiredString(fields, 'model')),
  write: (answer) => ({ body: cohereBody(answer) }),
  refuse: ({ message }) => JSON.stringify({ id: 'fake', message }),
}

const cohereFields = [
  'model',
  'texts',
  'input_type',
  'embedding_types',
  'output_dimension',
  'max_tokens',
  'truncate',
  'priority',
]

const inputTypes = new Set(['search_document', 'search_query', 'classification', 'clustering', 'image'])

export function cohereQuestion(fields: Fields, model: string): Question {
  const inputType = requiredString(fields, 'input_type')
  if (!inputTypes.has(inputType)) throw new Refusal(400, `Unknown input_type '${inputType}'.`)
  const texts = textsField(fields, 'texts')
  return {
    model,
    texts,
    tokens: texts.map(tokensOf),
    tokenArrays: false,
    inputType,
    dimensions: countField(fields, 'output_dimension'),
    encoding: embeddingTypes(fields)[0] ?? null,
    unknownFields: unknownFields(fields, cohereFields),
    fields,
  }
}

/** One list of vectors for each embedding type that was asked for. */
export function cohereEmbeddings({ question, items, encoding, text }: Answer): string {
  const asked = embeddingTypes(question.fields)
  const lists = (asked.length === 0 ? [encoding] : asked).map((type) => {
    const vectors = items.map((item) => text(item.vector, type))
    return `"${type}":[${vectors.join(',')}]`
  })
  return `{${lists.join(',')}}`
}

function embeddingTypes(fields: Fields): Encoding[] {
  const types = fields['embedding_types'] ?? []
  const known = Array.isArray(types) && types.every((type) => type === 'float' || type === 'base64')
  if (!known) throw new Refusal(400, "embedding_types: only 'float' and 'base64' are played.")
  return types
}

function cohereBody(answer: Answer): string {
  const { question, usage, extraFields } = answer
  const billed = usage === null ? '' : `,"billed_units":{"input_tokens":${usage}}`
  const extras = extraFields ? '"created":1700000000,' : ''
  const texts = JSON.stringify(question.texts)
  return `{${extras}"id":"fake","response_type":"embeddings_by_type","embeddings":${cohereEmbeddings(answer)},"texts":${texts},"meta":{"api_version":{"version":"2"}${billed}}}`
}

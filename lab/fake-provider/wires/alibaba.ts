import { tokensOf } from '../vectors.ts'
import {
  countField,
  isFields,
  Refusal,
  requiredString,
  stringField,
  textsField,
  unknownFields,
  type Answer,
  type Fields,
  type Question,
  type Wire,
} from '../wire.ts'

/** DashScope's native language, which is what Alibaba's AI SDK package speaks for embeddings. */
export const alibaba: Wire = {
  name: 'alibaba',
  base: 'alibaba/api/v1',
  credentials: ['authorization'],
  maxInputs: 10,
  indexed: true,
  locate: (path) =>
    path === 'alibaba/api/v1/services/embeddings/text-embedding/text-embedding'
      ? { operation: 'text-embedding', model: null }
      : null,
  read: alibabaQuestion,
  write: (answer) => ({ body: alibabaBody(answer) }),
  refuse: ({ message, code }) =>
    JSON.stringify({ code: code ?? 'InvalidParameter', message, request_id: 'fake' }),
}

function alibabaQuestion(fields: Fields): Question {
  const input = fields['input']
  const parameters = fields['parameters'] ?? {}
  if (!isFields(input) || !isFields(parameters)) {
    throw new Refusal(400, "'input' and 'parameters' must be objects.")
  }
  const texts = textsField(input, 'texts')
  return {
    model: requiredString(fields, 'model'),
    texts,
    tokens: texts.map(tokensOf),
    tokenArrays: false,
    inputType: stringField(parameters, 'text_type'),
    dimensions: countField(parameters, 'dimension'),
    encoding: null,
    unknownFields: unknownFields(fields, ['model', 'input', 'parameters']),
    fields,
  }
}

function alibabaBody({ items, usage, text }: Answer): string {
  const rows = items.map(
    ({ index, vector }) => `{"text_index":${index},"embedding":${text(vector, 'float')}}`,
  )
  const counts = usage === null ? '' : `"usage":{"total_tokens":${usage}},`
  return `{"output":{"embeddings":[${rows.join(',')}]},${counts}"request_id":"fake"}`
}

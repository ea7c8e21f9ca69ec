import { itemText, openaiQuestion } from '../openai-wire.ts'
import { Refusal, requiredString, type Answer, type Fields, type Question, type Wire } from '../wire.ts'

export const voyage: Wire = {
  name: 'voyage',
  base: 'voyage/v1',
  credentials: ['authorization'],
  maxInputs: 1000,
  indexed: true,
  locate: (path) => (path === 'voyage/v1/embeddings' ? { operation: 'embeddings', model: null } : null),
  read: voyageQuestion,
  write: (answer) => ({ body: voyageBody(answer) }),
  refuse: ({ message }) => JSON.stringify({ detail: message }),
}

const voyageFields = [
  'model',
  'input',
  'input_type',
  'truncation',
  'output_dimension',
  'output_dtype',
  'encoding_format',
]

async function voyageQuestion(fields: Fields): Promise<Question> {
  const question = await openaiQuestion(fields, requiredString(fields, 'model'), {
    known: voyageFields,
    dimensions: 'output_dimension',
  })
  const { tokenArrays, encoding, inputType } = question
  if (tokenArrays) throw new Refusal(400, 'input must be text.')
  if (encoding === 'float') throw new Refusal(400, "encoding_format: the only valid value is 'base64'.")
  if (inputType !== null && inputType !== 'query' && inputType !== 'document') {
    throw new Refusal(400, "input_type must be 'query' or 'document'.")
  }
  return question
}

function voyageBody({ question, items, encoding, usage, text }: Answer): string {
  const data = items.map((item) => itemText(item, text(item.vector, encoding)))
  const counts = usage === null ? '' : `,"usage":{"total_tokens":${usage}}`
  return `{"object":"list","data":[${data.join(',')}],"model":${JSON.stringify(question.model)}${counts}}`
}

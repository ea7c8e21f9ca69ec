import { openaiBody, openaiQuestion } from '../openai-wire.ts'
import { Refusal, requiredString, type Fields, type Question, type Wire } from '../wire.ts'

export const mistral: Wire = {
  name: 'mistral',
  base: 'mistral/v1',
  credentials: ['authorization'],
  // Mistral documents no number; 32 is what its clients have found to be safe.
  maxInputs: 32,
  indexed: true,
  locate: (path) => (path === 'mistral/v1/embeddings' ? { operation: 'embeddings', model: null } : null),
  read: mistralQuestion,
  write: (answer) => ({ body: `{"id":"fake",${openaiBody({ ...answer, extraFields: false }).slice(1)}` }),
  refuse: ({ message, type, code }) => JSON.stringify({ object: 'error', message, type, param: null, code }),
}

const mistralFields = ['model', 'input', 'metadata', 'output_dimension', 'output_dtype', 'encoding_format']

async function mistralQuestion(fields: Fields): Promise<Question> {
  const question = await openaiQuestion(fields, requiredString(fields, 'model'), {
    known: mistralFields,
    dimensions: 'output_dimension',
  })
  if (question.tokenArrays) throw new Refusal(422, 'input must be text.')
  return question
}

import { openaiBody, openaiQuestion } from '../openai-wire.ts'
import { refuseUnpackable, typedText, typeField, vectorTypes } from '../vector-types.ts'
import {
  Refusal,
  requiredString,
  widthOf,
  type Answer,
  type Fields,
  type Question,
  type Wire,
} from '../wire.ts'

export const mistral: Wire = {
  name: 'mistral',
  base: 'mistral/v1',
  credentials: ['authorization'],
  // Mistral documents no number; 32 is what its clients have found to be safe.
  maxInputs: 32,
  indexed: true,
  locate: (path) => (path === 'mistral/v1/embeddings' ? { operation: 'embeddings', model: null } : null),
  read: mistralQuestion,
  write: (answer) => ({ body: `{"id":"fake",${openaiBody(typed(answer)).slice(1)}` }),
  refuse: ({ message, type, code }) => JSON.stringify({ object: 'error', message, type, param: null, code }),
}

const mistralFields = ['model', 'input', 'metadata', 'output_dimension', 'output_dtype', 'encoding_format']

async function mistralQuestion(fields: Fields): Promise<Question> {
  const question = await openaiQuestion(fields, requiredString(fields, 'model'), {
    known: mistralFields,
    dimensions: 'output_dimension',
  })
  const { model, dimensions, tokenArrays } = question
  if (tokenArrays) throw new Refusal(422, 'input must be text.')
  const type = typeOf(fields)
  if (type !== 'float' && !model.includes('codestral-embed')) {
    throw new Refusal(400, `${model} does not support output_dtype.`)
  }
  refuseUnpackable(type, dimensions ?? widthOf(model))
  return question
}

function typeOf(fields: Fields): (typeof vectorTypes)[number] {
  return typeField(fields, 'output_dtype', vectorTypes) ?? 'float'
}

/** What a value is multiplied with, times √width, before it is rounded to int8: Mistral's own, as this server plays it. */
export const MISTRAL_SPREAD = 28

function typed(answer: Answer): Answer {
  const type = typeOf(answer.question.fields)
  return {
    ...answer,
    extraFields: false,
    text: (vector, encoding) => typedText(answer, vector, { type, spread: MISTRAL_SPREAD, encoding }),
  }
}

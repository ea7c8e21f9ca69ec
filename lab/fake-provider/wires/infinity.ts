import { formatsOf } from '../content-limits.ts'
import { contentsQuestion, mediaPart } from '../contents.ts'
import { encodingOf, openai, openaiBody, openaiQuestion } from '../openai-wire.ts'
import {
  countField,
  Refusal,
  requiredString,
  textsField,
  type Fields,
  type Question,
  type Wire,
} from '../wire.ts'

/** One `modality` says what all inputs of a call are: texts, or addresses and data URIs of one kind. */
export const infinity: Wire = {
  ...openai,
  name: 'infinity',
  base: 'infinity',
  limits: () => ({ formats: formatsOf('image', 'audio'), fuses: false, fetches: true, maxInputs: 32 }),
  locate: (path) => (path === 'infinity/embeddings' ? { operation: 'embeddings', model: null } : null),
  read: infinityQuestion,
  write: (answer) => ({
    body: `{"id":"infinity-fake","created":1700000000,${openaiBody({ ...answer, extraFields: false }).slice(1)}`,
  }),
  refuse: ({ status, message }) =>
    JSON.stringify({ error: { message, type: null, param: null, code: status } }),
}

const known = ['model', 'input', 'modality', 'dimensions', 'encoding_format', 'user']

function infinityQuestion(fields: Fields): Question | Promise<Question> {
  const model = requiredString(fields, 'model')
  const modality = fields['modality'] ?? 'text'
  if (modality === 'text') return openaiQuestion(fields, model, { known })
  if (modality !== 'image' && modality !== 'audio') {
    throw new Refusal(422, "'modality' must be one of text, image, audio.")
  }
  const inputs = typeof fields['input'] === 'string' ? [fields['input']] : textsField(fields, 'input')
  const contents = inputs.map((input) => [
    mediaPart(modality, input, { where: 'input', sources: ['data-uri', 'address'] }),
  ])
  return contentsQuestion(
    { model, fields, contents },
    { known, dimensions: countField(fields, 'dimensions'), encoding: encodingOf(fields) },
  )
}

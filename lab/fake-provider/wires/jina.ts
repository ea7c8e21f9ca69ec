import { formatsOf } from '../content-limits.ts'
import { contentsQuestion, mediaPart, textPart } from '../contents.ts'
import { isKind, type Content, type ContentLimits, type MediaKind } from '../media.ts'
import { itemText } from '../openai-wire.ts'
import { refuseUnpackable, typedText, typeField } from '../vector-types.ts'
import {
  countField,
  isFields,
  Refusal,
  requiredString,
  stringField,
  widthOf,
  type Answer,
  type Fields,
  type Question,
  type Wire,
} from '../wire.ts'

/** Texts, and objects with one medium each. */
export const jina: Wire = {
  name: 'jina',
  base: 'jina/v1',
  credentials: ['authorization'],
  maxInputs: 512,
  indexed: true,
  limits: jinaLimits,
  locate: (path) => (path === 'jina/v1/embeddings' ? { operation: 'embeddings', model: null } : null),
  read: jinaQuestion,
  write: (answer) => ({ body: jinaBody(answer) }),
  refuse: ({ message }) => JSON.stringify({ detail: message }),
}

const known = [
  'model',
  'input',
  'task',
  'dimensions',
  'embedding_type',
  'normalized',
  'late_chunking',
  'truncate',
  'return_multivector',
]

function jinaLimits({ model }: Question): ContentLimits {
  const kinds: MediaKind[] = model.includes('omni')
    ? ['image', 'audio', 'video', 'file']
    : model.includes('v4')
      ? ['image', 'file']
      : model.includes('clip')
        ? ['image']
        : []
  return { formats: formatsOf(...kinds), fuses: false, fetches: true, maxInputTokens: 32_768 }
}

function jinaQuestion(fields: Fields): Question {
  const model = requiredString(fields, 'model')
  const given = fields['input']
  const inputs: unknown[] = Array.isArray(given) ? given : [given]
  if (inputs.length === 0) throw new Refusal(422, "'input' must have at least one element.")
  const dimensions = countField(fields, 'dimensions')
  const type = typeOf(fields)
  refuseUnpackable(type, dimensions ?? widthOf(model))
  return contentsQuestion(
    { model, fields, contents: inputs.map(contentOf) },
    {
      known,
      inputType: stringField(fields, 'task'),
      dimensions,
      encoding: type === 'base64' ? 'base64' : null,
    },
  )
}

function contentOf(input: unknown): Content {
  if (typeof input === 'string') return [textPart(input, 'input')]
  const [[name, value] = [], ...more] = isFields(input) ? Object.entries(input) : []
  const kind = name === 'pdf' ? 'file' : name
  if (kind === 'text' && more.length === 0) return [textPart(value, 'input.text')]
  if (kind === undefined || (kind === 'file') !== (name === 'pdf') || !isKind(kind) || more.length > 0) {
    throw new Refusal(422, 'An input is a string or an object with one of text, image, audio, video, pdf.')
  }
  return [mediaPart(kind, value, { where: `input.${name}` })]
}

const types = ['float', 'base64', 'binary', 'ubinary'] as const

function typeOf(fields: Fields): (typeof types)[number] {
  return typeField(fields, 'embedding_type', types) ?? 'float'
}

function jinaBody(answer: Answer): string {
  const { question, items, usage, text } = answer
  const type = typeOf(question.fields)
  const data = items.map((item) =>
    itemText(
      item,
      type === 'base64'
        ? text(item.vector, type)
        : typedText(answer, item.vector, { type, spread: 1, encoding: 'float' }),
    ),
  )
  const counts = usage === null ? '' : `,"usage":{"total_tokens":${usage}}`
  return `{"model":${JSON.stringify(question.model)},"object":"list"${counts},"data":[${data.join(',')}]}`
}

import { textAlone } from '../content-limits.ts'
import { contentsQuestion, mediaPart, objectsField, textPart, tokensByKind } from '../contents.ts'
import type { Content, ContentLimits, Part } from '../media.ts'
import { refuseUnpackable, typedText, vectorTypes } from '../vector-types.ts'
import { tokensOf } from '../vectors.ts'
import {
  countField,
  isFields,
  Refusal,
  requiredString,
  textsField,
  unknownFields,
  widthOf,
  type Answer,
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
  limits: cohereLimits,
  locate: (path) => (path === 'cohere/v2/embed' ? { operation: 'embed', model: null } : null),
  read: (fields) => cohereQuestion(fields, requiredString(fields, 'model')),
  write: (answer) => ({ body: cohereBody(answer) }),
  refuse: ({ message }) => JSON.stringify({ id: 'fake', message }),
}

const cohereFields = [
  'model',
  'texts',
  'images',
  'inputs',
  'input_type',
  'embedding_types',
  'output_dimension',
  'max_tokens',
  'truncate',
  'priority',
]

const inputTypes = new Set(['search_document', 'search_query', 'classification', 'clustering', 'image'])

/** An image of the third generation stands alone in its call. */
export function cohereLimits({ model, fields }: Question): ContentLimits {
  const common = { fuses: true, fetches: false } as const
  if (!/embed-.*v3/.test(model)) {
    return { ...common, formats: ['png', 'jpeg', 'webp', 'gif'], maxCallBytes: 20_000_000 }
  }
  if ('inputs' in fields) return textAlone
  return { ...common, formats: ['png', 'jpeg'], maxCallImages: 1, maxPartBytes: 5_000_000 }
}

export function cohereQuestion(fields: Fields, model: string): Question {
  const inputType = requiredString(fields, 'input_type')
  if (!inputTypes.has(inputType)) throw new Refusal(400, `Unknown input_type '${inputType}'.`)
  const given = ['texts', 'images', 'inputs'].filter((name) => name in fields)
  if (given.length !== 1) throw new Refusal(400, 'Exactly one of texts, images and inputs must be given.')
  const dimensions = countField(fields, 'output_dimension')
  const types = embeddingTypes(fields)
  for (const type of types) refuseUnpackable(type, dimensions ?? widthOf(model))
  const options = { inputType, dimensions, encoding: types[0] === 'base64' ? 'base64' : null } as const
  if (!('texts' in fields)) {
    const contents = contentsOf(fields)
    return contentsQuestion({ model, fields, contents }, { known: cohereFields, ...options })
  }
  const texts = textsField(fields, 'texts')
  return {
    model,
    texts,
    tokens: texts.map(tokensOf),
    tokenArrays: false,
    ...options,
    unknownFields: unknownFields(fields, cohereFields),
    fields,
  }
}

function contentsOf(fields: Fields): Content[] {
  const images = fields['images']
  if (images === undefined) return objectsField(fields, 'inputs').map(contentOf)
  if (!Array.isArray(images) || images.length === 0) throw new Refusal(400, "'images' must be a list.")
  return images.map((image) => [mediaPart('image', image, { where: 'images', sources: ['data-uri'] })])
}

function contentOf({ content }: Fields): Content {
  if (!Array.isArray(content) || content.length === 0 || !content.every(isFields)) {
    throw new Refusal(400, "'inputs.content' must be a list of at least one object.")
  }
  return content.map(partOf)
}

/** `image_url` is an object at Cohere and a text at Bedrock. */
function partOf({ type, text, image_url: image }: Fields): Part {
  if (type === 'text') return textPart(text, 'inputs.content.text')
  if (type !== 'image_url') throw new Refusal(400, `Unknown content type '${String(type)}'.`)
  const url = isFields(image) ? image['url'] : image
  return mediaPart('image', url, { where: 'inputs.content.image_url', sources: ['data-uri'] })
}

/** What a value is multiplied with, times √width, before it is rounded to int8: Cohere's own, as this server plays it. */
export const COHERE_SPREAD = 32

/** One list of vectors for each embedding type that was asked for. */
export function cohereEmbeddings(answer: Answer): string {
  const { question, items, encoding, text } = answer
  const asked = embeddingTypes(question.fields)
  const lists = (asked.length === 0 ? [encoding] : asked).map((type) => {
    const vectors = items.map(({ vector }) =>
      type === 'base64'
        ? text(vector, type)
        : typedText(answer, vector, { type, spread: COHERE_SPREAD, encoding: 'float' }),
    )
    return `"${type}":[${vectors.join(',')}]`
  })
  return `{${lists.join(',')}}`
}

const embeddingTypeNames = [...vectorTypes, 'base64'] as const

function embeddingTypes(fields: Fields): (typeof embeddingTypeNames)[number][] {
  const types = fields['embedding_types'] ?? []
  if (!Array.isArray(types)) throw new Refusal(400, "'embedding_types' must be a list.")
  return types.map((given: unknown) => {
    const type = embeddingTypeNames.find((name) => name === given)
    if (type === undefined) throw new Refusal(400, `Unknown embedding type '${String(given)}'.`)
    return type
  })
}

/** What is echoed of the inputs: texts as they came, of images their header. */
export function cohereEcho({ contents, texts }: Question): string {
  if (contents === undefined) return `,"texts":${JSON.stringify(texts)}`
  const images = contents.flat().flatMap((part) => {
    if (!('media' in part)) return []
    const { width = 0, height = 0, format } = part.media
    return [{ width, height, format, bit_depth: 24 }]
  })
  return `,"texts":${JSON.stringify(texts.filter((text) => text !== ''))},"images":${JSON.stringify(images)}`
}

function cohereBody(answer: Answer): string {
  const { question, usage, extraFields } = answer
  const billed = usage === null ? '' : `,"billed_units":${JSON.stringify(billedUnits(question, usage))}`
  const extras = extraFields ? '"created":1700000000,' : ''
  return `{${extras}"id":"fake","response_type":"embeddings_by_type","embeddings":${cohereEmbeddings(answer)}${cohereEcho(question)},"meta":{"api_version":{"version":"2"}${billed}}}`
}

/** `images` is a count, the others are tokens; the third generation bills images, not their tokens. */
function billedUnits({ model, contents }: Question, usage: number): object {
  if (contents === undefined) return { input_tokens: usage }
  const { text = 0, image = 0 } = tokensByKind(contents)
  const images = contents.flat().filter(({ kind }) => kind === 'image').length
  if (images > 0 && /embed-.*v3/.test(model)) return { images }
  return { input_tokens: text, ...(images > 0 ? { image_tokens: image, images } : {}) }
}

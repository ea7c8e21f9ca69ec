import { contentsQuestion, mediaPart, objectsField, textPart, tokensOfPart } from '../contents.ts'
import type { Content, ContentLimits, Part } from '../media.ts'
import { itemText, openaiQuestion } from '../openai-wire.ts'
import { refuseUnpackable, typedText, typeField, vectorTypes } from '../vector-types.ts'
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

export const voyage: Wire = {
  name: 'voyage',
  base: 'voyage/v1',
  credentials: ['authorization'],
  maxInputs: 1000,
  indexed: true,
  limits: ({ model }) => ({ ...voyageLimits, formats: model.includes('-3.5') ? withVideo : imageFormats }),
  locate(path) {
    const operation = /^voyage\/v1\/(embeddings|multimodalembeddings)$/.exec(path)?.[1]
    return operation === undefined ? null : { operation, model: null }
  },
  read: (fields, { operation }) =>
    operation === 'embeddings' ? textQuestion(fields) : multimodalQuestion(fields),
  write: (answer) => ({ body: voyageBody(answer) }),
  refuse: ({ message }) => JSON.stringify({ detail: message }),
}

const imageFormats = ['png', 'jpeg', 'webp', 'gif'] as const
/** From the second multimodal model on. */
const withVideo = [...imageFormats, 'mp4'] as const

const voyageLimits: Omit<ContentLimits, 'formats'> = {
  fuses: true,
  fetches: true,
  maxPartBytes: 20_000_000,
  maxPixels: 16_000_000,
  maxInputTokens: 32_000,
  maxCallTokens: 320_000,
}

const commonFields = [
  'model',
  'input_type',
  'truncation',
  'output_dimension',
  'output_dtype',
  'encoding_format',
]

async function textQuestion(fields: Fields): Promise<Question> {
  const question = await openaiQuestion(fields, requiredString(fields, 'model'), {
    known: [...commonFields, 'input'],
    dimensions: 'output_dimension',
  })
  if (question.tokenArrays) throw new Refusal(400, 'input must be text.')
  if (question.encoding === 'float') {
    throw new Refusal(400, "encoding_format: the only valid value is 'base64'.")
  }
  refuseOptions(question)
  return question
}

function multimodalQuestion(fields: Fields): Question {
  const model = requiredString(fields, 'model')
  const contents = objectsField(fields, 'inputs').map(contentOf)
  refuseMixedSources(contents)
  const encoding = typeField(
    { encoding: fields['encoding_format'] ?? fields['output_encoding'] },
    'encoding',
    ['base64'],
  )
  const question = contentsQuestion(
    { model, fields, contents },
    {
      known: [...commonFields, 'inputs', 'output_encoding'],
      tokensOfOne,
      inputType: stringField(fields, 'input_type'),
      dimensions: countField(fields, 'output_dimension'),
      encoding,
    },
  )
  refuseOptions(question)
  return question
}

function refuseOptions({ inputType, fields, dimensions, model }: Question): void {
  if (inputType !== null && inputType !== 'query' && inputType !== 'document') {
    throw new Refusal(400, "input_type must be 'query' or 'document'.")
  }
  refuseUnpackable(typeOf(fields), dimensions ?? widthOf(model))
}

function contentOf({ content }: Fields): Content {
  if (!Array.isArray(content) || content.length === 0 || !content.every(isFields)) {
    throw new Refusal(400, "'content' must be a list of at least one object.")
  }
  return content.map(partOf)
}

function partOf(part: Fields): Part {
  const type = requiredString(part, 'type')
  if (type === 'text') return textPart(part['text'], 'content.text')
  const [, kind, source] = /^(image|video)_(url|base64)$/.exec(type) ?? []
  if (kind !== 'image' && kind !== 'video') throw new Refusal(400, `Unknown content type '${type}'.`)
  const where = `content.${type}`
  return mediaPart(kind, part[type], { where, sources: [source === 'url' ? 'address' : 'data-uri'] })
}

function refuseMixedSources(contents: readonly Content[]): void {
  const parts = contents.flat()
  if (parts.some((part) => 'address' in part) && parts.some((part) => 'media' in part)) {
    throw new Refusal(400, 'URLs and base64 must not be mixed in one request.')
  }
}

/** Pixels of one token of an image; of a video it is twice as many. */
const pixelsPerToken = 560

function tokensOfOne(part: Part): number {
  if (part.kind === 'image') return Math.ceil(pixelsOf(part) / pixelsPerToken)
  if (part.kind === 'video') return Math.ceil(pixelsOf(part) / (2 * pixelsPerToken))
  return tokensOfPart(part)
}

/** This server does not decode videos: it counts one frame of 640 x 360 for each second. Nor does it fetch, and counts a frame for an address. */
const framePixels = 640 * 360

function pixelsOf(part: Part): number {
  if (!('media' in part)) return framePixels
  const { width = 0, height = 0, seconds = 1 } = part.media
  return part.kind === 'video' ? framePixels * Math.ceil(seconds) : width * height
}

function typeOf(fields: Fields): (typeof vectorTypes)[number] {
  return typeField(fields, 'output_dtype', vectorTypes) ?? 'float'
}

/** What a value is multiplied with, times √width, before it is rounded to int8: Voyage's own, as this server plays it. */
export const VOYAGE_SPREAD = 40

function voyageBody(answer: Answer): string {
  const { question, items, encoding, usage } = answer
  const type = typeOf(question.fields)
  const data = items.map((item) =>
    itemText(item, typedText(answer, item.vector, { type, spread: VOYAGE_SPREAD, encoding })),
  )
  const counts = usage === null ? '' : `,"usage":${JSON.stringify(usageOf(question, usage))}`
  return `{"object":"list","data":[${data.join(',')}],"model":${JSON.stringify(question.model)}${counts}}`
}

function usageOf({ contents }: Question, usage: number): object {
  if (contents === undefined) return { total_tokens: usage }
  const counted = { text_tokens: 0, image_pixels: 0, video_pixels: 0 }
  for (const part of contents.flat()) {
    if (part.kind === 'text') counted.text_tokens += tokensOfPart(part)
    else if (part.kind === 'image') counted.image_pixels += pixelsOf(part)
    else counted.video_pixels += pixelsOf(part)
  }
  return { ...counted, total_tokens: usage }
}

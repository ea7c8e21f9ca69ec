import { contentsQuestion, inlineMedia, mediaPart, textPart, tokensOfPart } from '../contents.ts'
import { isKind, type ContentLimits, type MediaKind, type Part } from '../media.ts'
import {
  countField,
  isFields,
  Refusal,
  requiredString,
  stringField,
  type Answer,
  type Fields,
  type Question,
  type Wire,
} from '../wire.ts'
import { cohereEcho, cohereEmbeddings, cohereLimits, cohereQuestion } from './cohere.ts'

/** One path for three families of models, distinguished by the body: Titan, Nova and Cohere. */
export const bedrock: Wire = {
  name: 'bedrock',
  base: 'bedrock',
  credentials: ['authorization'],
  maxInputs: 96,
  maxBodyBytes: 25_000_000,
  indexed: false,
  limits: (question) => families[familyOf(question.fields)].limits(question),
  locate(path) {
    const model = /^bedrock\/model\/([^/]+)\/invoke$/.exec(path)?.[1]
    return model === undefined ? null : { operation: 'invoke', model: decodeURIComponent(model) }
  },
  read: (fields, { model }) => families[familyOf(fields)].read(fields, model ?? ''),
  write: (answer) => families[familyOf(answer.question.fields)].write(answer),
  refuse: ({ message }) => JSON.stringify({ message }),
}

interface Family {
  limits(question: Question): ContentLimits
  read(fields: Fields, model: string): Question
  write(answer: Answer): { body: string; headers?: Record<string, string> }
}

const families: Readonly<Record<'titan' | 'nova' | 'cohere', Family>> = {
  titan: {
    limits: titanLimits,
    read: titanQuestion,
    write: (answer) => ({ body: titanBody(answer) }),
  },
  nova: { limits: () => novaLimits, read: novaQuestion, write: (answer) => ({ body: novaBody(answer) }) },
  cohere: { limits: cohereLimits, read: cohereQuestion, write: cohereReply },
}

function familyOf(fields: Fields): keyof typeof families {
  if (['texts', 'images', 'inputs'].some((name) => name in fields)) return 'cohere'
  return 'singleEmbeddingParams' in fields ? 'nova' : 'titan'
}

/** The multimodal model fuses a short text with an image; the others read text alone. */
function titanLimits({ model }: Question): ContentLimits {
  const common = { fuses: true, fetches: false } as const
  if (!model.includes('titan-embed-image')) return { ...common, formats: [] }
  return { ...common, formats: ['png', 'jpeg'] }
}

const titanWidths = [256, 384, 1024]
const titanTextTokens = 128

function titanQuestion(fields: Fields, model: string): Question {
  const isMultimodal = 'inputImage' in fields || 'embeddingConfig' in fields
  const content: Part[] = []
  if ('inputText' in fields || !isMultimodal) content.push(textPart(fields['inputText'], 'inputText'))
  if ('inputImage' in fields)
    content.push(inlineMedia('image', fields['inputImage'], { where: 'inputImage' }))
  const config = fields['embeddingConfig'] ?? {}
  if (!isFields(config)) throw new Refusal(400, "'embeddingConfig' must be an object.")
  const width = countField(config, 'outputEmbeddingLength')
  if (width !== null && !titanWidths.includes(width)) {
    throw new Refusal(400, `'outputEmbeddingLength' must be one of ${titanWidths.join(', ')}.`)
  }
  const question = contentsQuestion(
    { model, fields, contents: [content] },
    {
      known: ['inputText', 'inputImage', 'embeddingConfig', 'dimensions', 'normalize', 'embeddingTypes'],
      dimensions: width ?? countField(fields, 'dimensions'),
      tokensOfOne: textTokens,
    },
  )
  const [tokens = 0] = question.tokens
  if (model.includes('titan-embed-image') && tokens > titanTextTokens) {
    throw new Refusal(
      400,
      `Too many input tokens. Max input tokens: ${titanTextTokens}, request input tokens: ${tokens}.`,
    )
  }
  return question
}

/** Images are billed per piece, audio and video per second. */
function textTokens(part: Part): number {
  return 'text' in part ? tokensOfPart(part) : 0
}

const novaLimits: ContentLimits = {
  formats: ['png', 'jpeg', 'gif', 'webp', 'mp3', 'wav', 'ogg', 'mp4', 'mov', 'webm'],
  fuses: false,
  fetches: true,
  maxAudioSeconds: 30,
  maxVideoSeconds: 30,
  maxInputTokens: 8172,
}

const novaWidths = [256, 384, 1024, 3072]
const novaPurposes = new Set([
  'GENERIC_INDEX',
  'GENERIC_RETRIEVAL',
  'TEXT_RETRIEVAL',
  'IMAGE_RETRIEVAL',
  'VIDEO_RETRIEVAL',
  'AUDIO_RETRIEVAL',
  'DOCUMENT_RETRIEVAL',
  'CLASSIFICATION',
  'CLUSTERING',
])

/** One modality a call, and one vector for it: two for a video whose audio is requested separately. */
function novaQuestion(fields: Fields, model: string): Question {
  const parameters = fields['singleEmbeddingParams']
  if (fields['taskType'] !== 'SINGLE_EMBEDDING' || !isFields(parameters)) {
    throw new Refusal(400, "'taskType' must be SINGLE_EMBEDDING and 'singleEmbeddingParams' an object.")
  }
  const schema = stringField(fields, 'schemaVersion') ?? 'nova-multimodal-embed-v1'
  if (schema !== 'nova-multimodal-embed-v1') throw new Refusal(400, `Unknown schemaVersion ${schema}.`)
  const purpose = requiredString(parameters, 'embeddingPurpose')
  if (!novaPurposes.has(purpose)) throw new Refusal(400, `Unknown embeddingPurpose ${purpose}.`)
  const dimensions = countField(parameters, 'embeddingDimension')
  if (dimensions !== null && !novaWidths.includes(dimensions)) {
    throw new Refusal(400, `'embeddingDimension' must be one of ${novaWidths.join(', ')}.`)
  }
  const part = novaPart(parameters)
  const isSeparate = embeddingMode(parameters) === 'AUDIO_VIDEO_SEPARATE'
  return contentsQuestion(
    { model, fields, contents: isSeparate ? [[part], [part]] : [[part]] },
    {
      known: ['schemaVersion', 'taskType', 'singleEmbeddingParams'],
      inputType: purpose,
      dimensions,
      tokensOfOne: textTokens,
    },
  )
}

function novaPart(parameters: Fields): Part {
  const given = ['text', 'image', 'audio', 'video'].filter((name) => name in parameters)
  const [kind = ''] = given
  const source = parameters[kind]
  if (given.length !== 1 || !isFields(source)) {
    throw new Refusal(400, "'singleEmbeddingParams' must have exactly one of text, image, audio and video.")
  }
  if (!isKind(kind)) return textPart(source['value'], 'singleEmbeddingParams.text.value')
  if (kind === 'image') {
    const detail = stringField(source, 'detailLevel') ?? 'STANDARD_IMAGE'
    if (detail !== 'STANDARD_IMAGE' && detail !== 'DOCUMENT_IMAGE') {
      throw new Refusal(400, `Unknown detailLevel ${detail}.`)
    }
  }
  return novaMedia(kind, source)
}

function novaMedia(kind: MediaKind, { format, source }: Fields): Part {
  if (typeof format !== 'string') throw new Refusal(400, `'${kind}.format' is required.`)
  const { bytes, s3Location } = isFields(source) ? source : {}
  if ((bytes === undefined) === (s3Location === undefined)) {
    throw new Refusal(400, `'${kind}.source' must have bytes or s3Location.`)
  }
  if (bytes !== undefined)
    return inlineMedia(kind, bytes, { where: `${kind}.source.bytes`, declared: format })
  const uri = isFields(s3Location) ? s3Location['uri'] : null
  return mediaPart(kind, uri, { where: `${kind}.source.s3Location.uri`, sources: ['address'] })
}

function embeddingMode({ video }: Fields): string | null {
  if (!isFields(video)) return null
  const mode = requiredString(video, 'embeddingMode')
  if (mode === 'AUDIO_VIDEO_COMBINED' || mode === 'AUDIO_VIDEO_SEPARATE') return mode
  throw new Refusal(400, `Unknown embeddingMode ${mode}.`)
}

function titanBody({ items, usage, text }: Answer): string {
  const counts = usage === null ? '' : `,"inputTextTokenCount":${usage}`
  return `{"embedding":${items[0] === undefined ? '[]' : text(items[0].vector, 'float')}${counts}}`
}

function novaBody({ question, items, usage, text }: Answer): string {
  const parameters = question.fields['singleEmbeddingParams']
  const mode = isFields(parameters) ? embeddingMode(parameters) : null
  const [part] = question.contents?.[0] ?? []
  const kind = part?.kind.toUpperCase() ?? 'TEXT'
  const types = mode === 'AUDIO_VIDEO_SEPARATE' ? ['VIDEO', 'AUDIO'] : [mode ?? kind]
  const rows = items.map(
    ({ index, vector }) => `{"embeddingType":"${types[index] ?? kind}","embedding":${text(vector, 'float')}}`,
  )
  const counts = usage === null || kind !== 'TEXT' ? '' : `,"inputTokenCount":${usage}`
  return `{"embeddings":[${rows.join(',')}]${counts}}`
}

/** Cohere's third generation answers a bare list unless types were asked for; tokens are in a header only. */
function cohereReply(answer: Answer): { body: string; headers: Record<string, string> } {
  const { question, items, usage, text } = answer
  const byType = question.model.includes('embed-v4') || 'embedding_types' in question.fields
  const embeddings = byType
    ? cohereEmbeddings(answer)
    : `[${items.map((item) => text(item.vector, 'float')).join(',')}]`
  return {
    body: `{"id":"fake","response_type":"${byType ? 'embeddings_by_type' : 'embeddings_floats'}","embeddings":${embeddings}${cohereEcho(question)}}`,
    headers: usage === null ? {} : { 'x-amzn-bedrock-input-token-count': String(usage) },
  }
}

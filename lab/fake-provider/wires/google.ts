import { textAlone } from '../content-limits.ts'
import { contentsQuestion, inlineMedia, mediaPart, textPart, tokensByKind } from '../contents.ts'
import {
  formatOfType,
  isKind,
  kindOfFormat,
  type Content,
  type ContentLimits,
  type MediaKind,
  type Part,
} from '../media.ts'
import {
  countField,
  isFields,
  Refusal,
  requiredString,
  stringField,
  type Answer,
  type Fields,
  type Question,
  type Refusal as RefusalType,
  type Target,
  type Wire,
} from '../wire.ts'

export const google: Wire = {
  name: 'google',
  base: 'google/v1beta',
  credentials: ['x-goog-api-key'],
  maxInputs: 100,
  maxBodyBytes: 20 * 1024 * 1024,
  indexed: false,
  limits: geminiLimits,
  locate(path) {
    const parts = /^google\/v1beta\/models\/([^/:]+):(embedContent|batchEmbedContents)$/.exec(path)
    return parts === null ? null : targetOf(parts)
  },
  read(fields, { operation, model }) {
    if (operation === 'embedContent') return questionOf([fields], model ?? '', fields, singleFields)
    const requests = fields['requests']
    if (!Array.isArray(requests) || requests.length === 0 || !requests.every(isFields)) {
      throw new Refusal(400, "'requests' must be a list of at least one request.")
    }
    return questionOf(requests, model ?? '', fields, ['requests'])
  },
  write: (answer) => ({ body: bodyOf(answer) }),
  refuse: googleError,
}

const singleFields = ['model', 'content', 'taskType', 'title', 'outputDimensionality']

export function targetOf([, model = '', operation = '']: string[]): Target {
  return { model: decodeURIComponent(model), operation }
}

/** Google's status words stand for HTTP statuses; anything unlisted is UNKNOWN. */
const statusWords: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

export function googleError({ status, message }: RefusalType): string {
  return JSON.stringify({ error: { code: status, message, status: statusWords[status] ?? 'UNKNOWN' } })
}

/** The second generation reads media, and says what they cost. */
function isSecondGeneration({ model }: Question): boolean {
  return model.includes('gemini-embedding-2')
}

export function geminiLimits(question: Question): ContentLimits {
  if (!isSecondGeneration(question)) return textAlone
  return {
    formats: ['png', 'jpeg', 'mp3', 'wav', 'mp4', 'mov', 'pdf'],
    fuses: true,
    fetches: true,
    maxImages: 6,
    maxVideoSeconds: 120,
    maxPages: 6,
    maxInputTokens: 8192,
  }
}

export function contentOf(content: unknown): Content {
  const parts = isFields(content) ? content['parts'] : null
  if (!Array.isArray(parts) || parts.length === 0) {
    throw new Refusal(400, "'content.parts' must not be empty.")
  }
  return parts.map(partOf)
}

/** Of a content that has texts alone. */
export function contentText(content: unknown): string {
  const texts = contentOf(content).map((part) => {
    if ('text' in part) return part.text
    throw new Refusal(400, 'Only text parts are played.')
  })
  return texts.join('')
}

function partOf(part: unknown): Part {
  if (!isFields(part)) throw new Refusal(400, "Every part of 'content.parts' must be an object.")
  const { text, inlineData, fileData } = part
  if ([text, inlineData, fileData].filter((value) => value !== undefined).length !== 1) {
    throw new Refusal(400, 'A part must have exactly one of text, inlineData and fileData.')
  }
  if (text !== undefined) return textPart(text, 'content.parts.text')
  if (isFields(inlineData)) {
    const declared = requiredString(inlineData, 'mimeType')
    const where = 'content.parts.inlineData.data'
    return inlineMedia(kindOfType(declared), inlineData['data'], { where, declared })
  }
  if (!isFields(fileData)) throw new Refusal(400, 'inlineData and fileData must be objects.')
  const where = 'content.parts.fileData.fileUri'
  return mediaPart(kindOfType(requiredString(fileData, 'mimeType')), fileData['fileUri'], {
    where,
    sources: ['address'],
  })
}

function kindOfType(type: string): MediaKind {
  const [kind = ''] = type.split('/')
  if (isKind(kind)) return kind
  if (formatOfType(type) === 'pdf') return kindOfFormat.pdf
  throw new Refusal(400, `Unsupported MIME type: ${type}`)
}

function questionOf(requests: Fields[], model: string, fields: Fields, known: readonly string[]): Question {
  const contents = requests.map((request) => contentOf(request['content']))
  if (requests.some((request) => stringField(request, 'model') !== `models/${model}`)) {
    throw new Refusal(400, `'model' must be models/${model}, as in the path.`)
  }
  return contentsQuestion(
    { model, fields, contents },
    {
      known,
      inputType: common(requests.map((request) => stringField(request, 'taskType'))),
      dimensions: common(requests.map((request) => countField(request, 'outputDimensionality'))),
    },
  )
}

/** Google would take another option with each text; this server keeps one for the whole call. */
export function common<Option>(options: Option[]): Option | null {
  if (new Set(options).size > 1) throw new Refusal(400, 'Options that differ within one call are not played.')
  return options[0] ?? null
}

const modalities = { text: 'TEXT', image: 'IMAGE', audio: 'AUDIO', video: 'VIDEO', file: 'DOCUMENT' } as const

/** What the call cost, by modality. */
export function usageMetadata({ question: { contents = [] }, usage }: Answer): string {
  if (usage === null) return ''
  const details = Object.entries(tokensByKind(contents)).map(([kind, tokenCount]) => ({
    modality: modalities[kind as Part['kind']],
    tokenCount,
  }))
  const counts = { promptTokenCount: usage, promptTokensDetails: details, totalTokenCount: usage }
  return `,"usageMetadata":${JSON.stringify(counts)}`
}

function bodyOf(answer: Answer): string {
  const { question, items, text } = answer
  const embeddings = items.map((item) => `{"values":${text(item.vector, 'float')}}`)
  const usage = isSecondGeneration(question) ? usageMetadata(answer) : ''
  return 'requests' in question.fields
    ? `{"embeddings":[${embeddings.join(',')}]${usage}}`
    : `{"embedding":${embeddings[0] ?? '{"values":[]}'}${usage}}`
}

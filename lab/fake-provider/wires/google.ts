import { tokensOf } from '../vectors.ts'
import {
  countField,
  isFields,
  Refusal,
  stringField,
  unknownFields,
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
  indexed: false,
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

export function contentText(content: unknown): string {
  const parts = isFields(content) ? content['parts'] : null
  if (!Array.isArray(parts) || parts.length === 0)
    throw new Refusal(400, "'content.parts' must not be empty.")
  const texts = parts.map((part: unknown) => (isFields(part) ? part['text'] : null))
  if (!texts.every((text) => typeof text === 'string')) throw new Refusal(400, 'Only text parts are played.')
  return texts.join('')
}

function questionOf(requests: Fields[], model: string, fields: Fields, known: readonly string[]): Question {
  const texts = requests.map((request) => contentText(request['content']))
  if (requests.some((request) => stringField(request, 'model') !== `models/${model}`)) {
    throw new Refusal(400, `'model' must be models/${model}, as in the path.`)
  }
  return {
    model,
    texts,
    tokens: texts.map(tokensOf),
    tokenArrays: false,
    inputType: common(requests.map((request) => stringField(request, 'taskType'))),
    dimensions: common(requests.map((request) => countField(request, 'outputDimensionality'))),
    encoding: null,
    unknownFields: unknownFields(fields, known),
    fields,
  }
}

/** Google would take another option with each text; this server keeps one for the whole call. */
export function common<Option>(options: Option[]): Option | null {
  if (new Set(options).size > 1) throw new Refusal(400, 'Options that differ within one call are not played.')
  return options[0] ?? null
}

function bodyOf({ question, items, text }: Answer): string {
  const embeddings = items.map((item) => `{"values":${text(item.vector, 'float')}}`)
  return 'requests' in question.fields
    ? `{"embeddings":[${embeddings.join(',')}]}`
    : `{"embedding":${embeddings[0] ?? '{"values":[]}'}}`
}

import { contentsQuestion, mediaPart, objectsField, textPart, tokensByKind } from '../contents.ts'
import type { Content, ContentLimits, Part } from '../media.ts'
import { tokensOf } from '../vectors.ts'
import {
  countField,
  isFields,
  Refusal,
  requiredString,
  stringField,
  textsField,
  unknownFields,
  type Answer,
  type Fields,
  type Question,
  type Wire,
} from '../wire.ts'

/** DashScope's native language, which is what Alibaba's AI SDK package speaks for embeddings. */
export const alibaba: Wire = {
  name: 'alibaba',
  base: 'alibaba/api/v1',
  credentials: ['authorization'],
  maxInputs: 10,
  indexed: true,
  limits: dashscopeLimits,
  locate(path) {
    const [, operation, again] =
      /^alibaba\/api\/v1\/services\/embeddings\/((?:text|multimodal)-embedding)\/([\w-]+)$/.exec(path) ?? []
    return operation !== undefined && operation === again ? { operation, model: null } : null
  },
  read: alibabaQuestion,
  write: (answer) => ({ body: alibabaBody(answer) }),
  refuse: ({ message, code }) =>
    JSON.stringify({ code: code ?? 'InvalidParameter', message, request_id: 'fake' }),
}

/** Models of tongyi fuse what stands in one object from this version on; qwen3-vl fuses a whole request when it is asked to. */
const fusingTongyi = '2026-03-06'

function fusesObjects(model: string): boolean {
  return model.includes(fusingTongyi)
}

function dashscopeLimits({ model }: Question): ContentLimits {
  const isQwen = model.includes('qwen')
  return {
    // Videos are read from addresses alone.
    formats: ['png', 'jpeg', 'webp', 'bmp', 'mp4', 'mov'],
    fuses: isQwen || fusesObjects(model),
    fetches: true,
    maxInputs: 20,
    maxParts: 20,
    maxPartBytes: isQwen || fusesObjects(model) ? 10_000_000 : 3_000_000,
    ...(isQwen ? {} : { maxCallImages: 8 }),
  }
}

function alibabaQuestion(fields: Fields, { operation }: { operation: string }): Question {
  const input = fields['input']
  const parameters = fields['parameters'] ?? {}
  if (!isFields(input) || !isFields(parameters)) {
    throw new Refusal(400, "'input' and 'parameters' must be objects.")
  }
  const model = requiredString(fields, 'model')
  const known = ['model', 'input', 'parameters']
  const dimensions = countField(parameters, 'dimension')
  if (operation === 'multimodal-embedding') {
    const contents = contentsOf(model, objectsField(input, 'contents'), parameters)
    return contentsQuestion({ model, fields, contents }, { known, dimensions })
  }
  const texts = textsField(input, 'texts')
  return {
    model,
    texts,
    tokens: texts.map(tokensOf),
    tokenArrays: false,
    inputType: stringField(parameters, 'text_type'),
    dimensions,
    encoding: null,
    unknownFields: unknownFields(fields, known),
    fields,
  }
}

function contentsOf(model: string, objects: Fields[], parameters: Fields): Content[] {
  const contents = objects.map((object) => contentOf(model, object))
  if (isFused(parameters)) {
    if (!model.includes('qwen3-vl')) throw new Refusal(400, `enable_fusion is not supported by ${model}.`)
    return [contents.flat()]
  }
  return model.includes('qwen2.5-vl') ? [contents.flat()] : contents
}

function isFused({ enable_fusion: fusion = false }: Fields): boolean {
  if (typeof fusion !== 'boolean') throw new Refusal(400, "'enable_fusion' must be a boolean.")
  return fusion
}

function contentOf(model: string, object: Fields): Content {
  const entries = Object.entries(object)
  if (entries.length === 0 || (entries.length > 1 && !fusesObjects(model))) {
    throw new Refusal(400, 'A content must have exactly one of text, image, video and multi_images.')
  }
  return entries.flatMap(([name, value]) => partsOf(name, value))
}

function partsOf(name: string, value: unknown): Part[] {
  const where = `contents.${name}`
  if (name === 'text') return [textPart(value, where)]
  if (name === 'image') return [mediaPart('image', value, { where, sources: ['data-uri', 'address'] })]
  if (name === 'video') return [mediaPart('video', value, { where, sources: ['address'] })]
  if (name === 'multi_images' && Array.isArray(value))
    return value.flatMap((image) => partsOf('image', image))
  throw new Refusal(400, `Unknown content '${name}'.`)
}

function alibabaBody({ question, items, usage, text }: Answer): string {
  const { contents } = question
  if (contents !== undefined) return multimodalBody({ question, items, usage, text }, contents)
  const rows = items.map(
    ({ index, vector }) => `{"text_index":${index},"embedding":${text(vector, 'float')}}`,
  )
  const counts = usage === null ? '' : `"usage":{"total_tokens":${usage}},`
  return `{"output":{"embeddings":[${rows.join(',')}]},${counts}"request_id":"fake"}`
}

function multimodalBody(
  { items, usage, text }: Pick<Answer, 'question' | 'items' | 'usage' | 'text'>,
  contents: readonly Content[],
): string {
  const rows = items.map(
    ({ index, vector }) =>
      `{"index":${index},"embedding":${text(vector, 'float')},"type":"${typeOf(contents[index] ?? [])}"}`,
  )
  const { text: inputTokens = 0, image = 0, video = 0 } = tokensByKind(contents)
  const counted = { input_tokens: inputTokens, image_tokens: image + video }
  const counts = usage === null ? '' : `"usage":${JSON.stringify(counted)},`
  return `{"output":{"embeddings":[${rows.join(',')}]},${counts}"request_id":"fake"}`
}

function typeOf(content: Content): string {
  const [first, ...more] = content
  if (first === undefined || more.length === 0) return first?.kind ?? 'text'
  return content.every(({ kind }) => kind === 'image') ? 'multi_images' : 'fusion'
}

import { contentsQuestion, inlineMedia, mediaPart, objectsField, textPart } from '../contents.ts'
import type { Content, ContentLimits, MediaKind, Part } from '../media.ts'
import { tokensOf } from '../vectors.ts'
import {
  countField,
  isFields,
  Refusal,
  requiredString,
  stringField,
  unknownFields,
  type Answer,
  type Fields,
  type Question,
  type Wire,
} from '../wire.ts'
import { common, contentOf, geminiLimits, googleError, targetOf, usageMetadata } from './google.ts'

export const vertex: Wire = {
  name: 'vertex',
  base: 'vertex/v1/publishers/google',
  credentials: ['authorization', 'x-goog-api-key'],
  maxInputs: 250,
  indexed: false,
  locate(path) {
    // Between the version and the model stands the publisher, with or without a project and a location.
    const parts = /^vertex\/.+\/models\/([^/:]+):(predict|embedContent)$/.exec(path)
    return parts === null ? null : targetOf(parts)
  },
  limits: (question) => (isMultimodal(question) ? multimodalLimits : geminiLimits(question)),
  read: (fields, { operation, model }) =>
    operation === 'predict' ? predictQuestion(fields, model ?? '') : contentQuestion(fields, model ?? ''),
  write: (answer) => ({ body: bodyOf(answer) }),
  refuse: googleError,
}

/** Of multimodalembedding@001: a vector for each modality of one instance, in one space, never a fused one. */
const multimodalLimits: ContentLimits = {
  formats: ['png', 'jpeg', 'gif', 'bmp', 'mp4', 'mov', 'webm'],
  fuses: false,
  fetches: true,
  maxPartBytes: 20 * 1024 * 1024,
  maxVideoSeconds: 120,
}

const multimodalWidths = [128, 256, 512, 1408]

function isMultimodal({ model }: Pick<Question, 'model'>): boolean {
  return model.includes('multimodalembedding')
}

function bodyOf(answer: Answer): string {
  if (!('instances' in answer.question.fields)) return content(answer)
  return isMultimodal(answer.question) ? modalities(answer) : predictions(answer)
}

function predictQuestion(fields: Fields, model: string): Question {
  const instances = objectsField(fields, 'instances')
  const parameters = optionsOf(fields, 'parameters')
  const known = ['instances', 'parameters']
  if (isMultimodal({ model })) {
    const [instance = {}, ...more] = instances
    if (more.length > 0) throw new Refusal(400, "'instances' must have exactly one instance.")
    const dimensions = countField(parameters, 'dimension')
    if (dimensions !== null && !multimodalWidths.includes(dimensions)) {
      throw new Refusal(400, `'dimension' must be one of ${multimodalWidths.join(', ')}.`)
    }
    return contentsQuestion({ model, fields, contents: modalitiesOf(instance) }, { known, dimensions })
  }
  const texts = instances.map((instance) => requiredString(instance, 'content'))
  return {
    model,
    texts,
    tokens: texts.map(tokensOf),
    tokenArrays: false,
    inputType: common(instances.map((instance) => stringField(instance, 'task_type'))),
    dimensions: countField(parameters, 'outputDimensionality'),
    encoding: null,
    unknownFields: unknownFields(fields, known),
    fields,
  }
}

/** One content for each vector of the answer; a video has one for each interval. */
function modalitiesOf({ text, image, video, ...rest }: Fields): Content[] {
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw new Refusal(400, `Unknown name in instance: ${unknown}.`)
  const contents: Content[] = []
  if (text !== undefined) contents.push([textPart(text, 'text')])
  if (image !== undefined) contents.push([sourcePart('image', image)])
  if (video !== undefined) {
    const part = sourcePart('video', video)
    for (let count = segmentsOf(part, video as Fields); count > 0; count--) contents.push([part])
  }
  if (contents.length === 0) throw new Refusal(400, 'An instance needs text, image or video.')
  return contents
}

function sourcePart(kind: MediaKind, source: unknown): Part {
  if (!isFields(source)) throw new Refusal(400, `'${kind}' must be an object.`)
  const { bytesBase64Encoded, gcsUri } = source
  if ((bytesBase64Encoded === undefined) === (gcsUri === undefined)) {
    throw new Refusal(400, `'${kind}' must have bytesBase64Encoded or gcsUri.`)
  }
  if (gcsUri !== undefined) {
    return mediaPart(kind, gcsUri, { where: `${kind}.gcsUri`, sources: ['address'] })
  }
  const declared = stringField(source, 'mimeType')
  return inlineMedia(kind, bytesBase64Encoded, { where: `${kind}.bytesBase64Encoded`, declared })
}

/** Google's interval when the caller names none. */
const intervalSeconds = 16

function segmentsOf(part: Part, { videoSegmentConfig }: Fields): number {
  const segment = isFields(videoSegmentConfig) ? videoSegmentConfig : {}
  const interval = countField(segment, 'intervalSec') ?? intervalSeconds
  const end = countField(segment, 'endOffsetSec') ?? ('media' in part ? part.media.seconds : undefined) ?? 1
  return Math.max(1, Math.ceil(end / interval))
}

function contentQuestion(fields: Fields, model: string): Question {
  const options = optionsOf(fields, 'embedContentConfig')
  return contentsQuestion(
    { model, fields, contents: [contentOf(fields['content'])] },
    {
      known: ['content', 'embedContentConfig'],
      inputType: stringField(options, 'taskType'),
      dimensions: countField(options, 'outputDimensionality'),
    },
  )
}

function optionsOf(fields: Fields, name: string): Fields {
  const options = fields[name] ?? {}
  if (!isFields(options)) throw new Refusal(400, `'${name}' must be an object.`)
  return options
}

function predictions({ items, usage, text }: Answer): string {
  const rows = items.map((item) => {
    const statistics = usage === null ? '' : `,"statistics":{"truncated":false,"token_count":${item.tokens}}`
    return `{"embeddings":{"values":${text(item.vector, 'float')}${statistics}}}`
  })
  return `{"predictions":[${rows.join(',')}]}`
}

function content(answer: Answer): string {
  const [first] = answer.items
  const values = first === undefined ? '[]' : answer.text(first.vector, 'float')
  return `{"embedding":{"values":${values}},"truncated":false${usageMetadata(answer)}}`
}

/** No usage: this model is paid for by images, characters and seconds. */
function modalities({ question: { contents = [] }, items, text }: Answer): string {
  const rows = items.map(({ index, vector }) => ({
    kind: contents[index]?.[0]?.kind,
    values: text(vector, 'float'),
  }))
  const videos = rows
    .filter(({ kind }) => kind === 'video')
    .map(
      ({ values }, position) =>
        `{"startOffsetSec":${position * intervalSeconds},"endOffsetSec":${(position + 1) * intervalSeconds},"embedding":${values}}`,
    )
  const fields = rows
    .filter(({ kind }) => kind !== 'video')
    .map(({ kind, values }) => `"${kind}Embedding":${values}`)
  if (videos.length > 0) fields.push(`"videoEmbeddings":[${videos.join(',')}]`)
  return `{"predictions":[{${fields.join(',')}}]}`
}

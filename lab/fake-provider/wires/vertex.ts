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
import { common, contentText, googleError, targetOf } from './google.ts'

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
  read: (fields, { operation, model }) =>
    operation === 'predict' ? predictQuestion(fields, model ?? '') : contentQuestion(fields, model ?? ''),
  write: (answer) => ({
    body: 'instances' in answer.question.fields ? predictions(answer) : content(answer),
  }),
  refuse: googleError,
}

function predictQuestion(fields: Fields, model: string): Question {
  const instances = fields['instances']
  if (!Array.isArray(instances) || instances.length === 0 || !instances.every(isFields)) {
    throw new Refusal(400, "'instances' must be a list of at least one instance.")
  }
  const texts = instances.map((instance) => requiredString(instance, 'content'))
  return {
    model,
    texts,
    tokens: texts.map(tokensOf),
    tokenArrays: false,
    inputType: common(instances.map((instance) => stringField(instance, 'task_type'))),
    dimensions: countField(optionsOf(fields, 'parameters'), 'outputDimensionality'),
    encoding: null,
    unknownFields: unknownFields(fields, ['instances', 'parameters']),
    fields,
  }
}

function contentQuestion(fields: Fields, model: string): Question {
  const text = contentText(fields['content'])
  const options = optionsOf(fields, 'embedContentConfig')
  return {
    model,
    texts: [text],
    tokens: [tokensOf(text)],
    tokenArrays: false,
    inputType: stringField(options, 'taskType'),
    dimensions: countField(options, 'outputDimensionality'),
    encoding: null,
    unknownFields: unknownFields(fields, ['content', 'embedContentConfig']),
    fields,
  }
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

function content({ items, usage, text }: Answer): string {
  const values = items[0] === undefined ? '[]' : text(items[0].vector, 'float')
  const counts = usage === null ? '' : `,"usageMetadata":{"promptTokenCount":${usage}}`
  return `{"embedding":{"values":${values}}${counts}}`
}

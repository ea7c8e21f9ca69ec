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
import { cohereEmbeddings, cohereQuestion } from './cohere.ts'

/** One path for three families of models, distinguished by the body: Titan, Nova and Cohere. */
export const bedrock: Wire = {
  name: 'bedrock',
  base: 'bedrock',
  credentials: ['authorization'],
  maxInputs: 96,
  indexed: false,
  locate(path) {
    const model = /^bedrock\/model\/([^/]+)\/invoke$/.exec(path)?.[1]
    return model === undefined ? null : { operation: 'invoke', model: decodeURIComponent(model) }
  },
  read(fields, { model }) {
    if ('texts' in fields) return cohereQuestion(fields, model ?? '')
    return 'singleEmbeddingParams' in fields
      ? novaQuestion(fields, model ?? '')
      : titanQuestion(fields, model ?? '')
  },
  write(answer) {
    const { fields } = answer.question
    if ('texts' in fields) return cohereReply(answer)
    return { body: 'singleEmbeddingParams' in fields ? novaBody(answer) : titanBody(answer) }
  },
  refuse: ({ message }) => JSON.stringify({ message }),
}

function titanQuestion(fields: Fields, model: string): Question {
  return questionOf(fields, {
    model,
    text: requiredString(fields, 'inputText'),
    inputType: null,
    dimensions: countField(fields, 'dimensions'),
    known: ['inputText', 'dimensions', 'normalize', 'embeddingTypes'],
  })
}

function novaQuestion(fields: Fields, model: string): Question {
  const parameters = fields['singleEmbeddingParams']
  const text = isFields(parameters) ? parameters['text'] : null
  if (fields['taskType'] !== 'SINGLE_EMBEDDING' || !isFields(parameters) || !isFields(text)) {
    throw new Refusal(400, "'taskType' must be SINGLE_EMBEDDING and 'singleEmbeddingParams.text' an object.")
  }
  requiredString(parameters, 'embeddingPurpose')
  return questionOf(fields, {
    model,
    text: requiredString(text, 'value'),
    inputType: stringField(parameters, 'embeddingPurpose'),
    dimensions: countField(parameters, 'embeddingDimension'),
    known: ['taskType', 'singleEmbeddingParams'],
  })
}

function questionOf(
  fields: Fields,
  {
    model,
    text,
    inputType,
    dimensions,
    known,
  }: { model: string; text: string; inputType: string | null; dimensions: number | null; known: string[] },
): Question {
  return {
    model,
    texts: [text],
    tokens: [tokensOf(text)],
    tokenArrays: false,
    inputType,
    dimensions,
    encoding: null,
    unknownFields: unknownFields(fields, known),
    fields,
  }
}

function titanBody({ items, usage, text }: Answer): string {
  const counts = usage === null ? '' : `,"inputTextTokenCount":${usage}`
  return `{"embedding":${items[0] === undefined ? '[]' : text(items[0].vector, 'float')}${counts}}`
}

function novaBody({ items, usage, text }: Answer): string {
  const rows = items.map((item) => `{"embeddingType":"TEXT","embedding":${text(item.vector, 'float')}}`)
  const counts = usage === null ? '' : `,"inputTokenCount":${usage}`
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
    body: `{"id":"fake","response_type":"${byType ? 'embeddings_by_type' : 'embeddings_floats'}","embeddings":${embeddings},"texts":${JSON.stringify(question.texts)}}`,
    headers: usage === null ? {} : { 'x-amzn-bedrock-input-token-count': String(usage) },
  }
}

import { formatsOf } from '../content-limits.ts'
import { contentsQuestion, tokensByKind } from '../contents.ts'
import type { Content } from '../media.ts'
import { encodingOf, itemText, openai, openaiQuestion } from '../openai-wire.ts'
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
import { chatPart } from './chat-parts.ts'

/** OpenAI's inputs, or a list of contents: never both in one list. */
export const openrouter: Wire = {
  ...openai,
  name: 'openrouter',
  base: 'openrouter/api/v1',
  credentials: ['authorization'],
  limits: () => ({ formats: formatsOf('image', 'audio', 'video', 'file'), fuses: true, fetches: true }),
  locate: (path) =>
    path === 'openrouter/api/v1/embeddings' ? { operation: 'embeddings', model: null } : null,
  read(fields) {
    const model = requiredString(fields, 'model')
    const { input } = fields
    const isContents = Array.isArray(input) && input.some(isFields)
    return isContents ? contentsOf(fields, model, input) : openaiQuestion(fields, model, { known })
  },
  write: (answer) => ({ body: bodyOf(answer) }),
  refuse: ({ status, message }) => JSON.stringify({ error: { code: status, message } }),
}

const known = [
  'model',
  'input',
  'dimensions',
  'encoding_format',
  'user',
  'provider',
  'input_type',
  'session_id',
  'trace',
]

function contentsOf(fields: Fields, model: string, inputs: unknown[]): Question {
  return contentsQuestion(
    { model, fields, contents: inputs.map(contentOf) },
    {
      known,
      inputType: stringField(fields, 'input_type'),
      dimensions: countField(fields, 'dimensions'),
      encoding: encodingOf(fields),
    },
  )
}

function contentOf(input: unknown): Content {
  const content = isFields(input) ? input['content'] : null
  if (!Array.isArray(content) || content.length === 0 || !content.every(isFields)) {
    throw new Refusal(400, 'Invalid input: a list of strings, of token lists, or of objects with content.')
  }
  return content.map((part) => chatPart(part, ['image_url', 'input_audio', 'input_video', 'input_file']))
}

const usdPerToken = 2e-7

function bodyOf({ question, items, encoding, usage, text }: Answer): string {
  const data = items.map((item) => itemText(item, text(item.vector, encoding)))
  const counts = usage === null ? '' : `,"usage":${JSON.stringify(usageOf(question, usage))}`
  return `{"id":"gen-fake","object":"list","data":[${data.join(',')}],"model":${JSON.stringify(question.model)}${counts}}`
}

/** Counts by modality come only where there are at least two. */
function usageOf({ contents = [] }: Question, usage: number): object {
  const details = Object.entries(tokensByKind(contents)).map(([kind, count]) => [`${kind}_tokens`, count])
  return {
    prompt_tokens: usage,
    total_tokens: usage,
    cost: Number((usage * usdPerToken).toFixed(10)),
    ...(details.length > 1 ? { prompt_tokens_details: Object.fromEntries(details) } : {}),
  }
}

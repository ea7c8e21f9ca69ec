import { formatsOf } from '../content-limits.ts'
import { contentsQuestion } from '../contents.ts'
import type { Content, ContentLimits } from '../media.ts'
import { encodingOf, openai, openaiBody, openaiQuestion } from '../openai-wire.ts'
import {
  countField,
  isFields,
  Refusal,
  requiredString,
  type Fields,
  type Question,
  type Wire,
} from '../wire.ts'
import { chatPart } from './chat-parts.ts'

export const conversationLimits: ContentLimits = {
  formats: formatsOf('image', 'audio', 'video'),
  fuses: true,
  fetches: true,
  tooManyImages: (_, most) => `At most ${most} image(s) may be provided in one prompt.`,
}

/** Conversations with parts beside the plain texts of OpenAI. */
export const vllm: Wire = {
  ...openai,
  name: 'vllm',
  base: 'vllm/v1',
  limits: () => conversationLimits,
  locate: (path) => (path === 'vllm/v1/embeddings' ? { operation: 'embeddings', model: null } : null),
  read: (fields) => {
    const model = requiredString(fields, 'model')
    return 'messages' in fields
      ? conversationsQuestion(fields, model)
      : openaiQuestion(fields, model, { known })
  },
  write: (answer) => ({
    body: `{"id":"embd-fake","created":1700000000,${openaiBody({ ...answer, extraFields: false }).slice(1)}`,
  }),
  refuse: ({ status, message }) =>
    JSON.stringify({ error: { message, type: 'BadRequestError', param: null, code: status } }),
}

const known = [
  'model',
  'input',
  'messages',
  'dimensions',
  'encoding_format',
  'user',
  'truncate_prompt_tokens',
  'truncation_side',
  'padding',
  'use_activation',
  'add_special_tokens',
  'add_generation_prompt',
  'continue_final_message',
  'chat_template',
  'chat_template_kwargs',
  'mm_processor_kwargs',
  'media_io_kwargs',
  'embed_dtype',
  'endianness',
  'cache_salt',
  'priority',
  'request_id',
]

function conversationsQuestion(fields: Fields, model: string): Question {
  if ('input' in fields) throw new Refusal(400, "'input' and 'messages' exclude each other.")
  const messages = fields['messages']
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new Refusal(400, "'messages' must be a list of at least one message.")
  }
  const conversations: unknown[] = messages.every(Array.isArray) ? messages : [messages]
  return contentsQuestion(
    { model, fields, contents: conversations.map(contentOf) },
    { known, dimensions: countField(fields, 'dimensions'), encoding: encodingOf(fields) },
  )
}

/** All parts of all messages, whatever their roles. */
function contentOf(conversation: unknown): Content {
  if (!Array.isArray(conversation) || !conversation.every(isFields)) {
    throw new Refusal(400, 'A conversation must be a list of messages.')
  }
  return conversation.flatMap((message) => {
    requiredString(message, 'role')
    const content = message['content']
    if (typeof content === 'string') return chatPart({ type: 'text', text: content }, [])
    if (!Array.isArray(content) || !content.every(isFields)) {
      throw new Refusal(400, "'content' of a message must be a string or a list of parts.")
    }
    return content.map((part) => chatPart(part, ['image_url', 'audio_url', 'video_url', 'input_audio']))
  })
}

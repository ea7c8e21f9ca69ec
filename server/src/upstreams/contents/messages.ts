/** vLLM's and SGLang's conversations, and OpenRouter's contents: parts as chat completions spell them. */
import { hasAddress, isText, type Content, type Part } from '#core/content/content.ts'
import { Base64, stringOf } from './base64.ts'
import { openaiFields, readOpenai, unsendable, type ContentWire, type Fields } from './wire.ts'

export const messages: ContentWire = {
  isOpenai: true,
  inputType: true,
  extraFields: true,
  path: () => '/embeddings',
  body: (call, contents) => {
    const conversations = contents.map(conversationOf)
    // One conversation is sent alone: older servers know no other form.
    return { ...openaiFields(call), messages: conversations.length === 1 ? conversations[0] : conversations }
  },
  read: readOpenai,
}

function conversationOf({ parts }: Content): readonly Fields[] {
  return [{ role: 'user', content: parts.map(messagePart) }]
}

function messagePart(part: Part): Fields {
  if (part.kind === 'file') throw unsendable(part.kind)
  if (part.kind === 'audio' && !hasAddress(part)) return audioOf(part)
  return isText(part) ? textOf(part) : urlOf(part)
}

export const openrouter: ContentWire = {
  isOpenai: true,
  inputType: true,
  extraFields: true,
  path: () => '/embeddings',
  body: (call, contents) => ({
    ...openaiFields(call),
    input: contents.map(({ parts }) => ({ content: parts.map(openrouterPart) })),
  }),
  read: readOpenai,
}

function openrouterPart(part: Part): Fields {
  if (isText(part)) return textOf(part)
  if (part.kind === 'image') return urlOf(part)
  if (part.kind === 'audio' && !hasAddress(part)) return audioOf(part)
  const type = `input_${part.kind}`
  return { type, [type]: { data: stringOf(part) } }
}

function textOf({ text }: Extract<Part, { readonly text: string }>): Fields {
  return { type: 'text', text }
}

function urlOf(part: Part): Fields {
  const type = `${part.kind}_url`
  return { type, [type]: { url: stringOf(part) } }
}

function audioOf({ media }: Extract<Part, { readonly media: unknown }>): Fields {
  return { type: 'input_audio', input_audio: { data: new Base64(media), format: media.format } }
}

import { inlineMedia, mediaPart, objectField, textPart } from '../contents.ts'
import type { MediaKind, Part } from '../media.ts'
import { Refusal, requiredString, stringField, type Fields } from '../wire.ts'

/** Parts as chat completions spell them: an address or a data URI in `url`, or base64 in `data` with its format beside it. */
const kinds = {
  image_url: 'image',
  audio_url: 'audio',
  video_url: 'video',
  input_audio: 'audio',
  input_video: 'video',
  input_file: 'file',
} as const satisfies Record<string, MediaKind>

export type ChatPartType = keyof typeof kinds

export function chatPart(part: Fields, types: readonly ChatPartType[]): Part {
  const type = requiredString(part, 'type')
  if (type === 'text') return textPart(part['text'], 'content.text')
  const known = types.find((name) => name === type)
  if (known === undefined) throw new Refusal(400, `Unknown part type: ${type}`)
  const source = objectField(part, known)
  const where = `content.${known}`
  if (known.endsWith('_url')) {
    return mediaPart(kinds[known], source['url'], { where: `${where}.url`, sources: ['data-uri', 'address'] })
  }
  const data = source['data']
  const declared = stringField(source, 'format')
  const isBare = typeof data === 'string' && !/^(data:|https?:)/i.test(data)
  return isBare
    ? inlineMedia(kinds[known], data, { where: `${where}.data`, declared })
    : mediaPart(kinds[known], data, { where: `${where}.data` })
}

/** DashScope's multimodal embeddings: parts one by one, or all parts of a call fused into one vector. */
import { hasAddress, type Content, type Part } from '#core/content/content.ts'
import type { Usage } from '#core/money/usage.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { ALIBABA_KINDS } from '../openai/error-kinds.ts'
import { stringOf } from './base64.ts'
import {
  fieldsIn,
  isCount,
  kindsIn,
  measured,
  onlyContent,
  Unsendable,
  unsendable,
  type ContentWire,
  type Fields,
} from './wire.ts'

export const dashscope: ContentWire = {
  inputType: true,
  errorKinds: ALIBABA_KINDS,
  path: () => '/services/embeddings/multimodal-embedding/multimodal-embedding',
  body: (call, contents) => {
    const isFused = contents.some(({ parts }) => parts.length !== 1)
    const { parts } = isFused ? onlyContent(contents) : { parts: contents.flatMap((one) => one.parts) }
    return {
      model: call.deployment.upstreamModel,
      input: { contents: parts.map(partOf) },
      parameters: { ...optionsOf(call), ...(isFused ? { enable_fusion: true } : {}) },
    }
  },
  read: ({ output, usage }, contents) => ({
    items: fieldsIn(output)['embeddings'],
    usage: usageOf(fieldsIn(usage), contents),
  }),
}

function optionsOf({ dimensions, inputType, inputTypeField }: EmbeddingCall): Fields {
  return {
    dimension: dimensions,
    ...(inputType === undefined || inputTypeField === undefined ? {} : { [inputTypeField]: inputType }),
  }
}

function partOf(part: Part): Fields {
  if (part.kind === 'audio' || part.kind === 'file') throw unsendable(part.kind)
  if (part.kind === 'video' && !hasAddress(part)) throw new Unsendable('a video goes by address on this wire')
  return { [part.kind]: stringOf(part) }
}

/** `input_tokens` are those of texts; `image_tokens` are those of images and videos. */
function usageOf({ input_tokens: text, image_tokens: image }: Fields, contents: readonly Content[]): Usage {
  const kinds = kindsIn(contents)
  if (!kinds.has('image') && !kinds.has('video')) return measured(text, { text })
  if (!isCount(text) || !isCount(image)) return { kind: 'unknown' }
  return kinds.has('video') ? measured(text + image) : measured(text + image, { text, image })
}

/** Amazon's own multimodal models on Bedrock: Nova, which takes one part in a call, and Titan, which fuses a text and an image. */
import { isText, type Content, type Part } from '#core/content/content.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { BEDROCK_KINDS } from '../openai/error-kinds.ts'
import { Base64 } from './base64.ts'
import {
  isTextOnly,
  itemsOf,
  fieldsIn,
  measured,
  mediaOf,
  onlyContent,
  onlyPart,
  Unsendable,
  unsendable,
  type ContentWire,
  type Fields,
} from './wire.ts'

export function invokePath({ deployment }: EmbeddingCall): string {
  return `/model/${encodeURIComponent(deployment.upstreamModel)}/invoke`
}

export const nova: ContentWire = {
  inputType: true,
  errorKinds: BEDROCK_KINDS,
  path: invokePath,
  body: ({ inputType, width }, contents) => ({
    schemaVersion: 'nova-multimodal-embed-v1',
    taskType: 'SINGLE_EMBEDDING',
    singleEmbeddingParams: {
      embeddingPurpose: inputType,
      // Always: the model's own default is wider than the width that the catalog names.
      embeddingDimension: width,
      ...novaPart(onlyPart(onlyContent(contents))),
    },
  }),
  read: ({ embeddings, inputTokenCount: text }, contents) => ({
    items: itemsOf(embeddings, (item) => fieldsIn(item)['embedding']),
    usage: isTextOnly(contents) ? measured(text, { text }) : { kind: 'unknown' },
  }),
}

function novaPart(part: Part): Fields {
  if (isText(part)) return { text: { truncationMode: 'NONE', value: part.text } }
  if (part.kind === 'file') throw unsendable(part.kind)
  const media = mediaOf(part)
  // Separate modes make two vectors of one video.
  const mode = part.kind === 'video' ? { embeddingMode: 'AUDIO_VIDEO_COMBINED' } : {}
  return { [part.kind]: { format: media.format, ...mode, source: { bytes: new Base64(media) } } }
}

export const titan: ContentWire = {
  errorKinds: BEDROCK_KINDS,
  path: invokePath,
  body: ({ dimensions }, contents) => ({
    ...titanFields(onlyContent(contents)),
    embeddingConfig: dimensions === undefined ? undefined : { outputEmbeddingLength: dimensions },
  }),
  read: ({ embedding, inputTextTokenCount: text }) => ({
    items: embedding === undefined ? undefined : [{ embedding }],
    usage: measured(text, { text }),
  }),
}

function titanFields({ parts }: Content): Fields {
  const fields: Record<string, unknown> = {}
  for (const part of parts) {
    if (!isText(part) && part.kind !== 'image') throw unsendable(part.kind)
    const name = isText(part) ? 'inputText' : 'inputImage'
    if (name in fields) throw new Unsendable('this wire carries one text and one image in a call')
    fields[name] = isText(part) ? part.text : new Base64(mediaOf(part))
  }
  return fields
}

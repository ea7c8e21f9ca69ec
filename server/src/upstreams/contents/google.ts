/** Google's three wires: the Gemini API, Vertex AI, and Vertex AI's older `multimodalembedding@001`. */
import { isText, type Content, type Part, type PartKind } from '#core/content/content.ts'
import type { Usage } from '#core/money/usage.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { GOOGLE_KINDS } from '../openai/error-kinds.ts'
import { Base64, mimeTypeOf } from './base64.ts'
import {
  fieldsIn,
  itemsOf,
  measured,
  mediaOf,
  onlyContent,
  onlyPart,
  unsendable,
  type ContentWire,
  type Fields,
} from './wire.ts'

export const gemini: ContentWire = {
  inputType: true,
  errorKinds: GOOGLE_KINDS,
  path: (call) => `${modelPath(call)}:batchEmbedContents`,
  body: ({ deployment, dimensions, inputType }, contents) => ({
    requests: contents.map((content) => ({
      model: `models/${deployment.upstreamModel}`,
      content: contentOf(content),
      taskType: inputType,
      outputDimensionality: dimensions,
    })),
  }),
  read: ({ embeddings, usageMetadata }) => ({
    items: itemsOf(embeddings, (item) => fieldsIn(item)['values']),
    usage: usageOf(usageMetadata),
  }),
}

export const vertex: ContentWire = {
  inputType: true,
  errorKinds: GOOGLE_KINDS,
  path: (call) => `${modelPath(call)}:embedContent`,
  body: ({ dimensions, inputType }, contents) => ({
    content: contentOf(onlyContent(contents)),
    // An input that is too long must be refused, not cut silently.
    embedContentConfig: { taskType: inputType, outputDimensionality: dimensions, autoTruncate: false },
  }),
  read: ({ embedding, usageMetadata }) => ({
    items: embedding === undefined ? undefined : [{ embedding: fieldsIn(embedding)['values'] }],
    usage: usageOf(usageMetadata),
  }),
}

/** It makes a vector for each kind of an instance and fuses none: a call has one part. */
export const vertexPredict: ContentWire = {
  errorKinds: GOOGLE_KINDS,
  path: (call) => `${modelPath(call)}:predict`,
  body: ({ dimensions }, contents) => ({
    instances: [instanceOf(onlyPart(onlyContent(contents)))],
    parameters: dimensions === undefined ? undefined : { dimension: dimensions },
  }),
  read: ({ predictions }) => {
    if (!Array.isArray(predictions)) return { items: undefined, usage: { kind: 'unknown' } }
    const vectors = predictions.flatMap((prediction: unknown) => {
      const { textEmbedding, imageEmbedding, videoEmbeddings } = fieldsIn(prediction)
      const films: unknown[] = Array.isArray(videoEmbeddings) ? videoEmbeddings : []
      return [textEmbedding, imageEmbedding, ...films.map((film) => fieldsIn(film)['embedding'])]
    })
    const present = vectors.filter((vector) => vector !== undefined)
    return { items: itemsOf(present, (vector) => vector), usage: { kind: 'unknown' } }
  },
}

function modelPath({ deployment }: EmbeddingCall): string {
  return `/models/${deployment.upstreamModel}`
}

function contentOf({ parts }: Content): Fields {
  return { parts: parts.map(partOf) }
}

function partOf(part: Part): Fields {
  if (isText(part)) return { text: part.text }
  const media = mediaOf(part)
  return { inlineData: { mimeType: mimeTypeOf(media), data: new Base64(media) } }
}

/** Seconds of a segment: the longest video, so that it has one vector. */
const SEGMENT_SECONDS = 120

function instanceOf(part: Part): Fields {
  if (isText(part)) return { text: part.text }
  if (part.kind !== 'image' && part.kind !== 'video') throw unsendable(part.kind)
  const media = mediaOf(part)
  const source = { bytesBase64Encoded: new Base64(media), mimeType: mimeTypeOf(media) }
  if (part.kind === 'image') return { image: source }
  return { video: { ...source, videoSegmentConfig: { intervalSec: SEGMENT_SECONDS } } }
}

const KINDS: Readonly<Record<string, PartKind>> = {
  TEXT: 'text',
  IMAGE: 'image',
  AUDIO: 'audio',
  VIDEO: 'video',
  DOCUMENT: 'file',
}

function usageOf(metadata: unknown): Usage {
  const { promptTokenCount, promptTokensDetails } = fieldsIn(metadata)
  const details: unknown[] = Array.isArray(promptTokensDetails) ? promptTokensDetails : []
  const byKind = details.map(fieldsIn).flatMap(({ modality, tokenCount }) => {
    const kind = KINDS[String(modality)]
    return kind === undefined ? [] : [[kind, tokenCount] as const]
  })
  return measured(promptTokenCount, Object.fromEntries(byKind))
}

/** Cohere's `/v2/embed`, and the same models on Amazon Bedrock. */
import { isText, type Content, type Part } from '#core/content/content.ts'
import type { Usage } from '#core/money/usage.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { BEDROCK_KINDS, COHERE_KINDS } from '../openai/error-kinds.ts'
import { dataUrl, type Base64 } from './base64.ts'
import { invokePath } from './bedrock.ts'
import {
  fieldsIn,
  isCount,
  isTextOnly,
  itemsOf,
  kindsIn,
  measured,
  mediaOf,
  unsendable,
  type ContentWire,
  type Fields,
} from './wire.ts'

export const cohere: ContentWire = {
  inputType: 'required',
  outputType: true,
  errorKinds: COHERE_KINDS,
  path: () => '/embed',
  body: (call, contents) => ({
    model: call.deployment.upstreamModel,
    ...fieldsOf(call, contents, (url) => ({ url })),
  }),
  read: ({ embeddings, meta }, contents) => ({
    items: vectorsIn(embeddings),
    usage: usageOf(fieldsIn(meta)['billed_units'], contents),
  }),
}

/** Bedrock names the model in the path, has no object around an image's URL, and counts tokens in a header. */
export const cohereOnBedrock: ContentWire = {
  inputType: 'required',
  outputType: true,
  errorKinds: BEDROCK_KINDS,
  path: invokePath,
  body: (call, contents) => fieldsOf(call, contents, (url) => url),
  read: ({ embeddings }, contents, headers) => ({
    items: vectorsIn(embeddings),
    // Whether the header counts images is not documented.
    usage: isTextOnly(contents)
      ? measured(Number(headers['x-amzn-bedrock-input-token-count']))
      : { kind: 'unknown' },
  }),
}

type ImageUrl = (url: Base64) => unknown

function fieldsOf(
  { inputType, dimensions, outputType }: EmbeddingCall,
  contents: readonly Content[],
  imageUrl: ImageUrl,
): Fields {
  return {
    input_type: inputType,
    inputs: contents.map(({ parts }) => ({ content: parts.map((part) => partOf(part, imageUrl)) })),
    embedding_types: [outputType ?? 'float'],
    output_dimension: dimensions,
    truncate: 'NONE',
  }
}

function partOf(part: Part, imageUrl: ImageUrl): Fields {
  if (isText(part)) return { type: 'text', text: part.text }
  if (part.kind !== 'image') throw unsendable(part.kind)
  return { type: 'image_url', image_url: imageUrl(dataUrl(mediaOf(part))) }
}

/** By type, of which one was asked for. */
function vectorsIn(embeddings: unknown): unknown {
  const vectors = Object.values(fieldsIn(embeddings)).find((value) => Array.isArray(value))
  return itemsOf(vectors, (vector) => vector)
}

/** `images` beside these is a number of images, not of tokens. */
function usageOf(units: unknown, contents: readonly Content[]): Usage {
  const { input_tokens: text, image_tokens: image } = fieldsIn(units)
  if (!kindsIn(contents).has('image')) return measured(text, { text })
  return isCount(text) && isCount(image) ? measured(text + image, { text, image }) : { kind: 'unknown' }
}

/** How each wire is asked for vectors of contents. For tests. */
import { dataUri, type SampleMedia } from '../sample-media.ts'

export type Given = string | SampleMedia
export type Json = { [name: string]: Json } & { [index: number]: Json } & Json[]

/** How one wire asks for vectors of contents, and where its answer has them. */
export type Spoken = {
  path: string
  width: number
  body: (contents: Given[][]) => object
  vectors: (answer: Json) => unknown
}

export const base64Of = ({ bytes }: SampleMedia) => bytes.toString('base64')
export const kindOf = ({ type }: SampleMedia) =>
  type === 'application/pdf' ? 'file' : (type.split('/')[0] ?? '')
const embeddingsOf = ({ data }: Json) => data?.map(({ embedding }) => embedding)
const first = (contents: Given[][]) => contents[0] ?? []

const geminiPart = (part: Given) =>
  typeof part === 'string' ? { text: part } : { inlineData: { mimeType: part.type, data: base64Of(part) } }
const chatPart = (part: Given) =>
  typeof part === 'string'
    ? { type: 'text', text: part }
    : part.type.startsWith('audio')
      ? {
          type: 'input_audio',
          input_audio: { data: base64Of(part), format: part.type === 'audio/wav' ? 'wav' : 'mp3' },
        }
      : { type: `${kindOf(part)}_url`, [`${kindOf(part)}_url`]: { url: dataUri(part) } }
const openrouterPart = (part: Given) =>
  typeof part === 'string' || ['image', 'audio'].includes(kindOf(part))
    ? chatPart(part)
    : { type: `input_${kindOf(part)}`, [`input_${kindOf(part)}`]: { data: base64Of(part) } }
const voyagePart = (part: Given) =>
  typeof part === 'string'
    ? { type: 'text', text: part }
    : { type: `${kindOf(part)}_base64`, [`${kindOf(part)}_base64`]: dataUri(part) }
const jinaInput = ([part = '']: Given[]) =>
  typeof part === 'string'
    ? { text: part }
    : { [kindOf(part) === 'file' ? 'pdf' : kindOf(part)]: base64Of(part) }
const dashscopePart = (part: Given) => (typeof part === 'string' ? { text: part } : { image: dataUri(part) })

export const novaBody = (contents: Given[][], more: object = {}) => {
  const [part = ''] = first(contents)
  const source =
    typeof part === 'string'
      ? { text: { truncationMode: 'END', value: part } }
      : {
          [kindOf(part)]: {
            format: { 'audio/mpeg': 'mp3', 'video/quicktime': 'mov' }[part.type] ?? part.type.split('/')[1],
            source: { bytes: base64Of(part) },
            ...(kindOf(part) === 'video' ? { embeddingMode: 'AUDIO_VIDEO_COMBINED' } : {}),
          },
        }
  return {
    schemaVersion: 'nova-multimodal-embed-v1',
    taskType: 'SINGLE_EMBEDDING',
    singleEmbeddingParams: { embeddingPurpose: 'GENERIC_INDEX', embeddingDimension: 384, ...source, ...more },
  }
}

export const spoken = {
  google: {
    path: 'google/v1beta/models/gemini-embedding-2-w64:batchEmbedContents',
    width: 64,
    body: (contents) => ({
      requests: contents.map((parts) => ({
        model: 'models/gemini-embedding-2-w64',
        content: { parts: parts.map(geminiPart) },
      })),
    }),
    vectors: ({ embeddings }) => embeddings?.map((embedding) => embedding['values']),
  },
  'google single': {
    path: 'google/v1beta/models/gemini-embedding-2-w64:embedContent',
    width: 64,
    body: (contents) => ({
      model: 'models/gemini-embedding-2-w64',
      content: { parts: first(contents).map(geminiPart) },
    }),
    vectors: ({ embedding }) => [embedding?.['values']],
  },
  vertex: {
    path: 'vertex/v1/publishers/google/models/gemini-embedding-2-w64:embedContent',
    width: 64,
    body: (contents) => ({ content: { parts: first(contents).map(geminiPart) } }),
    vectors: ({ embedding }) => [embedding?.['values']],
  },
  cohere: {
    path: 'cohere/v2/embed',
    width: 64,
    body: (contents) => ({
      model: 'embed-v4.0-w64',
      input_type: 'search_document',
      embedding_types: ['float'],
      inputs: contents.map((parts) => ({ content: parts.map(chatPart) })),
    }),
    vectors: ({ embeddings }) => embeddings?.['float'],
  },
  voyage: {
    path: 'voyage/v1/multimodalembeddings',
    width: 64,
    body: (contents) => ({
      model: 'voyage-multimodal-3.5-w64',
      inputs: contents.map((parts) => ({ content: parts.map(voyagePart) })),
    }),
    vectors: embeddingsOf,
  },
  jina: {
    path: 'jina/v1/embeddings',
    width: 64,
    body: (contents) => ({ model: 'jina-embeddings-v5-omni-small-w64', input: contents.map(jinaInput) }),
    vectors: embeddingsOf,
  },
  nova: {
    path: 'bedrock/model/amazon.nova-2-multimodal-embeddings-v1:0-w384/invoke',
    width: 384,
    body: novaBody,
    vectors: ({ embeddings }) => embeddings?.map(({ embedding }) => embedding),
  },
  titan: {
    path: 'bedrock/model/amazon.titan-embed-image-v1-w256/invoke',
    width: 256,
    body: (contents) =>
      Object.assign(
        { embeddingConfig: { outputEmbeddingLength: 256 } },
        ...first(contents).map((part) =>
          typeof part === 'string' ? { inputText: part } : { inputImage: base64Of(part) },
        ),
      ) as object,
    vectors: ({ embedding }) => [embedding],
  },
  'bedrock cohere': {
    path: 'bedrock/model/cohere.embed-v4:0-w64/invoke',
    width: 64,
    body: (contents) => ({
      input_type: 'search_document',
      inputs: contents.map((parts) => ({
        content: parts.map((part) =>
          typeof part === 'string'
            ? { type: 'text', text: part }
            : { type: 'image_url', image_url: dataUri(part) },
        ),
      })),
    }),
    vectors: ({ embeddings }) => embeddings?.['float'],
  },
  vllm: {
    path: 'vllm/v1/embeddings',
    width: 64,
    body: (contents) => ({
      model: 'qwen3-vl-w64',
      messages: contents.map((parts) => [{ role: 'user', content: parts.map(chatPart) }]),
    }),
    vectors: embeddingsOf,
  },
  'sglang, one conversation': {
    path: 'sglang/v1/embeddings',
    width: 64,
    body: (contents) => ({
      model: 'embeddinggemma-2-w64',
      messages: [{ role: 'user', content: first(contents).map(chatPart) }],
    }),
    vectors: embeddingsOf,
  },
  infinity: {
    path: 'infinity/embeddings',
    width: 64,
    body: (contents) => ({
      model: 'clip-w64',
      modality: typeof first(contents)[0] === 'string' ? 'text' : kindOf(first(contents)[0] as SampleMedia),
      input: contents.map(([part = '']) => (typeof part === 'string' ? part : dataUri(part))),
    }),
    vectors: embeddingsOf,
  },
  openrouter: {
    path: 'openrouter/api/v1/embeddings',
    width: 64,
    body: (contents) => ({
      model: 'google/gemini-embedding-2-w64',
      input: contents.map((parts) => ({ content: parts.map(openrouterPart) })),
    }),
    vectors: embeddingsOf,
  },
  dashscope: {
    path: 'alibaba/api/v1/services/embeddings/multimodal-embedding/multimodal-embedding',
    width: 64,
    body: (contents) => ({
      model: 'qwen3-vl-embedding-w64',
      input: { contents: contents.map(([part = '']) => dashscopePart(part)) },
    }),
    vectors: ({ output }) => output?.['embeddings']?.map(({ embedding }) => embedding),
  },
  'dashscope, fused': {
    path: 'alibaba/api/v1/services/embeddings/multimodal-embedding/multimodal-embedding',
    width: 64,
    body: (contents) => ({
      model: 'qwen3-vl-embedding-w64',
      input: { contents: first(contents).map(dashscopePart) },
      parameters: { enable_fusion: true },
    }),
    vectors: ({ output }) => output?.['embeddings']?.map(({ embedding }) => embedding),
  },
} satisfies Record<string, Spoken>

export type Name = keyof typeof spoken

export type Posted = { status: number; json: Json; text: string }

/** `url`: of a scenario. */
export async function post(url: string, path: string, body: object): Promise<Posted> {
  const answer = await fetch(`${url}/${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer key-1234', 'x-goog-api-key': 'key-1234' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  return { status: answer.status, text, json: JSON.parse(text) as Json }
}

/** Calls with contents, one row for each wire as the fake provider plays it. */
import { createHash } from 'node:crypto'
import type { Upstream } from '#core/catalog/catalog.ts'
import type { ContentWireName } from '#core/catalog/content-capabilities.ts'
import {
  MEDIA_FORMATS,
  PART_KINDS,
  type Content,
  type Media,
  type MediaFormat,
  type Part,
} from '#core/content/content.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { image, mp3, pdf, video, wav } from '../../../lab/fake-provider/sample-media.ts'
import { widthOf } from '../../../lab/fake-provider/wire.ts'
import { aDeployment } from './deployments.ts'
import { PATIENCE_MS } from './patience.ts'

/** `bytes` are read in chunks of `chunkBytes`: a reader must not rely on where they end. */
export function aMedia(format: MediaFormat, bytes: Uint8Array, chunkBytes = 1000): Media {
  return {
    kind: MEDIA_FORMATS[format],
    format,
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    async *open() {
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
    },
  }
}

export const text = (words: string): Part => ({ kind: 'text', text: words })
export const part = (media: Media): Part => ({ kind: media.kind, media })
export const content = (...parts: readonly Part[]): Content => ({ parts })

const png = part(aMedia('png', (await image('png')).bytes))
const jpeg = part(aMedia('jpeg', (await image('jpeg')).bytes))
const sound = part(aMedia('wav', wav(2).bytes))
const song = part(aMedia('mp3', mp3(1).bytes))
const film = part(aMedia('mp4', video(3).bytes))
const paper = part(aMedia('pdf', pdf(2).bytes))
const chair = text('a red chair')
export const samples = { png, jpeg, sound, song, film, paper, chair }

export interface ContentRow {
  readonly title: string
  readonly wire: ContentWireName
  readonly provider: string
  readonly dialect?: Upstream['dialect']
  /** The wire's address below a scenario. */
  readonly base: string
  readonly model: string
  readonly dimensions?: number
  readonly inputType?: string
  readonly inputTypeField?: string
  readonly contents: readonly Content[]
  readonly usage: unknown
  /** Wires that carry one content in a call. */
  readonly single?: true
  /** Wires with an index beside each vector. */
  readonly indexed?: true
}

const measured = (tokens: number, byKind?: object): object => ({
  kind: 'measured',
  tokens,
  ...(byKind === undefined ? {} : { byKind }),
})
const unknown = { kind: 'unknown' }
/** Of the fake provider: three words, an image, a second of audio, a second of video, a page. */
const [words, picture, audioSecond, videoSecond, page] = [3, 258, 32, 263, 258]

const gemini2 = { model: 'gemini-embedding-2-w96', dimensions: 32 }
const vertexBase = { provider: 'google-vertex', base: 'vertex/v1/publishers/google' }
const bedrock = { provider: 'amazon-bedrock', base: 'bedrock', single: true } as const

export const contentRows: readonly ContentRow[] = [
  {
    title: 'Gemini',
    wire: 'gemini',
    provider: 'google',
    base: 'google/v1beta',
    ...gemini2,
    contents: [content(chair, png), content(chair), content(sound), content(film), content(paper)],
    usage: measured(2 * words + picture + 2 * audioSecond + 3 * videoSecond + 2 * page, {
      text: 2 * words,
      image: picture,
      audio: 2 * audioSecond,
      video: 3 * videoSecond,
      file: 2 * page,
    }),
  },
  {
    title: 'Vertex',
    wire: 'vertex',
    ...vertexBase,
    ...gemini2,
    single: true,
    contents: [content(chair, png, jpeg)],
    usage: measured(words + 2 * picture, { text: words, image: 2 * picture }),
  },
  {
    title: 'Vertex, predict',
    wire: 'vertex-predict',
    ...vertexBase,
    model: 'multimodalembedding@001-w1408',
    dimensions: 128,
    single: true,
    contents: [content(png)],
    usage: unknown,
  },
  {
    title: 'Vertex, predict of a video',
    wire: 'vertex-predict',
    ...vertexBase,
    model: 'multimodalembedding@001-w1408',
    dimensions: 128,
    single: true,
    contents: [content(film)],
    usage: unknown,
  },
  {
    title: 'Cohere',
    wire: 'cohere',
    provider: 'cohere',
    base: 'cohere/v2',
    model: 'embed-v4.0-w512',
    dimensions: 256,
    inputType: 'search_document',
    contents: [content(chair, png), content(jpeg), content(chair)],
    usage: measured(2 * words + 2 * picture, { text: 2 * words, image: 2 * picture }),
  },
  {
    title: 'Cohere on Bedrock',
    wire: 'cohere',
    ...bedrock,
    model: 'cohere.embed-v4:0-w512',
    dimensions: 256,
    inputType: 'search_query',
    inputTypeField: 'inputType',
    contents: [content(chair, png)],
    usage: unknown,
  },
  {
    title: 'Voyage',
    wire: 'voyage',
    provider: 'voyage',
    base: 'voyage/v1',
    model: 'voyage-multimodal-3.5-w1024',
    dimensions: 256,
    inputType: 'document',
    indexed: true,
    contents: [content(chair, png), content(jpeg), content(chair)],
    usage: measured(2 * words + 2, { text: 2 * words, image: 2 }),
  },
  {
    title: 'Jina',
    wire: 'jina',
    provider: 'jina',
    dialect: 'openai',
    base: 'jina/v1',
    model: 'jina-embeddings-v5-omni-small-w96',
    dimensions: 32,
    inputType: 'retrieval.query',
    inputTypeField: 'task',
    indexed: true,
    contents: [content(chair), content(png), content(song), content(film), content(paper)],
    usage: measured(words + picture + audioSecond + 3 * videoSecond + 2 * page),
  },
  ...[png, sound, film].map((media): ContentRow => ({
    title: `Nova, ${media.kind}`,
    wire: 'nova',
    ...bedrock,
    model: 'amazon.nova-2-multimodal-embeddings-v1:0-w3072',
    dimensions: 384,
    inputType: 'GENERIC_INDEX',
    inputTypeField: 'embeddingPurpose',
    contents: [content(media)],
    usage: unknown,
  })),
  {
    title: 'Titan',
    wire: 'titan',
    ...bedrock,
    model: 'amazon.titan-embed-image-v1-w1024',
    dimensions: 256,
    contents: [content(chair, png)],
    usage: measured(words, { text: words }),
  },
  ...(['vllm', 'sglang'] as const).map((provider): ContentRow => ({
    title: provider,
    wire: 'messages',
    provider,
    dialect: 'openai',
    base: `${provider}/v1`,
    model: 'qwen-vl-w96',
    dimensions: 32,
    indexed: true,
    contents: [content(chair, png), content(song), content(film), content(chair)],
    usage: measured(2 * words + picture + audioSecond + 3 * videoSecond),
  })),
  {
    title: 'Infinity',
    wire: 'modality',
    provider: 'infinity',
    dialect: 'openai',
    base: 'infinity',
    model: 'clip-w96',
    dimensions: 32,
    indexed: true,
    contents: [content(png), content(jpeg)],
    usage: measured(2 * picture),
  },
  {
    title: 'OpenRouter',
    wire: 'openrouter',
    provider: 'openrouter',
    dialect: 'openai',
    base: 'openrouter/api/v1',
    model: 'google/gemini-embedding-2-w96',
    dimensions: 32,
    inputType: 'search_query',
    inputTypeField: 'input_type',
    indexed: true,
    contents: [content(chair, png), content(song), content(film), content(paper)],
    usage: measured(words + picture + audioSecond + 3 * videoSecond + 2 * page, {
      text: words,
      image: picture,
      audio: audioSecond,
      video: 3 * videoSecond,
      file: 2 * page,
    }),
  },
  {
    title: 'DashScope',
    wire: 'dashscope',
    provider: 'alibaba',
    base: 'alibaba/api/v1',
    model: 'qwen3-vl-embedding-w96',
    dimensions: 32,
    indexed: true,
    contents: [content(chair), content(png), content(jpeg)],
    usage: measured(words + 2 * picture, { text: words, image: 2 * picture }),
  },
  {
    title: 'DashScope, fused',
    wire: 'dashscope',
    provider: 'alibaba',
    base: 'alibaba/api/v1',
    model: 'qwen3-vl-embedding-w96',
    dimensions: 32,
    single: true,
    contents: [content(chair, png)],
    usage: measured(words + picture, { text: words, image: picture }),
  },
]

let calls = 0

/** `address` is the fake provider's, with a scenario after it. */
export function contentCall(
  row: ContentRow,
  address: string,
  overrides: Partial<EmbeddingCall> = {},
  upstream: Partial<Upstream> = {},
): EmbeddingCall {
  calls += 1
  const width = widthOf(row.model)
  return {
    callId: `content-call-${calls}`,
    project: 'p',
    deployment: aDeployment({
      upstreamModel: row.model,
      upstream: {
        dialect: row.dialect ?? 'ai-sdk',
        provider: row.provider,
        baseUrl: `${address}/${row.base}`,
        apiKey: 'fake-key-9876',
        ...upstream,
      },
      capabilities: {
        contents: {
          wire: row.wire,
          inputs: PART_KINDS,
          fuses: true,
          maxParts: 16,
          formats: Object.keys(MEDIA_FORMATS) as MediaFormat[],
          fetches: false,
        },
      },
    }),
    inputs: { kind: 'contents', contents: row.contents },
    dimensions: undefined,
    width,
    inputType: row.inputType,
    inputTypeField: row.inputTypeField,
    user: undefined,
    extraFields: {},
    wantedForm: 'float32',
    timeoutMs: PATIENCE_MS,
    ...overrides,
  }
}

/** The wires of contents, each as an operator configures one model of it. */
import type { GivenKind } from './content-shapes.ts'
import type { ModelEntry } from './rows.ts'

export interface ContentWire {
  readonly name: string
  /** Path of the fake provider's wire. */
  readonly path: string
  readonly upstream: Readonly<Record<string, unknown>>
  /** What the upstream calls the model; the fake provider takes the width from its end. */
  readonly model: string
  readonly width: number
  readonly takes: readonly GivenKind[]
  readonly fuses: boolean
  readonly maxParts: number
  readonly formats: readonly string[]
  readonly fetches: boolean
  /** Of models that make no vector without one. */
  readonly inputType?: Readonly<Record<string, unknown>>
}

/** So that a few inputs need several calls. Some wires carry only one. */
const maxInputsPerCall = 3

/** Of a part, so that one that is too large is still small. */
export const maxPartBytes = 60_000

const images = ['png', 'jpeg', 'webp', 'gif']
const everything: readonly GivenKind[] = ['text', 'image', 'audio', 'video', 'file']
const openai = { dialect: 'openai' }
const bedrock = { provider: 'amazon-bedrock' }
const gemini = {
  takes: everything,
  fuses: true,
  maxParts: 3,
  formats: ['png', 'jpeg', 'mp3', 'wav', 'mp4', 'mov', 'pdf'],
  fetches: false,
  width: 64,
} as const

export const contentWires: readonly ContentWire[] = [
  {
    ...gemini,
    name: 'gemini',
    path: 'google/v1beta',
    upstream: { provider: 'google' },
    model: 'gemini-embedding-2-w64',
  },
  {
    ...gemini,
    name: 'vertex',
    path: 'vertex/v1/publishers/google',
    upstream: { provider: 'google-vertex' },
    model: 'gemini-embedding-2-w64',
  },
  {
    name: 'vertex-predict',
    path: 'vertex/v1/publishers/google',
    upstream: { provider: 'google-vertex' },
    model: 'multimodalembedding@001-w128',
    width: 128,
    takes: ['text', 'image', 'video'],
    fuses: false,
    maxParts: 1,
    formats: ['png', 'jpeg', 'gif', 'mp4', 'mov', 'webm'],
    fetches: false,
  },
  {
    name: 'cohere',
    path: 'cohere/v2',
    upstream: { provider: 'cohere' },
    model: 'embed-v4.0-w64',
    width: 64,
    takes: ['text', 'image'],
    fuses: true,
    maxParts: 3,
    formats: images,
    fetches: false,
    inputType: { field: 'inputType', values: { document: 'search_document' }, default: 'document' },
  },
  {
    name: 'voyage',
    path: 'voyage/v1',
    upstream: { provider: 'voyage' },
    model: 'voyage-multimodal-3.5-w64',
    width: 64,
    takes: ['text', 'image', 'video'],
    fuses: true,
    maxParts: 3,
    formats: [...images, 'mp4'],
    fetches: true,
  },
  {
    name: 'jina',
    path: 'jina/v1',
    upstream: openai,
    model: 'jina-embeddings-v5-omni-small-w64',
    width: 64,
    takes: everything,
    fuses: false,
    maxParts: 1,
    formats: [...images, 'mp3', 'wav', 'ogg', 'flac', 'm4a', 'mp4', 'mov', 'webm', 'pdf'],
    fetches: true,
  },
  {
    name: 'nova',
    path: 'bedrock',
    upstream: bedrock,
    model: 'amazon.nova-2-multimodal-embeddings-v1:0-w384',
    width: 384,
    takes: ['text', 'image', 'audio', 'video'],
    fuses: false,
    maxParts: 1,
    formats: [...images, 'mp3', 'wav', 'ogg', 'mp4', 'mov', 'webm'],
    fetches: false,
    inputType: { field: 'embeddingPurpose', values: { document: 'GENERIC_INDEX' }, default: 'document' },
  },
  {
    name: 'titan',
    path: 'bedrock',
    upstream: bedrock,
    model: 'amazon.titan-embed-image-v1-w256',
    width: 256,
    takes: ['text', 'image'],
    fuses: true,
    maxParts: 2,
    formats: ['png', 'jpeg'],
    fetches: false,
  },
  {
    name: 'messages',
    path: 'vllm/v1',
    upstream: openai,
    model: 'qwen3-vl-embedding-w64',
    width: 64,
    takes: ['text', 'image', 'audio', 'video'],
    fuses: true,
    maxParts: 3,
    formats: [...images, 'mp3', 'wav', 'mp4'],
    fetches: true,
  },
  {
    name: 'modality',
    path: 'infinity',
    upstream: openai,
    model: 'clap-w64',
    width: 64,
    takes: ['text', 'image', 'audio'],
    fuses: false,
    maxParts: 1,
    formats: [...images, 'mp3', 'wav'],
    fetches: true,
  },
  {
    name: 'openrouter',
    path: 'openrouter/api/v1',
    upstream: openai,
    model: 'google/gemini-embedding-2-w64',
    width: 64,
    takes: everything,
    fuses: true,
    maxParts: 3,
    formats: [...images, 'mp3', 'wav', 'mp4', 'mov', 'pdf'],
    fetches: true,
  },
  {
    name: 'dashscope',
    path: 'alibaba/api/v1',
    upstream: { provider: 'alibaba' },
    model: 'qwen3-vl-embedding-w64',
    width: 64,
    takes: ['text', 'image'],
    fuses: true,
    maxParts: 3,
    formats: ['png', 'jpeg', 'webp'],
    fetches: true,
  },
]

/** Its entry in torana.yaml. */
export function contentModel({ name, path, upstream, model, width, ...wire }: ContentWire): ModelEntry {
  const contents = {
    wire: name,
    inputs: wire.takes,
    fuses: wire.fuses,
    maxParts: wire.maxParts,
    maxPartBytes,
    formats: wire.formats,
    fetches: wire.fetches,
  }
  const capabilities = { contents, maxInputs: maxInputsPerCall }
  const { inputType = 'none' } = wire
  return {
    played: [{ traits: 'strict-fields', wire: path, upstream, deployment: { model, capabilities } }],
    entry: { kind: 'embedding', embedding: { dimensions: width, tokenizer: 'none', inputType } },
  }
}

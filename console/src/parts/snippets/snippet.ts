/** What a snippet is made from. */
export const SDKS = [
  'curl',
  'python',
  'node',
  'go',
  'java',
  'dotnet',
  'langchain',
  'ai-sdk',
  'llamaindex',
] as const
export type Sdk = (typeof SDKS)[number]

export const SDK_NAMES: Record<Sdk, string> = {
  curl: 'curl',
  python: 'Python',
  node: 'Node',
  go: 'Go',
  java: 'Java',
  dotnet: '.NET',
  langchain: 'LangChain',
  'ai-sdk': 'AI SDK',
  llamaindex: 'LlamaIndex',
}

/** What stands where a key belongs. */
export const KEY = 'tr_…'

export interface Asked {
  readonly kind: 'embedding' | 'image'
  readonly model: string
  /** With `/v1` at its end. */
  readonly baseUrl: string
  /** Undefined: it is not known, and nothing is pinned. */
  readonly space: string | undefined
  /** What to make vectors of. Undefined: three words. */
  readonly texts?: readonly string[]
  /** Inputs with images in place of texts, each as JSON; see `CONTENT_SDKS`. */
  readonly contents?: readonly string[] | undefined
  /** Undefined: the model's own width. */
  readonly dimensions?: number | undefined
  /** Undefined: float. */
  readonly outputType?: string | undefined
}

export type Maker = (asked: Asked) => string

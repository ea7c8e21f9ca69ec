/** What a deployment takes besides texts, and the wire on which it takes it: catalog data, never guessed from a name. */
import type { MediaFormat, PartKind } from '../content/content.ts'

/**
 * The wires that carry contents. `vertex-predict` is Google's `multimodalembedding@001`; `messages` is vLLM's and SGLang's
 * conversation; `modality` is Infinity's field.
 */
export const CONTENT_WIRES = [
  'gemini',
  'vertex',
  'vertex-predict',
  'cohere',
  'voyage',
  'jina',
  'nova',
  'titan',
  'messages',
  'modality',
  'openrouter',
  'dashscope',
] as const

export type ContentWireName = (typeof CONTENT_WIRES)[number]

/** Wires whose calls carry one input. */
export const SINGLE_WIRES: ReadonlySet<ContentWireName> = new Set([
  'vertex',
  'vertex-predict',
  'nova',
  'titan',
])

/** Wires that make no vector unless the call names an input type. */
export const TYPED_WIRES: ReadonlySet<ContentWireName> = new Set(['cohere', 'nova'])

/**
 * A deployment with these gets all its calls on this wire, texts too: a template or a prompt of another wire would be another
 * space.
 */
export interface ContentCapabilities {
  readonly wire: ContentWireName
  /** What a part may be. */
  readonly inputs: readonly PartKind[]
  /** Whether the model makes one vector of several parts. Otherwise a content has one part. */
  readonly fuses: boolean
  /** Most parts of one content. */
  readonly maxParts: number
  /** Most images of one call. Undefined: no limit is known. */
  readonly maxImages?: number | undefined
  /** Bytes of one part, before base64. */
  readonly maxPartBytes?: number | undefined
  /** Bytes of the media of one call, before base64. */
  readonly maxCallBytes?: number | undefined
  /** Of one image. */
  readonly maxPixels?: number | undefined
  /** Of one audio or video part. */
  readonly maxSeconds?: number | undefined
  /** Of one PDF. */
  readonly maxPages?: number | undefined
  readonly formats: readonly MediaFormat[]
  /** Whether it fetches https addresses itself. */
  readonly fetches: boolean
}

/** Tokens of media, to reserve before a call and to estimate where an upstream does not count. Undefined: not known. */
export interface MediaTokens {
  /** Pixels of one token of an image. */
  readonly pixelsPerToken?: number | undefined
  /** Most tokens of one image. */
  readonly maxPerImage?: number | undefined
  readonly perAudioSecond?: number | undefined
  readonly perVideoSecond?: number | undefined
  readonly perPage?: number | undefined
}

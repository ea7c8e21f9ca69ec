/** The forms of a part, by the words of OpenAI, OpenRouter, Cohere, Voyage, Jina, LiteLLM and Bifrost. */
import type { MediaKind } from '../content/content.ts'

export interface SourceReader {
  /** `any`: the bytes say what it is. */
  readonly kind: 'text' | MediaKind | 'any'
  /** The field that holds the text, the data or the address. */
  readonly field: string
  /** Fields that describe the data: its bytes say more. */
  readonly ignored: readonly string[]
}

const reader = (kind: SourceReader['kind'], field: string, ...ignored: string[]): SourceReader => ({
  kind,
  field,
  ignored,
})

/** By `type`. */
export const PART_READERS: Readonly<Record<string, SourceReader>> = {
  text: reader('text', 'text'),
  input_text: reader('text', 'text'),
  image_url: reader('image', 'image_url'),
  image: reader('image', 'image'),
  input_image: reader('image', 'image_url'),
  image_base64: reader('image', 'image_base64'),
  input_audio: reader('audio', 'input_audio'),
  audio_url: reader('audio', 'audio_url'),
  audio: reader('audio', 'audio'),
  input_video: reader('video', 'input_video'),
  video_url: reader('video', 'video_url'),
  video_base64: reader('video', 'video_base64'),
  video: reader('video', 'video'),
  // LiteLLM sends every kind of media as a file.
  file: reader('any', 'file'),
  input_file: reader('any', 'input_file', 'filename'),
}

/** Jina's objects, and those of LlamaIndex, have no `type`: the name of the field says it. */
export const SHORT_NAMES: Readonly<Record<string, SourceReader>> = {
  text: reader('text', 'text'),
  image: reader('image', 'image'),
  audio: reader('audio', 'audio'),
  video: reader('video', 'video'),
  pdf: reader('file', 'pdf'),
  url: reader('any', 'url'),
  bytes: reader('any', 'bytes'),
}

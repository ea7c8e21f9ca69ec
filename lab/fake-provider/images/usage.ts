import { tokensOf } from '../vectors.ts'
import type { Fields } from '../wire.ts'
import { choiceField, type ImageAnswer } from './image-wire.ts'
import type { ImageQuestion } from './image-question.ts'
import type { MadePicture } from './pictures.ts'

export const qualities = ['low', 'medium', 'high', 'xhigh', 'max', 'standard', 'hd', 'auto'] as const

export type Echo = { background: string; output_format: string; quality: string; size: string }

/** What `auto` came to. */
export function echoOf({ question: { transparent, format, fields, width, height } }: ImageAnswer): Echo {
  return {
    background: transparent ? 'transparent' : 'opaque',
    output_format: format,
    quality: resolvedQuality(fields),
    size: `${width}x${height}`,
  }
}

function resolvedQuality(fields: Fields): string {
  const quality = choiceField(fields, 'quality', qualities) ?? 'auto'
  return quality === 'auto' ? 'medium' : quality
}

/** Output tokens of a picture of 1024x1024; other sizes cost by their pixels. */
const tokensByQuality: Record<string, number> = {
  low: 272,
  medium: 1056,
  standard: 1056,
  high: 4160,
  hd: 4160,
  xhigh: 6240,
  max: 8320,
}

/** Output tokens of each preview. */
const previewTokens = 100

/** Input tokens of a picture to edit: a function of its size alone, so that the sender can compute them. */
export function imageTokensOf(bytes: number): number {
  return 100 + Math.ceil(bytes / 1024)
}

export type ImageUsage = {
  total_tokens: number
  input_tokens: number
  output_tokens: number
  input_tokens_details: { text_tokens: number; image_tokens: number }
}

/** A function of prompt, pictures to edit, quality, size, number of pictures and of previews. */
export function usageOf(question: ImageQuestion, pictures: readonly MadePicture[]): ImageUsage {
  const { prompt, fields, width, height } = question
  const each = Math.round(((tokensByQuality[resolvedQuality(fields)] ?? 1056) * width * height) / 1024 ** 2)
  const previews = pictures.reduce((sum, picture) => sum + picture.previews.length, 0)
  const output = each * pictures.length + previews * previewTokens
  const text = tokensOf(prompt)
  const image = (question.given?.images ?? []).reduce((sum, { bytes }) => sum + imageTokensOf(bytes), 0)
  const input = text + image
  return {
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_tokens_details: { text_tokens: text, image_tokens: image },
  }
}

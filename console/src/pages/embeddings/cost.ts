/** What a call can cost at most, and what its tokens would cost elsewhere. Pure: nano-dollars, never a `number`. */
import type { Schema } from '../../api/client.ts'
import { nanoOf, usdOf } from '../../app/money.ts'

import type { LineInput } from './content-lines.ts'

type ModelRow = Schema<'ModelRow'>

/** As the server reckons: no token is shorter than a byte, and a model puts up to eight around a text. */
const TOKENS_AROUND = 8
/** The longest prefix that Torana puts before a text, for models that know no `input_type` of their own. */
const PREFIX_TOKENS = 128
const MILLION = 1_000_000n

const encoder = new TextEncoder()

export function maxTokens(texts: readonly string[], hasPrefix = false): number {
  const around = TOKENS_AROUND + (hasPrefix ? PREFIX_TOKENS : 0)
  return texts.reduce((sum, text) => sum + encoder.encode(text).length + around, 0)
}

/**
 * Of inputs with images, each may be as long as the model reads. Undefined: that is not known, or images have a price of their own,
 * which the answer brings.
 */
export function maxTokensOf(
  inputs: readonly LineInput[],
  { embedding, price }: ModelRow,
  hasPrefix = false,
): number | undefined {
  const withMedia = inputs.filter(({ media }) => media.length > 0).length
  const texts = inputs.filter(({ media }) => media.length === 0).map(({ text }) => text)
  const ofTexts = maxTokens(texts, hasPrefix)
  if (withMedia === 0) return ofTexts
  const longest = embedding?.max_input_tokens ?? undefined
  const hasOwnPrice = typeof price[0]?.note === 'string' && price[0].note !== ''
  return longest === undefined || hasOwnPrice ? undefined : ofTexts + withMedia * longest
}

/** An upstream counts all texts together: of them, a text has about its share of the bytes. */
export function tokensAbout(text: string, texts: readonly string[], tokens: number): number {
  const bytes = texts.reduce((sum, one) => sum + encoder.encode(one).length, 0)
  return bytes === 0 ? 0 : Math.round((tokens * encoder.encode(text).length) / bytes)
}

/** Rounded up to a nano-dollar. null: it has no price; such a model is never shown as free. */
export function costOf(tokens: number, price: ModelRow['price']): string | null {
  const [first] = price
  if (first === undefined) return null
  if (first.unit === 'free') return usdOf(0n)
  if (first.unit !== 'million tokens' || !/^\d+(?:\.\d{1,9})?$/.test(first.amount)) return null
  return usdOf((BigInt(tokens) * nanoOf(first.amount) + MILLION - 1n) / MILLION)
}

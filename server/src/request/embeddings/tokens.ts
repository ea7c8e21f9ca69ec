/** Tokens of inputs: what is counted, what is estimated where nobody counts, and what can't be exceeded. */
import type { EmbeddingModel } from '#core/catalog.ts'
import type { Input } from '#core/embedding/input.ts'
import type { Asker } from '#ports/asker.ts'
import type { EmbedOutside } from './outside.ts'

/** What it takes to count the tokens of a model. */
export interface TokenContext {
  readonly model: EmbeddingModel
  readonly outside: Pick<EmbedOutside, 'tokens' | 'bytesOf' | 'clock'>
  readonly project: string
  /** On the monotonic clock. */
  readonly deadlineMs: number
}

/** All projects count in the same thread, in turn. */
export function askerOf({ project, deadlineMs, outside }: Omit<TokenContext, 'model'>): Asker {
  return { project, timeoutMs: deadlineMs - outside.clock.monotonicMs() }
}

/** English has about this many bytes a token. */
const BYTES_PER_TOKEN = 4

/** What a call probably used, where its upstream does not say. */
export async function estimateTokens(context: TokenContext, input: Input): Promise<number> {
  const counts = await tokensOfEach(context, input)
  return counts.reduce((sum, count) => sum + count, 0)
}

/**
 * Tokens of each input by our own count, or by its bytes where we have no tokenizer. Never more than the
 * model reads: no more is reserved for a text either.
 */
export async function tokensOfEach(context: TokenContext, input: Input): Promise<number[]> {
  const { model, outside } = context
  if (input.kind === 'tokens') return input.tokens.map((tokens) => tokens.length)
  const { tokenizer, maxInputTokens = Infinity } = model.facts
  const bounded = (tokens: number): number => Math.max(1, Math.min(tokens, maxInputTokens))
  const byBytes = (): number[] =>
    input.texts.map((text) => bounded(Math.ceil(outside.bytesOf(text) / BYTES_PER_TOKEN)))
  if (tokenizer === 'none') return byBytes()
  try {
    const asker = { ...askerOf(context), most: maxInputTokens }
    const counts = await outside.tokens.count(input.texts, tokenizer, asker)
    return counts.map(({ tokens }) => bounded(tokens))
  } catch {
    // There is no time left, or the tokenizer's thread has died. A paid answer is not lost for a count.
    return byBytes()
  }
}

/**
 * Tokens that servers put around a text themselves: `[CLS]`,
 * `[SEP]`, an end mark, the frame of an instruction.
 */
const FRAME_TOKENS = 8

/** What is still put before each text, and the tokens of texts that have been counted. */
export interface BoundOptions {
  readonly prefix?: string
  readonly counts?: ReadonlyMap<string, number> | undefined
}

/**
 * The most that an upstream can charge: a token has at least one byte, and the model reads no more than it can. Of a text
 * that was counted as its upstream counts, it is that count.
 */
export function mostTokens(
  input: Input,
  { facts }: EmbeddingModel,
  bytesOf: BytesOf,
  { prefix = '', counts }: BoundOptions = NO_OPTIONS,
): number {
  if (input.kind === 'tokens') return idCount(input)
  const { maxInputTokens = Infinity } = facts
  const prefixBytes = prefix === '' ? 0 : bytesOf(prefix)
  let sum = 0
  for (const text of input.texts)
    sum += counts?.get(text) ?? FRAME_TOKENS + Math.min(prefixBytes + bytesOf(text), maxInputTokens)
  return sum
}

const NO_OPTIONS: BoundOptions = {}

/** For the first take from the rate limits; the true count corrects it. */
export function limiterTokens(input: Input, bytesOf: BytesOf): number {
  if (input.kind === 'tokens') return idCount(input)
  return input.texts.reduce((sum, text) => sum + Math.max(1, Math.ceil(bytesOf(text) / BYTES_PER_TOKEN)), 0)
}

/** For the limits of a deployment. */
export function roughTokens(input: Input, bytesOf: BytesOf): number {
  if (input.kind === 'tokens') return idCount(input)
  let bytes = 0
  for (const text of input.texts) bytes += bytesOf(text)
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

type BytesOf = (text: string) => number

function idCount({ tokens }: Extract<Input, { readonly kind: 'tokens' }>): number {
  return tokens.reduce((sum, ids) => sum + ids.length, 0)
}

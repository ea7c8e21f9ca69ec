/** Tokens of inputs: counts, estimates where there is no tokenizer, and upper bounds. */
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import type { Deployment } from '#core/catalog/catalog.ts'
import { tokensIn, usedBy, usedByContent, type Counting, type UseRules } from '#core/embedding/content-use.ts'
import type { Input } from '#core/embedding/input.ts'
import type { PartUse } from '#core/money/part-use.ts'
import type { Asker } from '#ports/asker.ts'
import type { EmbedOutside } from './outside.ts'

/** What is needed to count the tokens of a model. */
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

/** Average bytes per token of English text. */
const BYTES_PER_TOKEN = 4

/** The probable usage of a call whose upstream does not report it. */
export async function estimateTokens(context: TokenContext, input: Input): Promise<number> {
  const counts = await tokensOfEach(context, input)
  return counts.reduce((sum, count) => sum + count, 0)
}

/**
 * Tokens of each input by our own count, or by its bytes without a tokenizer. At most the model's token
 * limit, which also bounds the reservation for a text.
 */
export async function tokensOfEach(context: TokenContext, input: Input): Promise<readonly number[]> {
  const { maxInputTokens = Infinity } = context.model.facts
  if (input.kind !== 'texts') return countEach(context, input)
  // When the time is up or the tokenizer's thread has died, a paid answer is not lost for a count.
  const counts = await countEach(context, input, maxInputTokens).catch(() =>
    byBytes(input.texts, context.outside.bytesOf),
  )
  return counts.map((tokens) => Math.min(tokens, maxInputTokens))
}

/** The same, for texts of any length. Counting a text may stop above `most` tokens. Rejects when there is no time to count. */
export async function countEach(
  context: TokenContext,
  input: Input,
  most = Infinity,
): Promise<readonly number[]> {
  const { model, outside } = context
  if (input.kind === 'tokens') return input.tokens.map((tokens) => tokens.length)
  if (input.kind === 'contents') {
    const rules = rulesOf(model, outside.bytesOf)
    return input.contents.map((content) => Math.max(1, tokensIn(usedByContent(content, rules, 'likely'))))
  }
  const { tokenizer } = model.facts
  if (tokenizer === 'none') return byBytes(input.texts, outside.bytesOf)
  const counts = await outside.tokens.count(input.texts, tokenizer, { ...askerOf(context), most })
  return counts.map(({ tokens }) => Math.max(1, tokens))
}

function byBytes(texts: readonly string[], bytesOf: BytesOf): readonly number[] {
  return texts.map((text) => Math.max(1, Math.ceil(bytesOf(text) / BYTES_PER_TOKEN)))
}

/** Tokens that servers add around a text: `[CLS]`, `[SEP]`, an end mark, the frame of an instruction. */
export const FRAME_TOKENS = 8

/** A prefix that is still added to each text, and the tokens of texts that have been counted. */
export interface BoundOptions {
  readonly prefix?: string
  readonly counts?: ReadonlyMap<string, number> | undefined
}

/**
 * The most that an upstream can charge: a token has at least one byte, and the model reads at most its token
 * limit. For a text that was counted as its upstream counts, it is that count.
 */
export function mostTokens(
  input: Input,
  { facts }: Pick<EmbeddingModel, 'facts'>,
  bytesOf: BytesOf,
  { prefix = '', counts }: BoundOptions = NO_OPTIONS,
): number {
  if (input.kind === 'tokens') return idCount(input)
  const { maxInputTokens = Infinity } = facts
  if (input.kind === 'contents') {
    return (
      framesOf(input.contents, prefix, bytesOf) +
      tokensIn(usedBy(input.contents, rulesOf({ facts }, bytesOf), 'most'))
    )
  }
  const prefixBytes = prefix === '' ? 0 : bytesOf(prefix)
  let sum = 0
  for (const text of input.texts)
    sum += counts?.get(text) ?? FRAME_TOKENS + Math.min(prefixBytes + bytesOf(text), maxInputTokens)
  return sum
}

const NO_OPTIONS: BoundOptions = {}

/**
 * What contents use at a deployment, by kind: `most` to reserve, `likely` to divide what an upstream counted. Undefined for
 * texts and token ids, which are of one kind. `prefix`: what is still put before each first text.
 */
export function partUseOf(
  input: Input,
  model: Pick<EmbeddingModel, 'facts'>,
  bytesOf: BytesOf,
  { capabilities }: Pick<Deployment, 'capabilities'>,
  counting: Counting,
  prefix = '',
): PartUse | undefined {
  if (input.kind !== 'contents') return undefined
  const use = usedBy(input.contents, rulesOf(model, bytesOf, capabilities.contents), counting)
  if (counting === 'likely' || use.text === undefined) return use
  const { tokens, count } = use.text
  return { ...use, text: { tokens: tokens + framesOf(input.contents, prefix, bytesOf), count } }
}

/** Tokens around contents: what servers add, and a prefix that is still to come. */
function framesOf(contents: readonly unknown[], prefix: string, bytesOf: BytesOf): number {
  return contents.length * (FRAME_TOKENS + (prefix === '' ? 0 : bytesOf(prefix)))
}

function rulesOf(
  { facts }: Pick<EmbeddingModel, 'facts'>,
  bytesOf: BytesOf,
  contents?: UseRules['contents'],
): UseRules {
  return { facts, bytesOf, contents }
}

/** Tokens of the first take from the rate limits; the true count corrects it. */
export function limiterTokens(input: Input, model: Pick<EmbeddingModel, 'facts'>, bytesOf: BytesOf): number {
  if (input.kind === 'tokens') return idCount(input)
  if (input.kind === 'contents') return tokensIn(usedBy(input.contents, rulesOf(model, bytesOf), 'likely'))
  return input.texts.reduce((sum, text) => sum + Math.max(1, Math.ceil(bytesOf(text) / BYTES_PER_TOKEN)), 0)
}

/** Tokens for the limits of a deployment. */
export function roughTokens(input: Input, model: Pick<EmbeddingModel, 'facts'>, bytesOf: BytesOf): number {
  if (input.kind === 'tokens') return idCount(input)
  if (input.kind === 'contents') return tokensIn(usedBy(input.contents, rulesOf(model, bytesOf), 'likely'))
  let bytes = 0
  for (const text of input.texts) bytes += bytesOf(text)
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

type BytesOf = (text: string) => number

function idCount({ tokens }: Extract<Input, { readonly kind: 'tokens' }>): number {
  return tokens.reduce((sum, ids) => sum + ids.length, 0)
}

/** What a request is told it used, and what it cost: two figures, since equal inputs are sent once. */
import type { EmbeddingModel } from '#core/catalog.ts'
import type { Input, TokenIds } from '#core/embedding/input.ts'
import { addCosts, costOf, type Cost } from '#core/price.ts'
import { divideTokens } from '#core/usage.ts'
import type { Outside } from './attempt.ts'
import type { Gathered } from './gather.ts'
import type { Served } from './serve.ts'

export interface RequestUsage {
  /** Every input counted as if it had been sent alone. */
  readonly promptTokens: number
  readonly source: 'upstream' | 'estimated'
  readonly cost: Cost
}

interface Counting {
  readonly model: EmbeddingModel
  readonly outside: Pick<Outside, 'tokens' | 'bytesOf'>
  readonly input: Input
}

/** Immediate in the common case, where there is nothing to divide and nothing to estimate. */
export function usageOf(counting: Counting, gathered: Gathered): RequestUsage | Promise<RequestUsage> {
  const { served, slots, hits } = gathered
  const [only] = served
  if (
    only !== undefined &&
    served.length === 1 &&
    hits.length === 0 &&
    only.answer.usage.kind === 'measured'
  ) {
    const { tokens } = only.answer.usage
    if (only.slots.length === slots.length) {
      return { promptTokens: tokens, source: 'upstream', cost: costOf(only.offer.deployment.price, tokens) }
    }
  }
  return divided(counting, gathered)
}

async function divided(counting: Counting, gathered: Gathered): Promise<RequestUsage> {
  const { served, slots, hits } = gathered
  const repeated = slots.length !== distinctOf(served) + hits.length
  const estimated = served.some(({ answer }) => answer.usage.kind !== 'measured')
  const local = repeated ? await localCounts(counting, gathered) : undefined

  let promptTokens = 0
  const repeats = repeated ? timesEach(slots) : undefined
  for (const { slot, tokens } of hits) promptTokens += tokens * (repeats?.[slot] ?? 1)
  let cost: Cost = { kind: 'known', nanoUsd: 0n }
  for (const part of served) {
    const { tokens } = part.answer.usage
    cost = addCosts(cost, costOf(part.offer.deployment.price, tokens))
    if (!local || !repeats) {
      promptTokens += tokens
      continue
    }
    const weights = part.slots.map((slot) => local[slot] as number)
    for (const [position, share] of divideTokens(tokens, weights).entries())
      promptTokens += share * (repeats[part.slots[position] as number] as number)
  }
  return { promptTokens, source: estimated ? 'estimated' : 'upstream', cost }
}

function distinctOf(served: readonly Served[]): number {
  return served.reduce((sum, part) => sum + part.slots.length, 0)
}

/** How many inputs each distinct one stands for. */
function timesEach(slots: readonly number[]): readonly number[] {
  const times: number[] = []
  for (const slot of slots) times[slot] = (times[slot] ?? 0) + 1
  return times
}

async function localCounts(counting: Counting, { slots }: Gathered): Promise<number[]> {
  const { input } = counting
  const firsts: number[] = []
  for (const [index, slot] of slots.entries()) if (slot === firsts.length) firsts.push(index)
  return tokensOfEach(
    counting,
    input.kind === 'tokens'
      ? { kind: 'tokens', tokens: firsts.map((index) => input.tokens[index] as TokenIds) }
      : { kind: 'texts', texts: firsts.map((index) => input.texts[index] as string) },
  )
}

/** What a call probably used, where its upstream does not say. */
export async function estimateTokens(counting: Omit<Counting, 'input'>, input: Input): Promise<number> {
  const counts = await tokensOfEach(counting, input)
  return counts.reduce((sum, count) => sum + count, 0)
}

/**
 * Tokens of each input by our own count, or its UTF-8 bytes in quarters where nobody can count. Never more than the model
 * reads: what is reserved for a text is not more either.
 */
export async function tokensOfEach(
  { model, outside }: Omit<Counting, 'input'>,
  input: Input,
): Promise<number[]> {
  if (input.kind === 'tokens') return input.tokens.map((tokens) => tokens.length)
  const { tokenizer, maxInputTokens = Infinity } = model.facts
  const bounded = (tokens: number): number => Math.max(1, Math.min(tokens, maxInputTokens))
  const quarters = (): number[] => input.texts.map((text) => bounded(Math.ceil(outside.bytesOf(text) / 4)))
  if (tokenizer === 'none') return quarters()
  try {
    const counts = await outside.tokens.count(input.texts, tokenizer)
    return counts.map(({ tokens }) => bounded(tokens))
  } catch {
    // Its thread has died and is started anew: an answer that is paid for is not lost for a count.
    return quarters()
  }
}

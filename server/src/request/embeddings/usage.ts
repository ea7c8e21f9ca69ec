/** The usage in the answer and its cost: two figures, since equal inputs are sent once. */
import type { Input, TokenIds } from '#core/embedding/input.ts'
import { addCosts, costOf, type Cost } from '#core/money/price.ts'
import { divideTokens } from '#core/money/usage.ts'
import type { GatheredVectors, ServedInputs } from './served.ts'
import { tokensOfEach, type TokenContext } from './tokens.ts'

export interface RequestUsage {
  /** Tokens of every input as if it had been sent alone. */
  readonly promptTokens: number
  readonly source: 'upstream' | 'estimated'
  readonly cost: Cost
}

/** Immediate in the common case, where there is nothing to divide and nothing to estimate. */
export function usageOf(
  context: TokenContext,
  input: Input,
  gathered: GatheredVectors,
): RequestUsage | Promise<RequestUsage> {
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
  return divided(context, input, gathered)
}

async function divided(
  context: TokenContext,
  input: Input,
  gathered: GatheredVectors,
): Promise<RequestUsage> {
  const { served, slots, hits } = gathered
  const repeated = slots.length !== distinctOf(served) + hits.length
  const estimated = served.some(({ answer }) => answer.usage.kind !== 'measured')
  const local = repeated ? await localCounts(context, input, gathered) : undefined

  let promptTokens = 0
  const repeats = repeated ? timesEach(slots) : undefined
  for (const { slot, tokens } of hits) promptTokens += tokens * (repeats?.[slot] ?? 1)
  let cost: Cost = { kind: 'known', nanoUsd: 0n }
  for (const part of served) {
    const { usage } = part.answer
    cost = addCosts(cost, costOf(part.offer.deployment.price, usage.tokens))
    // The caller gets the count that the upstream reported, also where less of it is charged.
    const reported = (usage.kind === 'estimated' ? usage.reportedTokens : undefined) ?? usage.tokens
    if (!local || !repeats) {
      promptTokens += reported
      continue
    }
    const weights = part.slots.map((slot) => local[slot] as number)
    for (const [position, share] of divideTokens(reported, weights).entries())
      promptTokens += share * (repeats[part.slots[position] as number] as number)
  }
  return { promptTokens, source: estimated ? 'estimated' : 'upstream', cost }
}

function distinctOf(served: readonly ServedInputs[]): number {
  return served.reduce((sum, part) => sum + part.slots.length, 0)
}

/** The number of inputs that each distinct input represents. */
function timesEach(slots: readonly number[]): readonly number[] {
  const times: number[] = []
  for (const slot of slots) times[slot] = (times[slot] ?? 0) + 1
  return times
}

async function localCounts(
  context: TokenContext,
  input: Input,
  { slots }: GatheredVectors,
): Promise<number[]> {
  const firsts: number[] = []
  for (const [index, slot] of slots.entries()) if (slot === firsts.length) firsts.push(index)
  return tokensOfEach(
    context,
    input.kind === 'tokens'
      ? { kind: 'tokens', tokens: firsts.map((index) => input.tokens[index] as TokenIds) }
      : { kind: 'texts', texts: firsts.map((index) => input.texts[index] as string) },
  )
}

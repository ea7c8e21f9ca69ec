/** The usage in the answer and its cost: two figures, since equal inputs are sent once. */
import { chargedUse, tokensByKind } from '#core/embedding/content-use.ts'
import { pick, type Input } from '#core/embedding/input.ts'
import { addCosts, costOf, type Cost } from '#core/money/price.ts'
import { divideTokens, type TokensByKind } from '#core/money/usage.ts'
import type { PartUse } from '#core/money/part-use.ts'
import type { GatheredVectors, ServedInputs } from './served.ts'
import { partUseOf, tokensOfEach, type TokenContext } from './tokens.ts'

export interface RequestUsage {
  /** Tokens of every input as if it had been sent alone. */
  readonly promptTokens: number
  /** The same by kind of part. Absent for texts and token ids. */
  readonly byKind?: TokensByKind | undefined
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
    only.answer.usage.kind === 'measured' &&
    input.kind !== 'contents'
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
    cost = addCosts(
      cost,
      costOf(part.offer.deployment.price, usage.tokens, usedByPart(context, input, gathered, part)),
    )
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
  const byKind = input.kind === 'contents' ? kindsOf(context, input, gathered, promptTokens) : undefined
  const usage: RequestUsage = { promptTokens, source: estimated ? 'estimated' : 'upstream', cost }
  return byKind === undefined ? usage : { ...usage, byKind }
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
  return tokensOfEach(context, pick(input, firsts))
}

/** The inputs of one call, as they were sent. */
function inputOf(input: Input, { slots }: GatheredVectors, part: ServedInputs): Input {
  const firstOf = new Map<number, number>()
  for (const [index, slot] of slots.entries()) if (!firstOf.has(slot)) firstOf.set(slot, index)
  return pick(
    input,
    part.slots.map((slot) => firstOf.get(slot) as number),
  )
}

/** What one call used, by kind. Undefined for texts and token ids. */
function usedByPart(
  { model, outside }: TokenContext,
  input: Input,
  gathered: GatheredVectors,
  part: ServedInputs,
): PartUse | undefined {
  if (input.kind !== 'contents') return undefined
  const sent = inputOf(input, gathered, part)
  const likely = partUseOf(sent, model, outside.bytesOf, part.offer.deployment, 'likely')
  return likely && chargedUse(part.answer.usage, likely)
}

/**
 * Tokens by kind of every input as if it had been sent alone, which add up to `promptTokens`: what the calls counted, and for
 * equal inputs and for those from the cache in proportion to our estimate.
 */
function kindsOf(
  { model, outside }: TokenContext,
  input: Input,
  gathered: GatheredVectors,
  promptTokens: number,
): TokensByKind {
  const [only, ...others] = gathered.served
  const [first] = gathered.served
  const deployment = first?.offer.deployment ?? model.deployments[0]
  if (deployment === undefined) return {}
  const likely = partUseOf(input, model, outside.bytesOf, deployment, 'likely') ?? {}
  const isOne = only !== undefined && others.length === 0 && only.slots.length === gathered.slots.length
  if (isOne) return tokensByKind(only.answer.usage, likely)
  return tokensByKind({ kind: 'estimated', tokens: promptTokens }, likely)
}

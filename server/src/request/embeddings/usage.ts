/** The usage in the answer and its cost: two figures, since equal inputs are sent once. */
import type { Deployment } from '#core/catalog/catalog.ts'
import type { PartKind } from '#core/content/content.ts'
import { chargedUse, tokensOfContents, totalOf } from '#core/embedding/content-use.ts'
import { pick, type Input } from '#core/embedding/input.ts'
import { addCosts, costOf, type Cost } from '#core/money/price.ts'
import { divideTokens, type TokensByKind } from '#core/money/usage.ts'
import type { PartUse } from '#core/money/part-use.ts'
import type { GatheredVectors, KnownUsage, ServedInputs } from './served.ts'
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
  const source = served.some(({ answer }) => answer.usage.kind !== 'measured') ? 'estimated' : 'upstream'
  const cost = costOfCalls(context, input, gathered)
  if (input.kind === 'contents') {
    const byKind = kindsOf(context, input, gathered)
    return { promptTokens: totalOf(byKind), byKind, source, cost }
  }
  const local = repeated ? await localCounts(context, input, gathered) : undefined
  let promptTokens = 0
  const repeats = repeated ? timesEach(slots) : undefined
  for (const { slot, tokens } of hits) promptTokens += tokens * (repeats?.[slot] ?? 1)
  for (const { answer, slots: own } of served) {
    const { tokens } = asReported(answer.usage)
    if (!local || !repeats) {
      promptTokens += tokens
      continue
    }
    const weights = own.map((slot) => local[slot] as number)
    for (const [position, share] of divideTokens(tokens, weights).entries())
      promptTokens += share * (repeats[own[position] as number] as number)
  }
  return { promptTokens, source, cost }
}

/** The caller gets the count that the upstream reported, also where less of it is charged. */
function asReported(usage: KnownUsage): KnownUsage {
  return usage.kind === 'measured'
    ? usage
    : { kind: 'estimated', tokens: usage.reportedTokens ?? usage.tokens }
}

function costOfCalls(context: TokenContext, input: Input, gathered: GatheredVectors): Cost {
  let cost: Cost = { kind: 'known', nanoUsd: 0n }
  for (const part of gathered.served) {
    const use = usedByPart(context, input, gathered, part)
    cost = addCosts(cost, costOf(part.offer.deployment.price, part.answer.usage.tokens, use))
  }
  return cost
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
): Promise<readonly number[]> {
  return tokensOfEach(context, pick(input, firstOfEach(slots)))
}

/** For each distinct input, the first one that it represents. */
function firstOfEach(slots: readonly number[]): readonly number[] {
  const firsts: number[] = []
  for (const [index, slot] of slots.entries()) firsts[slot] ??= index
  return firsts
}

/** The inputs of one call, as they were sent. */
function inputOf(input: Input, { slots }: GatheredVectors, part: ServedInputs): Input {
  const firsts = firstOfEach(slots)
  return pick(
    input,
    part.slots.map((slot) => firsts[slot] as number),
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

/** Tokens by kind of every content as if it had been sent alone: what the calls counted, and what those from the cache had. */
function kindsOf(
  { model, outside }: TokenContext,
  input: Extract<Input, { readonly kind: 'contents' }>,
  { served, hits, slots }: GatheredVectors,
): TokensByKind {
  const [repeats, firsts] = [timesEach(slots), firstOfEach(slots)]
  const kinds: Partial<Record<PartKind, number>> = {}
  const add = (own: readonly number[], usage: KnownUsage, deployment: Deployment | undefined): void => {
    const likely = own.map((slot) => {
      const one = pick(input, [firsts[slot] as number])
      return (deployment && partUseOf(one, model, outside.bytesOf, deployment, 'likely')) ?? {}
    })
    for (const [position, tokens] of tokensOfContents(usage, likely).entries())
      for (const [kind, count] of Object.entries(tokens) as [PartKind, number][])
        kinds[kind] = (kinds[kind] ?? 0) + count * (repeats[own[position] as number] as number)
  }
  for (const { offer, slots: own, answer } of served) add(own, asReported(answer.usage), offer.deployment)
  for (const { slot, tokens, deployment } of hits) {
    const maker = model.deployments.find(({ id }) => id === deployment) ?? model.deployments[0]
    add([slot], { kind: 'estimated', tokens }, maker)
  }
  return kinds
}

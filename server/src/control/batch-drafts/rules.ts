/** What a batch of a draft would cost, how long it would take, and why it can't run. */
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import type { CorpusEstimate } from '#core/corpus/estimate.ts'
import { windowOf, type Budget } from '#core/money/budget.ts'
import { costOf, decimalOf, usdText, type Cost } from '#core/money/price.ts'
import { isoOf } from '../shared/times.ts'

/** Deployments that get the traffic as long as they are healthy. */
function firstDeployments({
  deployments,
}: Pick<EmbeddingModel, 'deployments'>): EmbeddingModel['deployments'] {
  const first = Math.min(...deployments.map(({ priority }) => priority))
  return deployments.filter(({ priority }) => priority === first)
}

export interface CostRange {
  /** Undefined: a deployment has no price. */
  readonly nanoUsd: bigint | undefined
  readonly highNanoUsd: bigint | undefined
}

/** By the deployment that costs most among those that get the traffic: the estimate is no less than the bill. */
export function costRange(model: EmbeddingModel, { tokens, high }: CorpusEstimate): CostRange {
  const most = (count: number): bigint | undefined => {
    const costs = firstDeployments(model).map(({ price }) => costOf(price, count))
    return costs.reduce<bigint | undefined>(dearer, 0n)
  }
  return { nanoUsd: most(tokens), highNanoUsd: most(high) }
}

function dearer(most: bigint | undefined, cost: Cost): bigint | undefined {
  if (most === undefined || cost.kind === 'unpriced') return undefined
  return cost.nanoUsd > most ? cost.nanoUsd : most
}

/** The price of the deployment that the estimate is made with. */
export function estimatedPrice(
  model: EmbeddingModel,
): EmbeddingModel['deployments'][number]['price'] | undefined {
  const [first, ...others] = firstDeployments(model)
  const million = ({ price }: EmbeddingModel['deployments'][number]): bigint => {
    const cost = costOf(price, 1_000_000)
    return cost.kind === 'unpriced' ? -1n : cost.nanoUsd
  }
  return others.reduce((most, one) => (most && million(one) > million(most) ? one : most), first)?.price
}

export interface Seconds {
  readonly low: number
  readonly high: number
}

/** From the speeds of earlier batches, the slowest first. Undefined: there was none. */
export function duration(lines: number, speeds: readonly number[]): Seconds | undefined {
  const [slowest] = speeds
  const fastest = speeds.at(-1)
  if (slowest === undefined || fastest === undefined) return undefined
  return { low: Math.ceil(lines / fastest), high: Math.ceil(lines / slowest) }
}

/** A budget and what was spent of it. */
export interface SpentBudget {
  readonly budget: Budget
  readonly spentNanoUsd: bigint
}

function leftOf({ budget, spentNanoUsd }: SpentBudget): bigint {
  const left = budget.limitNanoUsd - spentNanoUsd
  return left < 0n ? 0n : left
}

export function budgetBody(spent: SpentBudget, nowMs: number) {
  const { id, per, hard, limitNanoUsd } = spent.budget
  const [scope = '', name = ''] = id.split(/:(.*)/s)
  return {
    id,
    scope: scope as 'project' | 'key',
    name,
    per,
    hard,
    limit_usd: decimalOf(limitNanoUsd),
    left_usd: decimalOf(leftOf(spent)),
    ends_at: per === 'total' ? null : isoOf(windowOf(per, nowMs).endMs),
  }
}

/** The hard budget that a batch of this cost exceeds most. */
export function exceededBy(
  nanoUsd: bigint | undefined,
  budgets: readonly SpentBudget[],
): { readonly budget: Budget; readonly byNanoUsd: bigint } | undefined {
  let most: { readonly budget: Budget; readonly byNanoUsd: bigint } | undefined
  for (const spent of budgets) {
    const byNanoUsd = (nanoUsd ?? 0n) - leftOf(spent)
    if (spent.budget.hard && byNanoUsd > (most?.byNanoUsd ?? 0n)) most = { budget: spent.budget, byNanoUsd }
  }
  return most
}

export interface Problem {
  readonly code: string
  readonly text: string
  readonly param: string | null
}

export interface Judged {
  readonly model: EmbeddingModel
  readonly dimensions: number | undefined
  readonly badRows: string
  readonly estimate: CorpusEstimate
  readonly nanoUsd: bigint | undefined
  readonly budgets: readonly SpentBudget[]
}

/** Why it can't run. Empty: it can. */
export function problemsWith({
  model,
  dimensions,
  badRows,
  estimate,
  nanoUsd,
  budgets,
}: Judged): readonly Problem[] {
  const problems: Problem[] = []
  const add = (code: string, param: string | null, text: string): void =>
    void problems.push({ code, text, param })
  const { lines, empty, tooLong = 0 } = estimate
  if (lines === 0) add('empty_input', 'text_column', 'No row of this column has a text that can be embedded.')
  if (badRows === 'stop' && empty > 0)
    add('invalid_parameter', 'bad_rows', `${empty} rows have no text. Fix the file, or skip such rows.`)
  if (badRows === 'stop' && tooLong > 0)
    add(
      'input_too_long',
      'bad_rows',
      `About ${tooLong} rows are too long. Fix the file, or skip or truncate them.`,
    )
  if (dimensions !== undefined && !takesDimensions(model, dimensions))
    add('invalid_parameter', 'dimensions', `${model.id} does not make vectors of ${dimensions} dimensions.`)
  if (nanoUsd === undefined && budgets.some(({ budget }) => budget.hard))
    add(
      'model_unpriced',
      'model',
      `${model.id} has no price, so a hard budget refuses it. Set a price first.`,
    )
  const exceeded = exceededBy(nanoUsd, budgets)
  if (exceeded)
    add(
      'budget_exhausted',
      null,
      `It exceeds the budget ${exceeded.budget.id} by $${usdText(exceeded.byNanoUsd)}.`,
    )
  return problems
}

function takesDimensions({ facts, deployments }: EmbeddingModel, dimensions: number): boolean {
  if (dimensions === facts.dimensions) return true
  const isNative = firstDeployments({ deployments }).some(
    ({ capabilities: { dimensions: native } }) =>
      (native.kind === 'range' && dimensions >= native.min && dimensions <= native.max) ||
      (native.kind === 'list' && native.values.includes(dimensions)),
  )
  return isNative || (facts.matryoshka && dimensions < facts.dimensions)
}

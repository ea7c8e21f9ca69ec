/** What the batch takes: lines, tokens, money, time, and why it can't run. Pure, tested. */
import type { DryRun } from '../../api/batch-file.ts'
import type { Schema } from '../../api/client.ts'
import { nanoOf, usdOf } from '../../app/money.ts'
import { money, whole } from '../../app/format.ts'
import { estimateCorpus, type CorpusEstimate, type CountedText } from '../../workers/corpus/estimate.ts'
import type { ColumnProfile, CorpusProfile } from '../../workers/corpus/profile.ts'
import { countBytes } from '../../workers/corpus/source.ts'
import { words } from '../../words/words.ts'
import type { Choices, EmbeddingModel } from './choices.ts'

export interface BudgetLeft {
  readonly id: string
  readonly name: string
  readonly hard: boolean
  readonly limitUsd: string
  readonly leftUsd: string
  /** null: it never begins again. */
  readonly endsAt: string | null
}

export interface Estimate extends CorpusEstimate {
  readonly rows: number
  readonly duplicates: number | undefined
  readonly maxInputTokens: number | null
  readonly space: string | undefined
  readonly price: EmbeddingModel['price']
  /** All vectors, as float32. */
  readonly vectorBytes: number
  /** null: the model has no price. */
  readonly usd: string | null
  readonly highUsd: string | null
  /** By the speeds of earlier batches of the model. Undefined: there was none. */
  readonly seconds: { readonly low: number; readonly high: number } | undefined
  readonly linesPerSecond: number | undefined
  readonly budgets: readonly BudgetLeft[]
  /** The hard budget that it exceeds most. */
  readonly exceeds: { readonly id: string; readonly name: string; readonly byUsd: string } | undefined
  /** Why it can't run. Empty: it can. */
  readonly problems: readonly string[]
}

export interface EstimateParts {
  readonly profile: CorpusProfile
  readonly textColumn: string
  readonly badRows: Choices['badRows']
  readonly model: EmbeddingModel
  readonly dimensions: number | undefined
  readonly dryRun: DryRun
  readonly budgets: readonly BudgetLeft[]
  /** Batches that completed, the newest first. */
  readonly completed: readonly Pick<Schema<'ReportedBatch'>, 'model' | 'lines' | 'created_at' | 'ended_at'>[]
}

const NUMBER_BYTES = 4

export function estimateBatch(parts: EstimateParts): Estimate | undefined {
  const { profile, textColumn, badRows, model, dryRun: counted, budgets } = parts
  const column = profile.columns.find(({ name }) => name === textColumn)
  if (column === undefined) return undefined
  const sample = countedTexts(profile, textColumn, counted)
  const isOwnTokenizer = counted.token_counts === 'exact'
  const maxInputTokens = model.embedding.max_input_tokens
  const estimate = estimateCorpus({
    rows: profile.rows,
    column,
    sample,
    isWhole: profile.isWhole && sample.length === textsIn(profile, textColumn).length,
    badRows,
    maxTokens: isOwnTokenizer ? (maxInputTokens ?? undefined) : undefined,
    isOwnTokenizer,
  })
  const sampleTokens = sample.reduce((sum, { tokens }) => sum + tokens, 0)
  const [usd, highUsd] = [estimate.tokens, estimate.high].map((tokens) =>
    costOfTokens(tokens, sampleTokens, counted),
  )
  const speeds = speedsOfModel(parts)
  const exceeds = exceededBudget(usd, budgets)
  return {
    ...estimate,
    rows: profile.rows,
    duplicates: column.duplicates,
    maxInputTokens,
    space: counted.space,
    price: model.price,
    vectorBytes: estimate.lines * (parts.dimensions ?? model.embedding.width) * NUMBER_BYTES,
    usd: usd === undefined ? null : usdOf(usd),
    highUsd: highUsd === undefined ? null : usdOf(highUsd),
    seconds: durationOf(estimate.lines, speeds),
    linesPerSecond: speeds[0],
    budgets,
    exceeds,
    problems: problemsOf(estimate, badRows, exceeds),
  }
}

/** Texts of a dry run: as many of the sample as a request takes at its default limits. */
const MAX_TEXTS = 500
const MAX_CHARACTERS = 1024 * 1024

/** The texts of the sample that are counted. */
export function sampleTexts(profile: CorpusProfile, textColumn: string): readonly string[] {
  let characters = 0
  return textsIn(profile, textColumn).filter((text, index) => {
    characters += text.length
    return index < MAX_TEXTS && (index === 0 || characters <= MAX_CHARACTERS)
  })
}

function textsIn({ columns, sample }: CorpusProfile, textColumn: string): readonly string[] {
  const at = columns.findIndex(({ name }) => name === textColumn)
  return sample.map((cells) => cells[at] ?? '').filter((text) => text !== '')
}

function countedTexts(
  profile: CorpusProfile,
  textColumn: string,
  { tokens }: DryRun,
): readonly CountedText[] {
  return sampleTexts(profile, textColumn).map((text, index) => ({
    bytes: countBytes(text),
    tokens: tokens[index] ?? 0,
  }))
}

/** By the most expensive of the deployments that get the traffic while they are healthy. Undefined: one has no price. */
function costOfTokens(tokens: number, sampleTokens: number, { deployments }: DryRun): bigint | undefined {
  const first = Math.min(...deployments.map(({ priority }) => priority))
  const costs = deployments
    .filter(({ priority }) => priority === first)
    .map(({ cost_usd: cost }) => cost.likely)
  if (costs.includes('unpriced')) return undefined
  const most = costs.map(nanoOf).reduce((one, other) => (other > one ? other : one), 0n)
  if (sampleTokens === 0) return 0n
  const all = BigInt(sampleTokens)
  return (most * BigInt(tokens) + all - 1n) / all
}

/** Batches whose speeds are looked at: the last ones say most about the next. */
const LAST_BATCHES = 10
/** Lines of a batch that says something about speed: a smaller one mostly waits for its turn. */
const MIN_LINES = 50

/** Lines per second, the slowest first. Pauses count: the next batch may have them too. */
function speedsOfModel({ completed, model: { id } }: EstimateParts): readonly number[] {
  return completed
    .filter(({ model, lines }) => model === id && lines.completed >= MIN_LINES)
    .slice(0, LAST_BATCHES)
    .flatMap(({ lines, created_at: from, ended_at: to }) => {
      if (to === null) return []
      const seconds = Math.max(0.1, (Date.parse(to) - Date.parse(from)) / 1000)
      return [(lines.completed + lines.failed) / seconds]
    })
    .toSorted((one, other) => one - other)
}

function durationOf(lines: number, speeds: readonly number[]): Estimate['seconds'] {
  const [slowest] = speeds
  const fastest = speeds.at(-1)
  if (slowest === undefined || fastest === undefined) return undefined
  return { low: Math.ceil(lines / fastest), high: Math.ceil(lines / slowest) }
}

function exceededBudget(usd: bigint | undefined, budgets: readonly BudgetLeft[]): Estimate['exceeds'] {
  let most: { readonly id: string; readonly name: string; readonly by: bigint } | undefined
  for (const { id, name, hard, leftUsd } of budgets) {
    const by = (usd ?? 0n) - nanoOf(leftUsd)
    if (hard && by > (most?.by ?? 0n)) most = { id, name, by }
  }
  return most && { id: most.id, name: most.name, byUsd: usdOf(most.by) }
}

function problemsOf(
  { lines, empty, tooLong = 0 }: CorpusEstimate,
  badRows: Choices['badRows'],
  exceeds: Estimate['exceeds'],
): readonly string[] {
  const { problems: say, exceeds: sayExceeds, why } = words.newBatch.estimate
  return [
    ...(lines === 0 ? [why.noLines] : []),
    ...(badRows === 'stop' && empty > 0 ? [say.empty(whole(empty))] : []),
    ...(badRows === 'stop' && tooLong > 0 ? [say.tooLong(whole(tooLong))] : []),
    ...(exceeds === undefined ? [] : [sayExceeds(exceeds.name, money(exceeds.byUsd))]),
  ]
}

/** A column's values are all there, and none repeats. */
export function isUnique({ duplicates, filled }: ColumnProfile, rows: number): boolean {
  return duplicates === 0 && filled === rows
}

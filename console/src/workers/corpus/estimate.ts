/** What a batch of a corpus would take, from its profile and the token counts of a sample. */
import type { ColumnProfile } from './profile.ts'

/** What is done with a row that has no text, or one that is too long. `stop`: nothing runs. */
export type BadRows = 'skip' | 'truncate' | 'stop'

/** A text of the sample. */
export interface CountedText {
  readonly bytes: number
  readonly tokens: number
}

/**
 * `counted`: every text was. `sampled`: some were, with the model's own tokenizer. `estimated`: Torana does not have the
 * model's tokenizer.
 */
type TokenBasis = 'counted' | 'sampled' | 'estimated'

interface TokenEstimate {
  readonly tokens: number
  readonly low: number
  readonly high: number
  readonly basis: TokenBasis
}

export interface CorpusEstimate extends TokenEstimate {
  /** Rows that become lines of the batch. */
  readonly lines: number
  readonly empty: number
  /** Undefined: only the upstream knows. */
  readonly tooLong: number | undefined
}

export interface EstimateQuestion {
  readonly rows: number
  readonly column: ColumnProfile
  readonly sample: readonly CountedText[]
  /** Whether the sample is every text of the column, in full. */
  readonly isWhole: boolean
  readonly badRows: BadRows
  /** Undefined: unknown, or Torana can't count as the upstream does. */
  readonly maxTokens: number | undefined
  readonly isOwnTokenizer: boolean
}

/** Width of an interval that holds the true value 19 times of 20, in standard errors. */
const CONFIDENCE = 1.96
/** Error of an estimate without the model's own tokenizer: languages and tokenizers differ by about this. */
const FOREIGN_ERROR = 0.3

export function estimateCorpus(question: EstimateQuestion): CorpusEstimate {
  const { rows, column, sample, badRows, maxTokens } = question
  const { tokensPerByte, relativeError } = ratioOf(question)
  const long = longTexts(question, tokensPerByte)
  const isCut = badRows === 'truncate'
  const empty = rows - column.filled
  const lines = column.filled - (isCut || long === undefined ? 0 : long.texts)
  const whole = question.isWhole
    ? sample.reduce(
        (sum, { tokens }) => sum + (isTooLong(tokens, maxTokens) ? (isCut ? (maxTokens ?? 0) : 0) : tokens),
        0,
      )
    : (column.bytes - (long?.bytes ?? 0)) * tokensPerByte +
      (isCut ? (long?.texts ?? 0) * (maxTokens ?? 0) : 0)
  // No text has fewer tokens than one.
  const tokens = Math.max(lines, Math.round(whole))
  return {
    lines,
    empty,
    tooLong: long?.texts,
    tokens,
    low: Math.max(lines, Math.floor(tokens * (1 - relativeError))),
    high: Math.ceil(tokens * (1 + relativeError)),
    basis: basisOf(question),
  }
}

function basisOf({ isWhole, isOwnTokenizer }: EstimateQuestion): TokenBasis {
  if (!isOwnTokenizer) return 'estimated'
  return isWhole ? 'counted' : 'sampled'
}

function isTooLong(tokens: number, maxTokens: number | undefined): boolean {
  return maxTokens !== undefined && tokens > maxTokens
}

/** Tokens for each byte, and the error of that ratio as a part of it. */
function ratioOf(question: EstimateQuestion): {
  readonly tokensPerByte: number
  readonly relativeError: number
} {
  const { sample } = question
  const bytes = sample.reduce((sum, text) => sum + text.bytes, 0)
  const tokens = sample.reduce((sum, text) => sum + text.tokens, 0)
  if (bytes === 0) return { tokensPerByte: 0, relativeError: 0 }
  const tokensPerByte = tokens / bytes
  if (basisOf(question) === 'estimated') return { tokensPerByte, relativeError: FOREIGN_ERROR }
  if (question.isWhole) return { tokensPerByte, relativeError: 0 }
  const squares = sample.reduce((sum, text) => sum + (text.tokens - tokensPerByte * text.bytes) ** 2, 0)
  const count = sample.length
  const standardError = Math.sqrt(squares / Math.max(1, count - 1) / count) / (bytes / count)
  return { tokensPerByte, relativeError: Math.min(1, (CONFIDENCE * standardError) / tokensPerByte) }
}

/** Undefined: only the upstream knows. */
function longTexts(
  { column, sample, isWhole, maxTokens }: EstimateQuestion,
  tokensPerByte: number,
): { readonly texts: number; readonly bytes: number } | undefined {
  if (maxTokens === undefined) return undefined
  // A token has at least one byte.
  if (column.longestBytes <= maxTokens) return { texts: 0, bytes: 0 }
  if (isWhole) {
    const long = sample.filter(({ tokens }) => tokens > maxTokens)
    return { texts: long.length, bytes: long.reduce((sum, text) => sum + text.bytes, 0) }
  }
  const mostBytes = tokensPerByte === 0 ? Infinity : maxTokens / tokensPerByte
  let [texts, bytes] = [0, 0]
  for (const step of column.lengths) {
    const width = Math.max(1, step.belowBytes - step.fromBytes)
    const share = Math.min(1, Math.max(0, (step.belowBytes - mostBytes) / width))
    texts += step.texts * share
    bytes += step.bytes * share
  }
  return { texts: Math.round(texts), bytes }
}

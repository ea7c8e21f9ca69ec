/** The results of a chunk as one blob: a head that says what is in it, the output lines, the error lines. */
import type { ChunkCounts, LineRange, PartPlace } from './chunk.ts'
import type { MadeVectors } from '../embedding/made-vectors.ts'
import { isRecord } from '../text/record.ts'

/** The lines of its chunk that a part covers. */
export interface PartRanges {
  /**
   * The lines that are done. Undefined: all of the chunk, or all but `rest` at its end (as an earlier version wrote it).
   */
  readonly done: LineRange | undefined
  /** The lines that are not done. Undefined: there are none. */
  readonly rest: LineRange | undefined
}

export interface PartHead extends PartRanges {
  readonly counts: ChunkCounts
  readonly outputBytes: number
  readonly errorBytes: number
  /** The deployments that made its vectors. */
  readonly made: readonly MadeVectors[]
}

/** As written: JSON has no integers of arbitrary size. */
interface WrittenHead extends Omit<PartHead, 'counts' | 'made' | 'done'> {
  readonly done?: LineRange
  readonly made?: PartHead['made']
  readonly counts: Omit<ChunkCounts, 'costNanoUsd' | 'faults' | 'outputTokens'> & {
    readonly costNanoUsd: string
    readonly outputTokens?: number
    readonly faults?: ChunkCounts['faults']
  }
}

/** ASCII text, or bytes. */
export type Piece = string | Uint8Array

/** The name contains the holder's token, so the part of a replaced holder is never taken for another's. */
export function partName(batchId: string, chunk: number, token: number): string {
  return `${partPrefix(batchId, chunk)}${token}`
}

export function partPrefix(batchId: string, chunk: number): string {
  return `${batchPrefix(batchId)}${chunk}-`
}

export function batchPrefix(batchId: string): string {
  return `batches/${batchId}/`
}

/** The token of the holder that wrote this part. Undefined when the name is no part of this chunk. */
export function tokenIn(name: string, batchId: string, chunk: number): number | undefined {
  const prefix = partPrefix(batchId, chunk)
  const digits = name.startsWith(prefix) ? name.slice(prefix.length) : ''
  return /^[1-9]\d{0,8}$/.test(digits) ? Number(digits) : undefined
}

export function headText({ counts, ...rest }: PartHead): string {
  return `${JSON.stringify({ ...rest, counts: { ...counts, costNanoUsd: String(counts.costNanoUsd) } })}\n`
}

/** The head is the first line of a part. */
export function headIn(text: string): PartHead {
  const head = JSON.parse(text) as unknown
  if (!isRecord(head) || !isRecord(head['counts'])) throw new TypeError('a part of a batch has no head')
  const { counts, made = [], done, ...rest } = head as unknown as WrittenHead
  const { faults = {}, outputTokens = 0, costNanoUsd } = counts
  // Parts of an earlier version have fewer counts, and do not name their makers.
  return {
    ...rest,
    done,
    made,
    counts: { ...counts, faults, outputTokens, costNanoUsd: BigInt(costNanoUsd) },
  }
}

export function placeOf({ outputBytes, errorBytes }: PartHead, headBytes: number, token: number): PartPlace {
  return { token, headBytes, outputBytes, errorBytes }
}

/** Largest head, with every fault code and `MAX_MAKERS` in it: a reader looks no further for its end. */
export const MAX_HEAD_BYTES = 64 * 1024

/**
 * Makers of vectors after which nothing more of a chunk begins; its rest becomes another chunk. Running groups may still
 * add theirs, for which the head has space.
 */
export const MAX_MAKERS = 24

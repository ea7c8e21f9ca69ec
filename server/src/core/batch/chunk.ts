/** Some consecutive lines of an input file, and what came of them. */

export interface LineRange {
  readonly firstByte: number
  readonly bytes: number
  /** Counts from 1. */
  readonly firstLine: number
  readonly lines: number
}

/** What came of the lines of a chunk. */
export interface ChunkCounts {
  readonly completed: number
  readonly failed: number
  /** Of those that failed: their time was up. */
  readonly expired: number
  readonly tokens: number
  /** Of the tokens: those of the answers. Texts have none, pictures have. */
  readonly outputTokens: number
  readonly costNanoUsd: bigint
  /** Those that failed, by the code of the fault. */
  readonly faults: Readonly<Record<string, number>>
}

/** Nothing came of them yet. */
export const NOTHING: ChunkCounts = {
  completed: 0,
  failed: 0,
  expired: 0,
  tokens: 0,
  outputTokens: 0,
  costNanoUsd: 0n,
  faults: {},
}

/** The file of the lines is gone: there is nothing that could be run. */
export function withoutInput(lines: number): ChunkCounts {
  return { ...NOTHING, failed: lines, faults: { not_found: lines } }
}

/** Where the results of a chunk lie: in one blob, the output lines after its head, the error lines after these. */
export interface PartPlace {
  /** Of the holder that wrote it: a part of its name. */
  readonly token: number
  readonly headBytes: number
  readonly outputBytes: number
  readonly errorBytes: number
}

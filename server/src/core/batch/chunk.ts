/** Some lines of an input file, and their results. */

export interface LineRange {
  readonly firstByte: number
  readonly bytes: number
  /** Counts from 1. */
  readonly firstLine: number
  /** Number of lines in the chunk. */
  readonly lines: number
  /** Lines between its first and its last byte that do not belong to it: a bitmap in base64, over the lines that are not blank. */
  readonly without?: string | undefined
}

/** Counts of the lines of a chunk by outcome. */
export interface ChunkCounts {
  readonly completed: number
  readonly failed: number
  /** Failed lines whose batch ran out of time. */
  readonly expired: number
  /** Tokens of calls of an earlier version, which wrote no batch into the ledger. The ledger counts all others. */
  readonly tokens: number
  readonly costNanoUsd: bigint
  /** Tokens of the answers. Texts have none, images have. */
  readonly outputTokens: number
  /** Failed lines, by the code of the fault. */
  readonly faults: Readonly<Record<string, number>>
}

/** The counts before any line has ended. */
export const NOTHING: ChunkCounts = {
  completed: 0,
  failed: 0,
  expired: 0,
  tokens: 0,
  outputTokens: 0,
  costNanoUsd: 0n,
  faults: {},
}

/** The counts when the input file is gone and no line can run. */
export function withoutInput(lines: number): ChunkCounts {
  return { ...NOTHING, failed: lines, faults: { not_found: lines } }
}

/** The place of a chunk's results: one blob that holds a head, the output lines, and then the error lines. */
export interface PartPlace {
  /** Token of the holder that wrote it: it is in the blob's name. */
  readonly token: number
  readonly headBytes: number
  readonly outputBytes: number
  readonly errorBytes: number
}

/** A line that is not blank, with its offset from the beginning of the range. */
export interface PlacedLine {
  readonly firstByte: number
  /** Counts from 0, blank lines included. */
  readonly number: number
}

/** The lines that belong to a range. `within`: all lines that are not blank between its first and its last byte. */
export function partOf<Line>(
  { without }: Pick<LineRange, 'without'>,
  within: readonly Line[],
): readonly Line[] {
  if (without === undefined) return within
  const bits = Uint8Array.fromBase64(without)
  return within.filter((_, index) => ((bits[index >> 3] ?? 0) & (1 << (index & 7))) === 0)
}

/**
 * Some lines of a range as a new range from the first to the last of them. Undefined when there are none. `within`: as for
 * `partOf`.
 */
export function rangeOfLines(
  range: LineRange,
  within: readonly PlacedLine[],
  isIn: (line: PlacedLine) => boolean,
): LineRange | undefined {
  const first = within.findIndex(isIn)
  if (first === -1) return undefined
  const end = within.findLastIndex(isIn) + 1
  const { firstByte, number } = within[first] as PlacedLine
  const endByte = within[end]?.firstByte ?? range.bytes
  const spanned = within.slice(first, end)
  const bits = new Uint8Array(Math.ceil(spanned.length / 8))
  let others = 0
  for (const [index, line] of spanned.entries()) {
    if (isIn(line)) continue
    others += 1
    bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7))
  }
  return {
    firstByte: range.firstByte + firstByte,
    bytes: endByte - firstByte,
    firstLine: range.firstLine + number,
    lines: spanned.length - others,
    ...(others > 0 && { without: bits.toBase64() }),
  }
}

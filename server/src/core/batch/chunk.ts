/** Some lines of an input file, and what came of them. */

export interface LineRange {
  readonly firstByte: number
  readonly bytes: number
  /** Counts from 1. */
  readonly firstLine: number
  /** How many are part of it. */
  readonly lines: number
  /** Lines between its first and its last byte that are not part of it: a bitmap in base64, of the lines that are not blank. */
  readonly without?: string | undefined
}

/** What came of the lines of a chunk. */
export interface ChunkCounts {
  readonly completed: number
  readonly failed: number
  /** Of those that failed: their time was up. */
  readonly expired: number
  /** Used by calls of an earlier version, which wrote no batch into the ledger. The ledger counts all others. */
  readonly tokens: number
  readonly costNanoUsd: bigint
  /** Tokens of the answers. Texts have none, images have. */
  readonly outputTokens: number
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

/** A line that is not blank, with its place from the beginning of the range. */
export interface PlacedLine {
  readonly firstByte: number
  /** Counts from 0, blank lines included. */
  readonly number: number
}

/** The lines that are part of a range. `within`: all that are not blank between its first and its last byte. */
export function partOf<Line>(
  { without }: Pick<LineRange, 'without'>,
  within: readonly Line[],
): readonly Line[] {
  if (without === undefined) return within
  const bits = Uint8Array.fromBase64(without)
  return within.filter((_, index) => ((bits[index >> 3] ?? 0) & (1 << (index & 7))) === 0)
}

/**
 * Some lines of a range as a range of their own, which begins with the first and ends with the last of them. Undefined: there are
 * none. `within`: as for `partOf`.
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

/** The lines that differ between two texts: Myers' shortest edit script. */

export interface DiffLine {
  readonly op: ' ' | '+' | '-'
  /** Its index before. Of an added line: that of the line that follows it. */
  readonly before: number
  /** Its index after. Of a removed line: that of the line that follows it. */
  readonly after: number
}

/** Removed and added lines that are compared one by one. Beyond, the whole part between equal ends counts as replaced. */
const MAX_EDITS = 1000

export function lineDiff(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end += 1
  const same = (from: number, to: number, shift: number): DiffLine[] =>
    Array.from({ length: to - from }, (_, index) => ({
      op: ' ' as const,
      before: from + index,
      after: from + index + shift,
    }))
  const middle = edits(before.slice(start, before.length - end), after.slice(start, after.length - end))
  return [
    ...same(0, start, 0),
    ...middle.map((line) => ({ ...line, before: line.before + start, after: line.after + start })),
    ...same(before.length - end, before.length, after.length - before.length),
  ]
}

function edits(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const most = Math.min(before.length + after.length, MAX_EDITS)
  /** The furthest line before that each diagonal reaches, for each number of edits. */
  const traces: Map<number, number>[] = []
  let furthest = new Map([[1, 0]])
  for (let count = 0; count <= most; count += 1) {
    traces.push(furthest)
    furthest = new Map(furthest)
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      let x = comesFromAbove(furthest, diagonal, count)
        ? (furthest.get(diagonal + 1) ?? 0)
        : (furthest.get(diagonal - 1) ?? 0) + 1
      let y = x - diagonal
      while (x < before.length && y < after.length && before[x] === after[y]) {
        x += 1
        y += 1
      }
      furthest.set(diagonal, x)
      if (x >= before.length && y >= after.length) return walked(traces, before.length, after.length)
    }
  }
  return [
    ...before.map((_, index) => ({ op: '-' as const, before: index, after: 0 })),
    ...after.map((_, index) => ({ op: '+' as const, before: before.length, after: index })),
  ]
}

function comesFromAbove(furthest: ReadonlyMap<number, number>, diagonal: number, count: number): boolean {
  if (diagonal === -count) return true
  if (diagonal === count) return false
  return (furthest.get(diagonal - 1) ?? 0) < (furthest.get(diagonal + 1) ?? 0)
}

function walked(traces: readonly Map<number, number>[], width: number, height: number): readonly DiffLine[] {
  const lines: DiffLine[] = []
  let [x, y] = [width, height]
  for (const [count, furthest] of [...traces.entries()].toReversed()) {
    const diagonal = x - y
    const previous = comesFromAbove(furthest, diagonal, count) ? diagonal + 1 : diagonal - 1
    const beforeX = furthest.get(previous) ?? 0
    const beforeY = beforeX - previous
    while (x > beforeX && y > beforeY) {
      x -= 1
      y -= 1
      lines.push({ op: ' ', before: x, after: y })
    }
    if (count === 0) break
    lines.push(
      x === beforeX ? { op: '+', before: x, after: beforeY } : { op: '-', before: beforeX, after: y },
    )
    x = beforeX
    y = beforeY
  }
  return lines.toReversed()
}

/** Stacked columns as plain numbers: which part begins and ends where. Pure, tested. */

export interface Part {
  readonly series: number
  readonly from: number
  readonly to: number
}

/** Parts of each column, from below; nothing is drawn for nothing. */
export function stacked(columns: readonly (readonly number[])[]): readonly (readonly Part[])[] {
  return columns.map((values) => {
    const parts: Part[] = []
    let from = 0
    for (const [series, value] of values.entries()) {
      if (!(value > 0)) continue
      parts.push({ series, from, to: from + value })
      from += value
    }
    return parts
  })
}

export function tallest(columns: readonly (readonly number[])[]): number {
  return Math.max(0, ...columns.map((values) => values.reduce((sum, value) => sum + Math.max(0, value), 0)))
}

/** Tokens an upstream charged for. Unknown is a kind, so that nobody can add it up as zero. */
export type Usage =
  | { readonly kind: 'measured'; readonly tokens: number }
  | { readonly kind: 'estimated'; readonly tokens: number }
  | { readonly kind: 'unknown' }

/**
 * Divides a total among shares in proportion to their weights by largest remainder, so that the parts sum exactly to the
 * total. Ties go to the earlier share, which makes the result a function of its arguments alone.
 */
export function divideTokens(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0)
  if (weights.length === 0) return []
  if (sum === 0)
    return divideTokens(
      total,
      weights.map(() => 1),
    )
  const exact = weights.map((weight) => (total * weight) / sum)
  const parts = exact.map(Math.floor)
  const missing = total - parts.reduce((a, b) => a + b, 0)
  const byRemainder = exact.map((value, index) => ({ index, remainder: value - Math.floor(value) }))
  byRemainder.sort((a, b) => b.remainder - a.remainder || a.index - b.index)
  for (const { index } of byRemainder.slice(0, missing)) parts[index] = (parts[index] ?? 0) + 1
  return parts
}

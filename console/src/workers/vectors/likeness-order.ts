/**
 * An order in which alike texts stand together: average-linkage clustering by chains of nearest neighbours, in the square of
 * the number of texts. Where two clusters meet, both are turned so that the texts that touch are the most alike.
 */

export function likenessOrder(cosines: Float64Array, count: number): Int32Array {
  if (count === 0) return new Int32Array(0)
  const between = new Float64Array(cosines)
  const leaves: (number[] | undefined)[] = Array.from({ length: count }, (_, one) => [one])
  const chain: number[] = []
  for (let merges = 1; merges < count; merges++) {
    if (chain.length === 0) chain.push(leaves.findIndex((one) => one !== undefined))
    for (;;) {
      const top = chain.at(-1)!
      const previous = chain.at(-2)
      const next = mostLike(between, leaves, top, previous)
      if (next === previous) break
      chain.push(next)
    }
    const [second, first] = [chain.pop()!, chain.pop()!]
    merge(between, leaves, Math.min(first, second), Math.max(first, second), cosines)
  }
  return Int32Array.from(leaves.find((one) => one !== undefined) ?? [])
}

/** Of equals the one before in the chain, so that a chain always ends; else the first. */
function mostLike(
  between: Float64Array,
  leaves: readonly (readonly number[] | undefined)[],
  of: number,
  previous: number | undefined,
): number {
  const count = leaves.length
  let [best, who] =
    previous === undefined ? [Number.NEGATIVE_INFINITY, -1] : [between[of * count + previous]!, previous]
  for (let other = 0; other < count; other++)
    if (other !== of && leaves[other] !== undefined && between[of * count + other]! > best) {
      best = between[of * count + other]!
      who = other
    }
  return who
}

function merge(
  between: Float64Array,
  leaves: (number[] | undefined)[],
  into: number,
  gone: number,
  cosines: ArrayLike<number>,
): void {
  const count = leaves.length
  const [one, other] = [leaves[into]!, leaves[gone]!]
  const all = one.length + other.length
  for (let third = 0; third < count; third++) {
    if (third === into || third === gone || leaves[third] === undefined) continue
    const average =
      (between[into * count + third]! * one.length + between[gone * count + third]! * other.length) / all
    between[into * count + third] = average
    between[third * count + into] = average
  }
  leaves[into] = joined(one, other, (a, b) => cosines[a * count + b]!)
  leaves[gone] = undefined
}

function joined(one: number[], other: number[], likeness: (a: number, b: number) => number): number[] {
  const ways = [
    [one, other],
    [one, other.toReversed()],
    [one.toReversed(), other],
    [one.toReversed(), other.toReversed()],
  ] as const
  let best: readonly [number[], number[]] = ways[0]
  const touching = ([left, right]: readonly [number[], number[]]): number => likeness(left.at(-1)!, right[0]!)
  for (const way of ways) if (touching(way) > touching(best)) best = way
  return [...best[0], ...best[1]]
}

/** The nearest neighbours of each vector, and how many of them stay at another width. */

/** What people look at in a list of results. */
export const NEIGHBOURS = 10

/** For each text the places of its nearest, nearest first; of equals the one that was typed first. */
export function nearestOf(cosines: ArrayLike<number>, count: number, wanted = NEIGHBOURS): Int32Array {
  const kept = Math.min(wanted, Math.max(0, count - 1))
  const nearest = new Int32Array(count * kept)
  if (kept === 0) return nearest
  const best = new Float64Array(kept)
  const who = new Int32Array(kept)
  for (let row = 0; row < count; row++) {
    best.fill(Number.NEGATIVE_INFINITY)
    for (let column = 0; column < count; column++) {
      const cosine = cosines[row * count + column]!
      if (column === row || cosine <= best[kept - 1]!) continue
      let at = kept - 1
      for (; at > 0 && cosine > best[at - 1]!; at--) {
        best[at] = best[at - 1]!
        who[at] = who[at - 1]!
      }
      best[at] = cosine
      who[at] = column
    }
    nearest.set(who, row * kept)
  }
  return nearest
}

/** For each text, which share of its nearest in `one` is also in `other`. */
export function keptOf(one: Int32Array, other: Int32Array, count: number): Float64Array {
  const kept = count === 0 ? 0 : one.length / count
  return Float64Array.from({ length: count }, (_, row) => {
    if (kept === 0) return 1
    const others = other.subarray(row * kept, (row + 1) * kept)
    let same = 0
    for (let at = row * kept; at < (row + 1) * kept; at++) if (others.includes(one[at]!)) same++
    return same / kept
  })
}

export function meanOf(shares: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < shares.length; i++) sum += shares[i]!
  return shares.length === 0 ? 1 : sum / shares.length
}

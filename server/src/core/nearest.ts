/** Longer names are compared by their beginning: the distance is quadratic, and a caller chooses the length. */
const MAX_COMPARED = 100

/** The candidate most like the word, if one is like enough to be meant: at most a third of it differs. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Math.floor(Math.min(word.length, MAX_COMPARED) / 3) + 1
  for (const candidate of candidates) {
    const distance = editDistance(word.slice(0, MAX_COMPARED), candidate.slice(0, MAX_COMPARED))
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Levenshtein: insertions, deletions and substitutions. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] as number) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(
        Math.min(substitution, (previous[column] as number) + 1, (current[column - 1] as number) + 1),
      )
    }
    previous = current
  }
  return previous[b.length] as number
}

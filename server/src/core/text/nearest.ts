/**
 * Compared characters: the distance is quadratic, and a caller chooses the length, so longer names are compared by their
 * beginning.
 */
const MAX_COMPARED = 100

/**
 * The candidate most similar to the word, if it is similar enough to be meant. A third of the letters wrong is still a
 * typo, and so is one letter of a short word; more is another word.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const start = word.slice(0, MAX_COMPARED)
  const plain = plainForm(start)
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(start.length / 3)) + 1
  for (const candidate of candidates) {
    const other = candidate.slice(0, MAX_COMPARED)
    const distance = plainForm(other) === plain ? 0 : editDistance(start, other)
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** `base_url`, `base-url` and `baseURL` are all meant as `baseUrl`. */
function plainForm(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, '')
}

/** Insertions, deletions, replacements and swapped neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1]
      let distance = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + (isSame ? 0 : 1),
      )
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        distance = Math.min(distance, (beforeLast[column - 2] as number) + 1)
      current.push(distance)
    }
    beforeLast = last
    last = current
  }
  return last[b.length] as number
}

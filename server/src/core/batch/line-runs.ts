/** Line numbers as runs: the first and the last line of each. */
export type LineRuns = readonly (readonly [first: number, last: number])[]

export function runsOf(numbers: Iterable<number>): LineRuns {
  const runs: [number, number][] = []
  for (const number of [...new Set(numbers)].sort((one, other) => one - other)) {
    const last = runs.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else runs.push([number, number])
  }
  return runs
}

/** Whether the runs, in any order, hold a line. Cheap to ask often. */
export function isInRuns(runs: LineRuns): (number: number) => boolean {
  const sorted = runs.toSorted(([one], [other]) => one - other)
  return (number) => {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sorted[middle]?.[1] ?? 0) < number) low = middle + 1
      else high = middle
    }
    return (sorted[low]?.[0] ?? Infinity) <= number
  }
}

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

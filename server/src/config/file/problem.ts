/** How everything that is wrong with a configuration is told: all of it at once, each with its place. */

export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** Steps from the root of a file to a value: keys of mappings and indexes of lists. */
export type Path = readonly (string | number)[]

/** Collects what is wrong with one file. */
export interface Report {
  /** The first problem of a path stands: what is found there later is a consequence of it. */
  problem(path: Path, message: string, at?: 'value' | 'key'): void
  /** Something that works and is probably not meant. */
  warning(path: Path, message: string): void
  /** Whether a problem was found at this path or below it, so that what follows from it need not be told. */
  isBroken(path: Path): boolean
  /** Where the value stands, e.g. `torana.yaml:14`. */
  place(path: Path): string
  problems(): string[]
  warnings(): string[]
}

/** `models.house-embed.deployments[0].upstream`; keys that would blur the path are quoted. */
export function pathText(path: Path): string {
  return path
    .map((step) => {
      if (typeof step === 'number') return `[${step}]`
      return /[.[\]"\s]/.test(step) || step === '' ? `[${JSON.stringify(step)}]` : `.${step}`
    })
    .join('')
    .replace(/^\./, '')
}

/** ` Did you mean x?`, or nothing when no candidate is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const plain = plainForm(word)
  let best: string | undefined
  // A third of the letters wrong is still a typing error; more is another word.
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = plainForm(candidate) === plain ? 0 : editDistance(word, candidate)
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best === undefined ? '' : ` Did you mean ${best}?`
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
      const same = a[row - 1] === b[column - 1]
      let distance = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      )
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, (beforeLast[column - 2] ?? 0) + 1)
      }
      current.push(distance)
    }
    ;[beforeLast, last] = [last, current]
  }
  return last[b.length] ?? 0
}

/** `float or base64`, `a, b or c`. */
export function anyOf(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** How the problems of a configuration are reported: all at once, each with its place. */
import { nearest } from '#core/text/nearest.ts'

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

/** Collects the problems of one file. */
export interface Report {
  /** The first problem of a path counts: later ones there are its consequences. */
  problem(path: Path, message: string, at?: 'value' | 'key'): void
  /** Something that works and is probably not meant. */
  warning(path: Path, message: string): void
  /** Whether a problem was found at this path or below it, so that its consequences need not be reported. */
  isBroken(path: Path): boolean
  /** The place of the value, e.g. `torana.yaml:14`. */
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

/** A report for values outside of a file; `place` is the place of everything. */
export function plainReport(place: string): Report {
  const problems = new Map<string, string>()
  const warnings: string[] = []
  return {
    problem(path, message) {
      const where = pathText(path)
      if (!problems.has(where)) problems.set(where, `${where}: ${message}`)
    },
    warning: (path, message) => void warnings.push(`${pathText(path)}: ${message}`),
    isBroken: (path) => problems.keys().some((broken) => broken.startsWith(pathText(path))),
    place: () => place,
    problems: () => [...problems.values()],
    warnings: () => warnings,
  }
}

/** ` Did you mean x?`, or nothing when no candidate is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = nearest(word, candidates)
  return near === undefined ? '' : ` Did you mean ${near}?`
}

/** `float or base64`, `a, b or c`. */
export function anyOf(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

import { lookUp, reasonOf, type Environment, type ReadFile } from './file/variable.ts'
import { environmentVariables, type Variable } from './variables.ts'

export type Name = keyof typeof environmentVariables
export type NameWithDefault = {
  [Each in Name]: (typeof environmentVariables)[Each] extends { readonly default: string } ? Each : never
}[Name]

/** The variables, and their problems. */
export class Variables {
  readonly #env: Environment
  readonly #readFile: ReadFile
  readonly problems = new Set<string>()

  constructor(env: Environment, readFile: ReadFile) {
    this.#env = env
    this.#readFile = readFile
  }

  /** An empty variable counts as unset: compose files and charts pass empty ones along. */
  given(name: Name): string | undefined {
    const { secret }: Variable = environmentVariables[name]
    const found = secret ? lookUp(name, this.#env, this.#readFile) : { value: this.#env[name] }
    if ('value' in found) return found.value || undefined
    this.problems.add(found.problem)
    return undefined
  }

  /** As `given`, also in lower case. */
  givenInEitherCase(name: Name): string | undefined {
    return this.given(name) ?? (this.#env[name.toLowerCase()] || undefined)
  }

  text(name: NameWithDefault): string {
    return this.given(name) ?? environmentVariables[name].default
  }

  /** Why a file can't be read; undefined: it can. */
  unreadable(file: string): string | undefined {
    try {
      this.#readFile(file)
      return undefined
    } catch (error) {
      return reasonOf(error)
    }
  }

  refuse(name: string, problem: string): void {
    this.problems.add(`${name}: ${problem}`)
  }
}

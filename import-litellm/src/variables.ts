/** The environment variables that the new file refers to. Secrets stand in none of the files but the one made for them. */
import { printable, type Place } from './notes.ts'

export interface Variable {
  readonly name: string
  /** Where its value stands or where it was used; absent: it is LiteLLM's own default. */
  readonly place: Place | undefined
  /** Known when it was written down in what was imported. */
  readonly value: string | undefined
  /** What the operator has to find out or look at; absent: LiteLLM's environment has it already. */
  readonly wanted: string | undefined
  /** A value of the right form, to try the new file with. */
  readonly example: string
}

export interface Written {
  readonly value: string
  readonly place: Place
}

export class Variables {
  readonly #variables = new Map<string, Variable>()
  readonly #written: ReadonlyMap<string, Written>
  readonly #reserved: ReadonlySet<string>

  /** `written` holds what LiteLLM sets itself; `reserved` the names that already mean something. */
  constructor(written: ReadonlyMap<string, Written>, reserved: ReadonlySet<string>) {
    this.#written = written
    this.#reserved = reserved
  }

  /** A variable that LiteLLM reads too. `wanted` says what its value must be like. */
  reference(original: string, place?: Place, example?: string, wanted?: string): string {
    const name = variableName(original)
    const { value, place: writtenAt } = this.#written.get(original) ?? {}
    const renamed = name === original ? wanted : `the value of ${printable(original)}`
    return this.#add({ name, place: writtenAt ?? place, value, wanted: renamed, example })
  }

  /** A secret that stands in the imported file. Its name is a new one: OPENAI_API_KEY may be set to another value. */
  secret(wish: string, value: string, place: Place): string {
    const known = [...this.#variables.values()].find((variable) => variable.value === value)
    return known ? `\${${known.name}}` : this.#add({ name: this.#free(`LITELLM_${wish}`), place, value })
  }

  /** Something that the imported file does not tell. */
  ask(wish: string, wanted: string, place: Place, example: string): string {
    return this.#add({ name: this.#free(wish), place, wanted, example })
  }

  all(): readonly Variable[] {
    return [...this.#variables.values()]
  }

  #add(
    given: Pick<Variable, 'name' | 'place'> & {
      [Field in 'value' | 'wanted' | 'example']?: string | undefined
    },
  ): string {
    const { name, place, value, wanted } = given
    const known = this.#variables.get(name)
    const secret = `example-${String(this.#variables.size).padStart(24, '0')}`
    // One variable may stand in several places: an example made for one of them says more than any text.
    const example = given.example ?? known?.example ?? secret
    this.#variables.set(name, { ...(known ?? { name, place, value, wanted }), example })
    return `\${${name}}`
  }

  #free(wish: string): string {
    const name = variableName(wish).toUpperCase()
    const isTaken = (candidate: string) => this.#reserved.has(candidate) || this.#variables.has(candidate)
    if (!isTaken(name)) return name
    let number = 2
    while (isTaken(`${name}_${number}`)) number += 1
    return `${name}_${number}`
  }
}

/** Letters, digits and underscores: all that a reference may hold. */
function variableName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_]+/g, '_').replace(/^(?=\d|$)/, '_')
}

export interface EnvironmentFile {
  readonly text: string
  /** Variables whose value no form of quoting carries through every reader of such files. */
  readonly unwritten: readonly string[]
}

/** `NAME=value` lines that shells, Node (`--env-file`) and compose files read alike. */
export function environmentFile(variables: readonly Variable[]): EnvironmentFile {
  const lines = variables.flatMap(({ name, value }) => {
    const quoted = value === undefined ? undefined : quote(value)
    return quoted === undefined ? [] : [`${name}=${quoted}\n`]
  })
  const unwritten = variables.filter(({ value }) => value !== undefined && quote(value) === undefined)
  return { text: lines.join(''), unwritten: unwritten.map(({ name }) => name) }
}

function quote(value: string): string | undefined {
  if (/^[\w./:@%+=,-]+$/.test(value)) return value
  if (!value.includes("'")) return `'${value}'`
  return /["$`\\!]/.test(value) ? undefined : `"${value}"`
}

/** The report of an import, on standard error. */
import type { Notes } from './notes.ts'
import { printable } from './notes.ts'
import type { ToranaFile } from './torana-file.ts'
import type { Variable } from './variables.ts'

export interface Outcome {
  readonly file: ToranaFile
  readonly notes: Notes
  readonly variables: readonly Variable[]
  /** Where the values that were written down went; undefined: nowhere. */
  readonly secretsFile: string | undefined
  readonly unwritten: readonly string[]
  /** What `torana check` will say. */
  readonly problems: readonly string[]
}

export function reportText(outcome: Outcome): string {
  const { file, notes, problems } = outcome
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['Not carried over:', notes.left()],
    ['Carried over, please look at it:', notes.mentioned()],
    ['Set before you start:', variableLines(outcome)],
    ['`torana check` will refuse the file:', problems.map((problem) => `  ${printable(problem)}`)],
  ]
  const written = sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `${title}\n${lines.join('\n')}\n`)
  return [countsLine(file), ...written].join('\n')
}

function countsLine({ upstreams, models, masterKey }: ToranaFile): string {
  const deployments = [...models.values()].reduce((sum, model) => sum + model.deployments.length, 0)
  const counts = [
    count(models.size, 'model'),
    count(deployments, 'deployment'),
    count(upstreams.size, 'upstream'),
    count(masterKey ? 1 : 0, 'key'),
  ]
  const warning = masterKey === undefined ? 'Without any key nobody gets in: see `torana key`.\n' : ''
  return `Carried over: ${counts.join(', ')}.\n${warning}`
}

function variableLines(outcome: Outcome): string[] {
  const { variables } = outcome
  const width = Math.max(0, ...variables.map(({ name }) => name.length))
  return variables.map((variable) => `  ${variable.name.padEnd(width)}  ${sourceOf(variable, outcome)}`)
}

/** Where its value comes from, or what it must be. */
function sourceOf({ name, place, value, wanted }: Variable, { secretsFile, unwritten }: Outcome): string {
  if (value === undefined) {
    const what = wanted === undefined ? "as in LiteLLM's environment" : printable(wanted)
    return place === undefined ? what : `${what} (${place})`
  }
  if (secretsFile === undefined) return `its value stands in ${place}`
  if (!unwritten.includes(name)) return `is in ${secretsFile}`
  return `its value stands in ${place}, and has characters that such a file can not hold`
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}

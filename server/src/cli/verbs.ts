/** `torana <noun> <verb> …`: finds the verb, reads its options and talks to the node. */
import { readFileSync } from 'node:fs'
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { CommandProblem, openControl, type ControlClient } from './control-client.ts'
import type { Output } from './output.ts'

export interface Call {
  readonly control: ControlClient
  /** What stands behind the verb. */
  readonly target: string
  /** Undefined when it was not given. */
  readonly text: (option: string) => string | undefined
  readonly flag: (option: string) => boolean
  readonly out: Output
}

export interface Verb {
  /** What follows the verb, for the usage text. */
  readonly takes: string
  readonly says: string
  readonly target: 'required' | 'none'
  readonly options: ParseArgsOptionsConfig
  readonly run: (call: Call) => Promise<void>
}

const EVERYWHERE: ParseArgsOptionsConfig = { url: { type: 'string' } }

export async function runVerb(
  noun: string,
  verbs: Readonly<Record<string, Verb>>,
  [name = '', ...argv]: readonly string[],
  out: Output,
): Promise<number> {
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined
  if (verb === undefined) {
    const isAsked = name === '' || name === '--help' || name === '-h' || name === 'help'
    out.stderr.write(
      isAsked ? usage(noun, verbs) : `torana ${noun}: unknown command '${name}'.\n\n${usage(noun, verbs)}`,
    )
    return isAsked && name !== '' ? 0 : 2
  }
  const parsed = parse(argv, verb)
  if (parsed instanceof Error || parsed.positionals.length !== (verb.target === 'required' ? 1 : 0)) {
    if (parsed instanceof Error) out.stderr.write(`torana ${noun} ${name}: ${parsed.message}\n`)
    out.stderr.write(`usage: torana ${noun} ${name} ${verb.takes}\n`)
    return 2
  }
  const { values, positionals } = parsed
  const text = (option: string): string | undefined => {
    const value = values[option]
    return typeof value === 'string' ? value : undefined
  }
  try {
    const control = openControl(text('url'), process.env, process.cwd())
    const [target = ''] = positionals
    await verb.run({ control, target, text, flag: (option) => values[option] === true, out })
    return 0
  } catch (error) {
    if (!(error instanceof CommandProblem)) throw error
    out.stderr.write(`torana ${noun} ${name}: ${error.message}\n`)
    return 1
  }
}

function parse(argv: readonly string[], verb: Verb) {
  try {
    return parseArgs({
      args: [...argv],
      options: { ...EVERYWHERE, ...verb.options },
      allowPositionals: true,
    })
  } catch (error) {
    return error as Error
  }
}

function usage(noun: string, verbs: Readonly<Record<string, Verb>>): string {
  const lines = Object.entries(verbs).map(
    ([name, { says, takes }]) => `  torana ${noun} ${name} ${takes}\n      ${says}`,
  )
  return `${lines.join('\n')}\n\n--url <address>: the control port of the node. Default: the node of the data folder, by its socket.\n`
}

/** A secret from a file, or from standard input: on the command line every user of the machine could read it. */
export function readSecret(file: string): string {
  try {
    const secret = readFileSync(file === '-' ? 0 : file, 'utf8').trim()
    if (secret !== '') return secret
  } catch (error) {
    throw new CommandProblem(
      `${file === '-' ? 'Standard input' : file} cannot be read: ${(error as Error).message}`,
    )
  }
  throw new CommandProblem(`${file === '-' ? 'Standard input' : file} is empty.`)
}

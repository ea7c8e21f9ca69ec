/** Words of a command line → which command, and what it is given. */
import { parseArgs } from 'node:util'
import { anyOf, didYouMean } from '#config/file/problem.ts'
import {
  allOptions,
  Misuse,
  type Command,
  type Group,
  type Leaf,
  type Option,
  type Options,
} from './command.ts'

export interface Invocation {
  readonly kind: 'run'
  readonly path: readonly string[]
  readonly leaf: Leaf
  readonly given: readonly string[]
  readonly values: ReadonlyMap<string, string | true>
}

export interface HelpWanted {
  readonly kind: 'help'
  readonly path: readonly string[]
  readonly command: Command
}

const HELP = new Set(['--help', '-h', 'help'])

/** The command that is meant, and the words that are left for it. */
export interface Place {
  readonly path: readonly string[]
  /** A group only where its help is wanted. */
  readonly command: Command
  readonly rest: readonly string[]
}

/** Throws a `Misuse`. */
export function locate(found: Command, argv: readonly string[]): Place {
  const path = [found.name]
  if (!('subcommands' in found)) return { path, command: found, rest: argv }
  const [word = found.bare, ...rest] = argv
  if (HELP.has(word)) return { path, command: found, rest: ['--help'] }
  const isWord = !word.startsWith('-')
  const leaf = subcommand(found, isWord ? word : found.bare, path)
  return { path: [...path, leaf.name], command: leaf, rest: isWord ? rest : argv }
}

/** Throws a `Misuse`. */
export function read({ command, rest, path }: Place): Invocation | HelpWanted {
  return 'subcommands' in command ? { kind: 'help', path, command } : readLeaf(command, rest, path)
}

function subcommand({ subcommands }: Group, word: string, path: readonly string[]): Leaf {
  const found = subcommands.find(({ name }) => name === word)
  if (found !== undefined) return found
  const names = subcommands.map(({ name }) => name)
  throw new Misuse(
    `there is no command 'torana ${path.join(' ')} ${word}'.${didYouMean(word, names) || ` There are ${anyOf(names)}.`}`,
  )
}

function readLeaf(leaf: Leaf, argv: readonly string[], path: readonly string[]): Invocation | HelpWanted {
  const options = allOptions(leaf)
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      Object.entries(options).map(([name, { takes, short }]) => [
        name,
        { type: takes === undefined ? ('boolean' as const) : ('string' as const), ...(short && { short }) },
      ]),
    ),
    // Mistakes are reported by this file, in one voice.
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const named = tokens.filter((token) => token.kind === 'option')
  if (named.some(({ name }) => name === 'help')) return { kind: 'help', path, command: leaf }
  const values = new Map<string, string | true>()
  for (const token of named) values.set(token.name, valueOf(token, options))
  const given = tokens.filter((token) => token.kind === 'positional').map(({ value }) => value)
  checkArguments(leaf, given)
  return { kind: 'run', path, leaf, given, values }
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function valueOf({ name, rawName, value, inlineValue }: OptionToken, options: Options): string | true {
  const option: Option | undefined = Object.hasOwn(options, name) ? options[name] : undefined
  if (option === undefined) {
    const near = didYouMean(
      `--${name}`,
      Object.keys(options).map((one) => `--${one}`),
    )
    throw new Misuse(`there is no option ${rawName}.${near}`)
  }
  if (option.takes === undefined) {
    if (value !== undefined) throw new Misuse(`${rawName} takes no value.`)
    return true
  }
  if (value === undefined || (inlineValue === false && value.startsWith('--')))
    throw new Misuse(`${rawName} needs a value: ${rawName} ${option.takes}`)
  if (option.oneOf !== undefined && !option.oneOf.includes(value))
    throw new Misuse(
      `${rawName}: expected ${anyOf(option.oneOf)}, got "${value}".${didYouMean(value, option.oneOf)}`,
    )
  return value
}

function checkArguments(leaf: Leaf, given: readonly string[]): void {
  const missing = leaf.arguments.find(({ isOptional }, index) => !isOptional && index >= given.length)
  if (missing !== undefined) throw new Misuse(`${missing.name} is missing: ${missing.says}.`)
  if (leaf.arguments.at(-1)?.isMany) return
  const surplus = given[leaf.arguments.length]
  if (surplus !== undefined) throw new Misuse(`"${surplus}" is one word too many.`)
}

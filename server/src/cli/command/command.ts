/**
 * What a command is, declared once. Reading the command line, `--help`, "did you mean", completion and docs/cli.md all come
 * from the declaration. Declarations are loaded for all of these, so what takes long to load is imported when a command runs.
 */
import type { ControlClient } from '../client/control-client.ts'
import type { GatewayClient } from '../client/gateway-client.ts'
import type { Output } from './output.ts'

export interface Option {
  readonly says: string
  /** What stands behind it, such as `<n|none>`. Without it the option is a switch. */
  readonly takes?: string
  /** The only values it takes. */
  readonly oneOf?: readonly string[]
  readonly short?: string
  /** The variable that it counts before. */
  readonly variable?: string
}

export type Options = Readonly<Record<string, Option>>

interface Argument {
  /** As it stands in the usage line, such as `<project>/<name>`. */
  readonly name: string
  readonly says: string
  readonly isOptional?: true
  /** The last one only: takes all words that follow, too. */
  readonly isMany?: true
}

/** What a command was called with. */
export interface Call<Name extends string = string> {
  /** What stands in the places of the arguments, in their order. */
  readonly given: readonly string[]
  /** Undefined when it was not given. */
  readonly text: (option: Name) => string | undefined
  readonly flag: (option: Name) => boolean
  readonly isJson: boolean
  /** Whether `--url` names the node. */
  readonly isElsewhere: boolean
  /** The running node, by its control API. */
  readonly control: ControlClient
  /** Its public API, as a caller sees it. */
  readonly gateway: () => Promise<GatewayClient>
  readonly out: Output
  /** All commands, for those that tell of them. */
  readonly topics: readonly Topic[]
}

/** Commands that people look for together. */
export interface Topic {
  readonly title: string
  readonly commands: readonly Command[]
}

/** What a command has to say. */
export interface Shown {
  /** For `--json`. */
  readonly data: unknown
  /** For people, on standard output. */
  readonly text?: string
  /** Beside it, on standard error: what was done, so that a pipe gets the text alone. */
  readonly note?: string
  /** 0 unless given. */
  readonly exitCode?: number
}

interface Described {
  readonly name: string
  /** Begins in lower case, without a full stop: it stands in lists. */
  readonly summary: string
  /** What a person should know beside the options. */
  readonly more?: string
  /** Whole lines, each a command that works. */
  readonly examples?: readonly string[]
}

/** What a command asks beside its own options. */
type Reach =
  /** The control API: `--url` and `--token`. */
  | 'node'
  /** The public API, as a caller: `--url` and `--key`. */
  | 'gateway'
  /** Nothing that runs. */
  | 'none'

export interface Leaf extends Described {
  readonly arguments: readonly Argument[]
  readonly options: Options
  readonly reach: Reach
  /** Whether it prints something of its own form only, and so has no `--json`. */
  readonly isPlain: boolean
  readonly run: (call: Call) => Promise<Shown | number>
}

export interface Group extends Described {
  readonly subcommands: readonly Leaf[]
  /** What is meant when no subcommand is named. */
  readonly bare: string
}

export type Command = Leaf | Group

export interface LeafDeclaration<Name extends string> extends Described {
  readonly arguments?: readonly Argument[]
  readonly options?: Readonly<Record<Name, Option>>
  readonly reach: Reach
  readonly isPlain?: true
  /** A number is the exit code of a command that has written by itself. */
  readonly run: (call: Call<Name>) => Promise<Shown | number>
}

/** One command. The names of its options are known to its `run`. */
export function command<const Name extends string = never>(declared: LeafDeclaration<Name>): Leaf {
  return { arguments: [], isPlain: false, ...declared, options: declared.options ?? {} }
}

/** Commands about one thing; without a word more it lists. */
export function group(declared: Omit<Group, 'bare'> & { readonly bare?: string }): Group {
  return { bare: 'list', ...declared }
}

/** The command line can't be what was meant: exit code 2. */
export class Misuse extends Error {
  override readonly name = 'Misuse'
}

const EVERYWHERE: Options = { help: { short: 'h', says: 'show this text and do nothing' } }
const JSON_OPTION: Options = { json: { says: 'print JSON' } }
const REACH: Readonly<Record<Reach, Options>> = {
  node: {
    url: {
      takes: '<address>',
      says: 'the control port of the node. Default: the node of the data folder, by its socket',
    },
    token: {
      takes: '<token>',
      says: 'the admin token. Default: TORANA_ADMIN_TOKEN, or admin.token in the data folder. Other users of a machine can read command lines, so prefer the variable',
    },
  },
  gateway: {
    url: {
      takes: '<address>',
      says: 'the public API. Default: TORANA_BASE_URL, or HOST and PORT of this machine',
    },
    key: {
      takes: '<key>',
      says: 'the key to call with. Default: TORANA_KEY, or the demo key of the data folder. Other users of a machine can read command lines, so prefer the variable',
    },
  },
  none: {},
}

/** Its own options first. */
export function allOptions(leaf: Leaf): Options {
  return { ...leaf.options, ...(leaf.isPlain ? {} : JSON_OPTION), ...REACH[leaf.reach], ...EVERYWHERE }
}

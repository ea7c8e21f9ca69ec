/** What `--help` prints: one style for all commands. */
import { allOptions, type Command, type Leaf, type Options, type Topic } from './command.ts'

export function helpOf(found: Command, path: readonly string[]): string {
  if (!('subcommands' in found)) return leafHelp(found, path)
  const commands = found.subcommands.map(
    (leaf) => [usageOf(leaf, [...path, leaf.name]), leaf.summary] as const,
  )
  return parts(
    sentence(found.summary),
    ...commands.map(([usage, summary]) => `  ${usage}\n      ${summary}`),
    found.more,
    `Without a subcommand: torana ${path.join(' ')} ${found.bare}. Options of a subcommand: torana ${path.join(' ')} <subcommand> --help`,
  )
}

export function overview(topics: readonly Topic[]): string {
  const shown = topics.map(({ title, commands }) => {
    const rows = commands.map(({ name, summary }) => [name, summary] as const)
    return `${title}\n${rowsText(rows)}`
  })
  return parts(
    'Torana, a gateway for embeddings and images.',
    'usage: torana [<command>] [<options>]',
    ...shown,
    'torana <command> --help tells more. Exit codes: 0 done, 1 failed, 2 the command line is wrong.',
  )
}

/** `torana keys rotate <project>/<name> [--overlap <time>] …`, without the options that every command has. */
export function usageOf(leaf: Leaf, path: readonly string[]): string {
  const words = leaf.arguments.map(({ name, isOptional, isMany }) => {
    const word = isMany ? `${name} …` : name
    return isOptional ? `[${word}]` : word
  })
  const hasOptions = Object.keys(leaf.options).length > 0
  return ['torana', ...path, ...words, ...(hasOptions ? ['[<options>]'] : [])].join(' ')
}

function leafHelp(leaf: Leaf, path: readonly string[]): string {
  const { arguments: words, examples = [] } = leaf
  return parts(
    sentence(leaf.summary),
    `usage: ${usageOf(leaf, path)}`,
    words.length > 0 ? rowsText(words.map(({ name, says }) => [name, says])) : undefined,
    rowsText(optionRows(allOptions(leaf))),
    leaf.more,
    examples.length > 0 ? `Examples:\n${examples.map((line) => `  ${line}`).join('\n')}` : undefined,
  )
}

export function optionRows(options: Options): (readonly [string, string])[] {
  return Object.entries(options).map(([name, { takes, short, says, oneOf }]) => [
    [...(short ? [`-${short},`] : []), `--${name}`, ...(takes === undefined ? [] : [takes])].join(' '),
    oneOf === undefined || takes?.includes(oneOf[0] ?? '') ? says : `${says}: ${oneOf.join(', ')}`,
  ])
}

/** As wide as most terminals. */
const LINE_WIDTH = 100

/** Two columns; the second is wrapped. */
function rowsText(rows: readonly (readonly [string, string])[]): string {
  const width = Math.min(34, Math.max(...rows.map(([left]) => left.length)))
  return rows
    .map(([left, right]) => {
      const lines = wrapped(right, LINE_WIDTH - width - 4)
      const indent = `\n${' '.repeat(width + 4)}`
      return left.length > width
        ? `  ${left}${indent}${lines.join(indent)}`
        : `  ${left.padEnd(width)}  ${lines.join(indent)}`
    })
    .join('\n')
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

export function sentence(summary: string): string {
  return `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`
}

function parts(...texts: readonly (string | undefined)[]): string {
  return `${texts.filter((text) => text !== undefined).join('\n\n')}\n`
}

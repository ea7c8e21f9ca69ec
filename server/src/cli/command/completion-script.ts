/** Completion for shells: each place of a command line, and the words that may stand there. */
import { allOptions, type Command, type Leaf } from './command.ts'

type Shell = 'bash' | 'zsh' | 'fish'

interface Word {
  readonly word: string
  readonly says: string
}

export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return shell === 'bash' ? bash(commands) : shell === 'zsh' ? zsh(commands) : fish(commands)
}

/** What may follow each path: `''` → commands, `keys` → its subcommands and options, `keys list` → its options. */
function places(commands: readonly Command[]): ReadonlyMap<string, readonly Word[]> {
  const found = new Map<string, readonly Word[]>()
  found.set('', [...commands.map(({ name, summary }) => ({ word: name, says: summary })), HELP, VERSION])
  for (const command of commands) {
    if (!('subcommands' in command)) {
      found.set(command.name, optionWords(command))
      continue
    }
    const subcommands = command.subcommands.map(({ name, summary }) => ({ word: name, says: summary }))
    found.set(command.name, [...subcommands, HELP])
    for (const leaf of command.subcommands) found.set(`${command.name} ${leaf.name}`, optionWords(leaf))
  }
  return found
}

const HELP: Word = { word: '--help', says: 'show help' }
const VERSION: Word = { word: '--version', says: 'print the version' }

function optionWords(leaf: Leaf): readonly Word[] {
  return Object.entries(allOptions(leaf)).map(([name, { says }]) => ({ word: `--${name}`, says }))
}

/** The first two words tell the place; where nothing of Torana's can stand, the shell offers files. */
function bash(commands: readonly Command[]): string {
  const cases = [...places(commands)].map(
    ([path, words]) => `    "${path}") echo "${words.map(({ word }) => word).join(' ')}" ;;`,
  )
  return `# bash completion for torana
_torana_words() {
  case "$1" in
${cases.join('\n')}
  esac
}
_torana() {
  local first="" second="" words
  [ "$COMP_CWORD" -gt 1 ] && first="\${COMP_WORDS[1]}"
  [ "$COMP_CWORD" -gt 2 ] && second=" \${COMP_WORDS[2]}"
  words="$(_torana_words "$first$second")"
  [ -n "$words" ] || words="$(_torana_words "$first")"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _torana torana
`
}

function zsh(commands: readonly Command[]): string {
  const cases = [...places(commands)].map(([path, words]) => {
    const shown = words.map(({ word, says }) => `'${word}:${quoted(says)}'`).join(' ')
    return `    "${path}") found=(${shown}) ;;`
  })
  return `#compdef torana
_torana_words() {
  case "$1" in
${cases.join('\n')}
  esac
}
_torana() {
  local -a found
  local first="" second=""
  (( CURRENT > 2 )) && first="$words[2]"
  (( CURRENT > 3 )) && second=" $words[3]"
  _torana_words "$first$second"
  (( $#found )) || _torana_words "$first"
  _describe torana found || _files
}
compdef _torana torana
`
}

/** Without the marks that mean something within zsh's and fish's quotes. */
function quoted(text: string): string {
  return text.replaceAll("'", '’').replaceAll('\\', '').replaceAll(':', ',')
}

function fish(commands: readonly Command[]): string {
  const lines = [...places(commands)].flatMap(([path, words]) =>
    words.map(({ word, says }) => fishLine(path, word, quoted(says))),
  )
  return `# fish completion for torana
complete -c torana -f
${lines.join('\n')}
`
}

function fishLine(path: string, word: string, says: string): string {
  const [first, second] = path.split(' ')
  const seen = (name: string): string => `__fish_seen_subcommand_from ${name}`
  const where = !first
    ? '__fish_use_subcommand'
    : second
      ? `${seen(first)}; and ${seen(second)}`
      : seen(first)
  const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
  return `complete -c torana -n '${where}' ${what} -d '${says}'`
}

/** `torana <command>`: finds the command and its exit code. */
import { didYouMean } from '#config/file/problem.ts'
import { COMMANDS, TOPICS } from './commands.ts'
import { overview } from './command/help.ts'
import type { Output } from './command/output.ts'
import { runCommand } from './command/run.ts'

const OTHER_WORDS: Readonly<Record<string, string>> = { '--version': 'version', '-v': 'version' }
const HELP = new Set(['--help', '-h', 'help'])

const out: Output = process

async function main(words: readonly string[]): Promise<number> {
  const [first = 'start', ...rest] = words
  if (HELP.has(first)) {
    // `torana help keys` is `torana keys --help`.
    if (rest[0] !== undefined) return main([...rest, '--help'])
    out.stdout.write(overview(TOPICS))
    return 0
  }
  const name = OTHER_WORDS[first] ?? first
  // Options alone are those of `start`.
  if (name.startsWith('-')) return main(['start', ...words])
  const found = COMMANDS.find((command) => command.name === name)
  if (found !== undefined) return runCommand(found, rest, out, TOPICS)
  const names = COMMANDS.map((command) => command.name)
  out.stderr.write(`torana: there is no command '${name}'.${didYouMean(name, names)}\nSee torana --help\n`)
  return 2
}

// The reader of a pipe may end first, as `head` does. A node, which listens to SIGHUP, must not end unnoticed for it.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' || process.listenerCount('SIGHUP') > 0) throw error
  process.exit()
})
process.exitCode = await main(process.argv.slice(2))
// A node has let go of what it could. What is still open, such as a call to an upstream, has had its time.
if (process.listenerCount('SIGHUP') > 0) process.exit()

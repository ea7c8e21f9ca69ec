/** `npm run ci`: all checks. What needs no measured time runs some at a time; the first red group is the last one. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { runCommands, type Command } from './commands.ts'

/** One more than the cores of a small machine: each waits now and then. */
const AT_ONCE = 3
/** Several times what the longest one takes on a slow machine. */
const EACH_MS = 600_000
/** Names of npm scripts, with their options. The longest of a group stand first. */
const GROUPS: readonly (readonly string[])[] = [
  ['types', 'build', 'lint', 'knip', 'generate:check', 'test:tidy', 'format:check'],
  // Measures, and has the machine for itself.
  ['bench:gate'],
  [
    'conformance:images -- --quick',
    'test:console:smoke',
    'conformance:embeddings -- --quick',
    'conformance:batches -- --quick',
    'test:package',
    'console:sizes',
  ],
]

for (const group of GROUPS) {
  const commands = group.map((script): Command => ({ program: 'npm', args: ['run', ...script.split(' ')] }))
  const red = (await runCommands(commands, { atOnce: AT_ONCE, eachMs: EACH_MS })).filter(
    ({ isGood }) => !isGood,
  )
  if (red.length === 0) continue
  console.log(`failed: ${red.map(({ command }) => command.args.slice(1).join(' ')).join(', ')}`)
  process.exit(1)
}
// The tests of whole processes run what ships.
const program = join(import.meta.dirname, '../../dist/torana/bin/torana.js')
const env = { ...process.env, TORANA_TEST_PROGRAM: program }
process.exitCode = spawnSync('npm', ['test'], { stdio: 'inherit', env }).status ?? 1

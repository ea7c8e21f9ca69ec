/** `npm run ci`: all checks. What needs no measured time runs some at a time; the first red group is the last one. */
import { join } from 'node:path'
import { againAlone, tellTests, testCommands } from './all-tests.ts'
import { runCommands, type Command } from './commands.ts'

/** Commands at once: twice the cores of a small machine, since each waits for processes and timers half of its time. */
const AT_ONCE = 4
/** Several times what the longest one takes on a slow machine. */
const EACH_MS = 600_000

/** Characters of a failed program's output that are printed again at the end, where a reader looks first. */
const SHOWN_AGAIN = 4000

/** Names of npm scripts, with their options. The longest of a group stand first. */
type Group = readonly string[]

const CHECKS: Group = [
  'types',
  'build',
  'lint',
  'knip',
  'generate -- --check',
  'test:tidy',
  'format -- --check',
]
/** They measure, and have the machine for themselves. */
const MEASURING: readonly Group[] = [['lab -- bench/gate'], ['lab -- check/timing']]
const PROGRAMS: Group = [
  'test:console -- smoke',
  'lab -- conformance/images --quick',
  'lab -- conformance/embeddings --quick',
  'lab -- conformance/contents --quick',
  'lab -- check/docs --smoke',
  'test:package',
  'lab -- conformance/batches --quick',
  'lab -- check/ledger-age --quick',
  'lab -- check/drift --quick',
  'lab -- check/vector-types --quick',
  'lab -- bench/steady --quick',
  'console:sizes',
]

if (!(await isGreen(CHECKS))) process.exit(1)
// Whatever starts a whole process from here on starts what ships.
process.env['TORANA_TEST_PROGRAM'] = join(import.meta.dirname, '../../dist/torana/bin/torana.js')
for (const group of MEASURING) if (!(await isGreen(group))) process.exit(1)
// In one group with the tests: the longest of these takes minutes, in which no core should be idle.
if (!(await isGreen(PROGRAMS, testCommands()))) process.exitCode = 1

async function isGreen(group: Group, tests: readonly Command[] = []): Promise<boolean> {
  const scripts = group.map((script): Command => ({ program: 'npm', args: ['run', ...script.split(' ')] }))
  const ended = await runCommands([...scripts, ...tests], { atOnce: AT_ONCE, eachMs: EACH_MS })
  const red = ended.filter(({ command, isGood }) => !isGood && scripts.includes(command))
  for (const { command, output } of red)
    console.log(`failed: ${command.args.slice(1).join(' ')}\n${output.slice(-SHOWN_AGAIN)}`)
  const areTestsGreen =
    tests.length === 0 ||
    tellTests(
      await againAlone(
        ended.filter(({ command }) => tests.includes(command)),
        EACH_MS,
      ),
    )
  return red.length === 0 && areTestsGreen
}

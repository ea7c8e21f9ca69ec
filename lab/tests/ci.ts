/** `npm run ci`: what a change has to pass. Cheap and telling checks come first; the first red group is the last one. */
import { join } from 'node:path'
import { againAlone, tellVerdict, testCommands } from './all-tests.ts'
import { listChangedPaths } from './changed-paths.ts'
import { chooseChecks } from './choice.ts'
import { runCommands, scriptCommand, type Command, type Ended } from './commands.ts'
import { costTable } from './cpu.ts'

/** Commands at once: twice the cores of a small machine, since each waits for processes, timers and PostgreSQL half of its time. */
const AT_ONCE = 4
/** Several times what the longest one takes on a slow machine. */
const EACH_MS = 600_000

// Whatever starts a whole process starts what ships, which `build` makes before the tests.
process.env['TORANA_TEST_PROGRAM'] = join(import.meta.dirname, '../../dist/torana/bin/torana.js')
const choice = chooseChecks(listChangedPaths())
console.log(`chosen: ${choice.why}`)
const all: Ended[] = []
const isGreen =
  (await passes(choice.first.map(scriptCommand))) && (await passes(choice.shape.map(scriptCommand)))
// In one group: the longest program takes minutes, in which no core should be idle.
if (isGreen)
  await passes([...choice.programs.map(scriptCommand), ...testCommands(choice.tests)], (ended) =>
    againAlone(ended, EACH_MS),
  )
console.log(`\n${costTable(all)}\n`)
process.exitCode = tellVerdict(all) ? 0 : 1

async function passes(
  commands: readonly Command[],
  tryAgain: (ended: readonly Ended[]) => Promise<readonly Ended[]> = async (ended) => ended,
): Promise<boolean> {
  const ended = await tryAgain(await runCommands(commands, { atOnce: AT_ONCE, eachMs: EACH_MS }))
  all.push(...ended)
  return ended.every(({ isGood }) => isGood)
}

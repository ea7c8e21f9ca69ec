/** `npm test`: every test of the repository, a few processes at a time. Those that measure time run first and alone. */
import { tellTests, testCommands } from './all-tests.ts'
import { runCommands } from './commands.ts'

/** One more than the cores of a small machine: tests wait a good deal. */
const AT_ONCE = 3
/** Several times what the longest one takes on a slow machine. */
const EACH_MS = 300_000

const timing = await runCommands([{ program: process.execPath, args: ['lab/main.ts', 'check/timing'] }], {
  atOnce: 1,
  eachMs: EACH_MS,
})
const ended = await runCommands(testCommands(), { atOnce: AT_ONCE, eachMs: EACH_MS })
const areGreen = tellTests(ended)
process.exitCode = areGreen && timing.every(({ isGood }) => isGood) ? 0 : 1

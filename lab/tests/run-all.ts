/** The last part of `npm test`: every test of the repository, a few processes at a time. */
import { tellTests, testCommands } from './all-tests.ts'
import { runCommands } from './commands.ts'

/** One more than the cores of a small machine: tests wait a good deal. */
const AT_ONCE = 3
/** Several times what the longest one takes on a slow machine. */
const EACH_MS = 300_000

const ended = await runCommands(testCommands(), { atOnce: AT_ONCE, eachMs: EACH_MS })
process.exitCode = tellTests(ended) ? 0 : 1

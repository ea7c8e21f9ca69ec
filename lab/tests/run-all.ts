/** `npm test`: unit and HTTP tests, a few processes at a time. They run on Linux and macOS, with PostgreSQL and Redis from the path. */
import { tellTests, testCommands } from './all-tests.ts'
import { runCommands } from './commands.ts'

/** One more than the cores of a small machine: tests wait a good deal. */
const AT_ONCE = 3
/** Several times what the longest one takes on a slow machine. */
const EACH_MS = 300_000
/** The rest starts whole processes, kills servers or needs Debian's programs: `bash .ci/run` has it, on Linux or in the dev container. */
const PORTABLE = [
  'server/src/**/*.test.ts',
  'server/test/*.test.ts',
  'server/test/http/**/*.test.ts',
  'bulk/src/**/*.test.ts',
  'import-litellm/src/*.test.ts',
  'console/src/**/*.test.ts',
]

const ended = await runCommands(testCommands(PORTABLE), { atOnce: AT_ONCE, eachMs: EACH_MS })
process.exitCode = tellTests(ended) ? 0 : 1

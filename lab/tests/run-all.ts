/**
 * `npm test`: unit and HTTP tests, a few processes at a time, on Linux and macOS. PostgreSQL and Redis come from the path. Without
 * PostgreSQL, tests use the built-in database; files that start a server which is not there are skipped, and named.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
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
/** Servers that this machine lacks, and how a file of tests starts them. */
const MISSING = [
  {
    program: 'PostgreSQL',
    isHere: process.env['TORANA_TEST_POSTGRES_URL'] !== undefined,
    starts: /\b(?:testPostgres|startPostgresServer|startGatewayOnPostgres|startCluster)\(/,
  },
  {
    program: 'Redis',
    isHere: spawnSync('redis-server', ['--version']).error === undefined,
    starts: /\bstartRedis(?:Server)?\(/,
  },
].filter(({ isHere }) => !isHere)

function runsHere(file: string): boolean {
  const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
  const missing = MISSING.find(({ starts }) => starts.test(text))
  if (missing !== undefined) console.log(`SKIPPED: ${file}, since ${missing.program} is not on the path`)
  return missing === undefined
}

const ended = await runCommands(testCommands(PORTABLE, runsHere), { atOnce: AT_ONCE, eachMs: EACH_MS })
process.exitCode = tellTests(ended) ? 0 : 1

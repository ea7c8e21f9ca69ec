/**
 * `npm test`: unit and HTTP tests, a few processes at a time, on Linux and macOS. `npm test -- contract` runs a part, `npm test -- server/src/core`
 * a folder; `--watch` runs them again whenever a file that they read changes. PostgreSQL and Redis come from the path. Without PostgreSQL, tests
 * use the built-in database; files that start a server which is not there are skipped, and named.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { tellVerdict, testCommands } from './all-tests.ts'
import { runCommands } from './commands.ts'
import { costTable } from './cpu.ts'
import { listTestFiles, ROOT, type TestFile } from './test-files.ts'

/** One more than the cores of a small machine: tests wait a good deal. */
const AT_ONCE = 3
/** Several times what the longest one takes on a slow machine. */
const EACH_MS = 300_000
/** The others start whole processes, kill servers or need Debian's programs: `bash .ci/run` has them, on Linux or in the dev container. */
const PORTABLE = ['tidy', 'unit', 'console', 'http', 'control', 'batches']
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

const { values, positionals } = parseArgs({
  options: { watch: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const names = positionals.length === 0 ? PORTABLE : positionals
const files = listTestFiles().filter((file) => isNamed(file) && runsHere(file))
if (files.length === 0) {
  const parts = [...new Set(listTestFiles().map(({ part }) => part))].toSorted()
  console.error(`No test is in ${names.join(', ')}. Name a file, a folder, or a part: ${parts.join(', ')}.`)
  process.exitCode = 2
} else if (values.watch) {
  const { status } = spawnSync(process.execPath, ['--test', '--watch', ...files.map(({ path }) => path)], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
} else {
  const ended = await runCommands(testCommands(files), { atOnce: AT_ONCE, eachMs: EACH_MS })
  console.log(`\n${costTable(ended)}\n`)
  process.exitCode = tellVerdict(ended) ? 0 : 1
}

function isNamed({ path, part }: TestFile): boolean {
  return names.some(
    (name) => name === part || path === name || path.startsWith(`${name.replace(/\/$/, '')}/`),
  )
}

function runsHere({ path }: TestFile): boolean {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const missing = MISSING.find(({ starts }) => starts.test(text))
  if (missing !== undefined) console.log(`SKIPPED: ${path}, since ${missing.program} is not on the path`)
  return missing === undefined
}

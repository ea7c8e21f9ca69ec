/**
 * `node server/test/run.ts` runs every test. A test file that failed beside others runs once more, alone: on a shared
 * machine a time-out tells of the neighbours, but what is wrong fails again. Said aloud, so that nobody overlooks it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

const PATTERNS = ['server/**/*.test.ts', 'tools/**/*.test.ts', 'import-litellm/src/*.test.ts']
/** Three, on two cores: most tests wait for servers. */
const FILES_AT_ONCE = 3
/** More than this is no accident. */
const MAX_REPEATED = 6

const folder = mkdtempSync(join(tmpdir(), 'torana-tests-'))
const failuresPath = join(folder, 'failures')

async function run(files: readonly string[], atOnce: number): Promise<readonly string[] | undefined> {
  const child = spawn(
    process.execPath,
    [
      '--test',
      `--test-concurrency=${atOnce}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      `--test-reporter=${join(import.meta.dirname, 'support/failed-files.ts')}`,
      `--test-reporter-destination=${failuresPath}`,
      ...files,
    ],
    { stdio: 'inherit' },
  )
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code === 0) return []
  const failed = [...new Set(readFileSync(failuresPath, 'utf8').split('\n').filter(Boolean))]
  return failed.length > 0 ? failed : undefined
}

const failed = await run(PATTERNS, FILES_AT_ONCE)
if (failed === undefined || failed.length > MAX_REPEATED) process.exitCode = 1
else if (failed.length > 0) {
  console.log(`\nOnce more, alone: ${failed.map((file) => relative(process.cwd(), file)).join(', ')}\n`)
  if ((await run(failed, 1))?.length !== 0) process.exitCode = 1
}
rmSync(folder, { recursive: true, force: true })

/**
 * `npm test`: every test of the repository, a few processes at a time. Loading the server takes longer than most files of tests, so
 * that several files of a folder share a process.
 */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { runCommands, type Ended } from './commands.ts'
import { sharedOut } from './shared-out.ts'

const ROOT = join(import.meta.dirname, '../..')
const TESTS = [
  'server/**/*.test.ts',
  'tools/**/*.test.ts',
  'import-litellm/src/*.test.ts',
  'console/src/**/*.test.ts',
  'bench/*.test.ts',
]
/** One more than the cores of a small machine: tests wait a good deal. */
const AT_ONCE = 3
/** Several times what the longest one takes on a slow machine. */
const EACH_MS = 300_000

interface Count {
  readonly passed: number
  readonly failed: number
  /** What the runner says of each failure. */
  readonly failures: string
}

function countOf({ command, output, isGood, end }: Ended): Count {
  const told = (what: string): number => Number(new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  const [passed, failed] = [told('pass'), told('fail') + told('cancelled')]
  if (isGood) return { passed, failed, failures: '' }
  const [, failures = `${command.args.join(' ')} ended with ${end}`] =
    /^✖ failing tests:\n([\s\S]*)/m.exec(output) ?? []
  return { passed, failed: Math.max(1, failed), failures }
}

const files = globSync(TESTS, { cwd: ROOT, exclude: ['**/node_modules/**'] }).toSorted()
const commands = sharedOut(files).map((together) => ({
  program: process.execPath,
  args: ['--test', '--test-isolation=none', '--test-reporter=spec', ...together],
}))
const counts = (await runCommands(commands, { atOnce: AT_ONCE, eachMs: EACH_MS })).map(countOf)
const failures = counts.map((count) => count.failures.trim()).filter(Boolean)
if (failures.length > 0) console.log(`\nfailing tests:\n\n${failures.join('\n\n')}\n`)
const sum = (of: 'passed' | 'failed'): number => counts.reduce((all, count) => all + count[of], 0)
console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
process.exitCode = sum('failed') > 0 ? 1 : 0

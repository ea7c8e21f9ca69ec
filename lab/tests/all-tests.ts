/** Every test of the repository as commands. Loading the server takes longer than most files of tests, so that several share a process. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import type { Command, Ended } from './commands.ts'
import { isIdle, sharedOut } from './shared-out.ts'

const ROOT = join(import.meta.dirname, '../..')
const TESTS = [
  'server/**/*.test.ts',
  'lab/**/*.test.ts',
  'bulk/src/**/*.test.ts',
  'import-litellm/src/*.test.ts',
  'console/src/**/*.test.ts',
]

/** Those that take longest first. */
export function testCommands(patterns: readonly string[] = TESTS): readonly Command[] {
  const files = globSync(patterns, { cwd: ROOT, exclude: ['**/node_modules/**', '**/.cache/**'] }).toSorted()
  return sharedOut(files).map((together) => ({
    program: process.execPath,
    args: ['--test', '--test-isolation=none', '--test-reporter=spec', ...together],
    isIdle: together.every(isIdle),
  }))
}

interface Count {
  readonly passed: number
  readonly failed: number
  /** What the runner says of each failure. */
  readonly failures: string
}

function countOf({ command, output, isGood, end }: Ended): Count {
  const countOf = (what: string): number =>
    Number(new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  const [passed, failed] = [countOf('pass'), countOf('fail') + countOf('cancelled')]
  if (isGood) return { passed, failed, failures: '' }
  const [, failures = `${command.args.join(' ')} ended with ${end}`] =
    /^✖ failing tests:\n([\s\S]*)/m.exec(output) ?? []
  return { passed, failed: Math.max(1, failed), failures }
}

/** Prints all failures in one place. Returns whether there was none. */
export function tellTests(ended: readonly Ended[]): boolean {
  const counts = ended.map(countOf)
  const failures = counts.map((count) => count.failures.trim()).filter(Boolean)
  if (failures.length > 0) console.log(`\nfailing tests:\n\n${failures.join('\n\n')}\n`)
  const sum = (of: 'passed' | 'failed'): number => counts.reduce((all, count) => all + count[of], 0)
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
  return sum('failed') === 0
}

/** Every test of the repository as commands. Loading the server takes longer than most files of tests, so that several share a process. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { runCommands, type Command, type Ended } from './commands.ts'
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
export function testCommands(
  patterns: readonly string[] = TESTS,
  runsHere: (file: string) => boolean = () => true,
): readonly Command[] {
  const files = globSync(patterns, { cwd: ROOT, exclude: ['**/node_modules/**', '**/.cache/**'] })
    .toSorted()
    .filter(runsHere)
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
  const [, said = ''] = /^✖ failing tests:\n([\s\S]*)/m.exec(output) ?? []
  // Node says of an interrupted test that its promise is pending and the event loop has resolved, which is not the cause.
  const how = typeof end === 'string' || said === '' ? `${command.args.join(' ')} ended with ${end}\n` : ''
  return { passed, failed: Math.max(1, failed), failures: how + said }
}

/** Commands that run again: a machine without a free CPU fails one or two of them, a defect fails more or fails again. */
const MAX_AGAIN = 2

/**
 * Runs what failed beside others again, alone. A test that passes only then is named with what it said, since it
 * measured the machine rather than the code, and wants a change.
 */
export async function againAlone(ended: readonly Ended[], eachMs: number): Promise<readonly Ended[]> {
  const failed = ended.filter(({ isGood }) => !isGood)
  if (failed.length === 0 || failed.length > MAX_AGAIN) return ended
  const again = await runCommands(
    failed.map(({ command }) => command),
    { atOnce: 1, eachMs },
  )
  for (const { command } of again.filter(({ isGood }) => isGood)) {
    const first = failed.find((one) => one.command === command)
    if (first !== undefined)
      console.log(`\npassed only alone, please make it steady:\n\n${countOf(first).failures.trim()}\n`)
  }
  return [...ended.filter(({ isGood }) => isGood), ...again]
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

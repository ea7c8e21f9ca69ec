/** Tests as commands, their count, and a second try alone for the one or two that a busy machine failed. */
import { runCommands, type Command, type Ended } from './commands.ts'
import { shareOut } from './shared-out.ts'
import type { TestFile } from './test-files.ts'

export function testCommands(files: readonly TestFile[]): readonly Command[] {
  return shareOut(files).map(({ part, files: together }) => ({
    part,
    program: process.execPath,
    args: ['--test', '--test-isolation=none', '--test-reporter=spec', ...together],
  }))
}

interface Count {
  readonly passed: number
  readonly failed: number
  /** What the runner says of each failure. */
  readonly failures: string
}

/** Characters of the output of a failed script that are printed again at the end, where a reader looks first. */
const SHOWN_AGAIN = 4000

function countTests({ command, output, isGood, end }: Ended): Count {
  const count = (what: string): number => Number(new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  const isScript = command.program !== process.execPath
  const [passed, failed] = [count('pass'), count('fail') + count('cancelled')]
  if (isGood) return { passed: isScript ? Math.max(1, passed) : passed, failed, failures: '' }
  const [, said = isScript ? output.slice(-SHOWN_AGAIN) : ''] =
    /^✖ failing tests:\n([\s\S]*)/m.exec(output) ?? []
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
    if (first === undefined) continue
    console.log(`\npassed only alone, please make it steady:\n\n${countTests(first).failures.trim()}\n`)
    // GitHub shows such a line on the page of the run, where green logs are not opened.
    if (process.env['GITHUB_ACTIONS'] === 'true')
      console.log(`::warning::passed only alone: ${first.command.args.at(-1)}`)
  }
  return [...ended.filter(({ isGood }) => isGood), ...again]
}

/** Prints all failures in one place, and the count of all tests. A script counts as one. Returns whether there was no failure. */
export function tellVerdict(ended: readonly Ended[]): boolean {
  const counts = ended.map(countTests)
  const failures = counts.map((count) => count.failures.trim()).filter(Boolean)
  if (failures.length > 0) console.log(`\nfailing:\n\n${failures.join('\n\n')}\n`)
  const sum = (of: 'passed' | 'failed'): number => counts.reduce((all, count) => all + count[of], 0)
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
  return sum('failed') === 0
}

/**
 * `npm test`: every test of the repository, a few processes at a time. Loading the server takes longer than most files of tests, so
 * that several files of a folder share a process.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { sharedOut, type TestProcess } from './shared-out.ts'

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
/** Several times what the longest one takes on a slow machine. A process that takes longer hangs. */
const PROCESS_MS = 300_000

interface Count {
  readonly passed: number
  readonly failed: number
  readonly failures: readonly string[]
}

const files = globSync(TESTS, { cwd: ROOT, exclude: ['**/node_modules/**'] }).toSorted()
const waiting = sharedOut(files)
const counts: Count[] = []

async function work(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) counts.push(await run(next))
}

async function run({ files: together }: TestProcess): Promise<Count> {
  const args = ['--test', '--test-isolation=none', '--test-reporter=spec', ...together]
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PROCESS_MS,
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  console.log(output.trimEnd())
  const told = (what: string): number => Number(new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  const failures = [...output.matchAll(/^✖ failing tests:\n([\s\S]*)/gm)].map(([, text = '']) => text.trim())
  const failed = told('fail') + told('cancelled')
  if (failed > 0 || code === 0) return { passed: told('pass'), failed, failures }
  const end = `${together.join(' ')}: ended with ${signal ?? code}`
  return { passed: told('pass'), failed: 1, failures: [end] }
}

await Promise.all(Array.from({ length: AT_ONCE }, work))
const failures = counts.flatMap((count) => count.failures)
if (failures.length > 0) console.log(`\nfailing tests:\n\n${failures.join('\n\n')}\n`)
const sum = (of: (count: Count) => number): number => counts.reduce((all, count) => all + of(count), 0)
const failed = sum((count) => count.failed)
console.log(`${sum((count) => count.passed)} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

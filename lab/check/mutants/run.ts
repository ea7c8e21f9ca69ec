/** Runs tests in a copy of the checkout. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface TestRun {
  /** The tests that failed, by name. */
  readonly failed: readonly string[]
  /** Why they did not run to their end. Undefined: they did. */
  readonly broken: string | undefined
  readonly seconds: number
}

/** Longest time of one test, ten times what the slowest takes. One that waits for what a mutant prevents has noticed it. */
const EACH_MS = 60_000
/** Longest time of all tests of the table: three times what they take beside other work. */
const ALL_MS = 900_000
/** Lines of the output that are shown when tests do not run to their end. */
const SHOWN_LINES = 12

/** In one process. */
export async function runTests(files: readonly string[], folder: string): Promise<TestRun> {
  const startMs = performance.now()
  // A test that hangs may have left something open.
  const options = ['--test-isolation=none', `--test-timeout=${EACH_MS}`, '--test-force-exit']
  const child = spawn(process.execPath, ['--test', '--test-reporter=tap', ...options, ...files], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: ALL_MS,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  const failed = Array.from(output.matchAll(/^not ok \d+ - (.+)$/gm), ([, name = '']) => name)
  const isWhole = failed.length > 0 || code === 0
  const last = output.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n')
  return {
    failed,
    broken: isWhole ? undefined : `ended by ${signal ?? `code ${code}`}\n${last}`,
    seconds: (performance.now() - startMs) / 1000,
  }
}

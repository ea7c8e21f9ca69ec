/** Runs commands, some at a time, and prints what each said when it has ended. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  /** It waits for timers most of its time. Such commands run beside the others, and take no core from them. */
  readonly isIdle?: boolean
}

export interface Ended {
  readonly command: Command
  readonly output: string
  readonly isGood: boolean
  /** The exit code, the signal, or the timeout. */
  readonly end: number | string
}

/** Idle commands at once, beside the others: together they use less than half a core. */
const MAX_IDLE_AT_ONCE = 3

/** In their order, `atOnce` at a time. A command that takes longer than `eachMs` hangs, and is ended. */
export async function runCommands(
  commands: readonly Command[],
  { atOnce, eachMs }: { readonly atOnce: number; readonly eachMs: number },
): Promise<Ended[]> {
  const ended: Ended[] = []
  const work = async (waiting: Command[]): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      ended.push(await run(next, eachMs))
  }
  const [idle, busy] = [true, false].map((kind) => commands.filter(({ isIdle = false }) => isIdle === kind))
  await Promise.all([
    ...Array.from({ length: atOnce }, () => work(busy ?? [])),
    ...Array.from({ length: MAX_IDLE_AT_ONCE }, () => work(idle ?? [])),
  ])
  return ended
}

async function run(command: Command, eachMs: number): Promise<Ended> {
  const child = spawn(command.program, command.args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: eachMs,
  })
  const startMs = performance.now()
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  const tookMs = performance.now() - startMs
  console.log(output.trimEnd())
  console.log(`${(tookMs / 1000).toFixed(1)} s: ${command.args.join(' ').slice(0, 200)}`)
  const timeout = tookMs < eachMs ? undefined : `a timeout of ${eachMs / 1000} s`
  return { command, output, isGood: code === 0, end: timeout ?? signal ?? code ?? 'nothing' }
}

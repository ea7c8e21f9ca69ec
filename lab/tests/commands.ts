/** Runs commands, some at a time. A green one is a line; a red one prints all that it said. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { cpuSecondsOfChildren } from './cpu.ts'

const ROOT = join(import.meta.dirname, '../..')

export interface Command {
  /** The line of the table of costs that it counts in, such as `http`. */
  readonly part: string
  readonly program: string
  readonly args: readonly string[]
}

export interface Ended {
  readonly command: Command
  readonly output: string
  readonly isGood: boolean
  /** The exit code, the signal, or the timeout. */
  readonly end: number | string
  readonly cpuSeconds: number
}

/** A script of package.json with its options, such as `lab -- check/docs --smoke`. */
export function scriptCommand(script: string): Command {
  return { part: script, program: 'npm', args: ['run', ...script.split(' ')] }
}

/** In their order, `atOnce` at a time. A command that takes longer than `eachMs` hangs, and is ended. */
export async function runCommands(
  commands: readonly Command[],
  { atOnce, eachMs }: { readonly atOnce: number; readonly eachMs: number },
): Promise<Ended[]> {
  const ended: Ended[] = []
  const waiting = [...commands]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      ended.push(await run(next, eachMs))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
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
  let cpuSeconds = 0
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.once('exit', () => (cpuSeconds = cpuSecondsOfChildren()))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  const tookMs = performance.now() - startMs
  const isGood = code === 0
  if (!isGood) console.log(output.trimEnd())
  const count = /^ℹ pass (\d+)$/m.exec(output)?.[1]
  console.log(
    `${isGood ? '✔' : '✖'} ${command.part}: ${(tookMs / 1000).toFixed(1)} s, ${cpuSeconds.toFixed(1)} CPU s${count === undefined ? '' : `, ${count} tests`}: ${nameIn(command)}`,
  )
  const timeout = tookMs < eachMs ? undefined : `a timeout of ${eachMs / 1000} s`
  return { command, output, isGood, end: timeout ?? signal ?? code ?? 'nothing', cpuSeconds }
}

/** Longest name of a command in a line of the log. */
const MAX_NAME = 140

/** The files of tests, or the script. */
function nameIn({ args }: Command): string {
  const name = args.filter((arg) => !arg.startsWith('--test') && arg !== 'run').join(' ')
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name
}

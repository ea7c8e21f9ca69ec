/** `npm run lab` lists what plays, measures, breaks and judges the server; `npm run lab -- <name> [options]` runs one of it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAMS, type Program } from './programs.ts'

const ROOT = join(import.meta.dirname, '..')
const WITH_SERVERS = 'server/test/support/with-servers.ts'

/** Relative to the repository. */
export function fileOf(name: string, { file }: Program): string {
  if (file !== undefined) return file
  const alone = `lab/${name}.ts`
  return existsSync(join(ROOT, alone)) ? alone : `lab/${name}/main.ts`
}

function list(start: string): string {
  const names = Object.keys(PROGRAMS).filter((name) => name.startsWith(start))
  const width = Math.max(...names.map((name) => name.length))
  const lines = names.map((name) => {
    const { answers = '', needs } = PROGRAMS[name] ?? {}
    return `  ${name.padEnd(width)}  ${answers}${needs === undefined ? '' : ` (needs ${needs})`}`
  })
  return `npm run lab -- <name> [options]\n\n${lines.join('\n')}\n`
}

/** The exit code of a program of the lab. */
export async function runProgram(name: string, options: readonly string[]): Promise<number> {
  const program = PROGRAMS[name]
  if (program === undefined) throw new Error(`there is no ${name}`)
  if (program.after !== undefined) {
    const code = await ended('npm', ['run', program.after], {})
    if (code !== 0) return code
  }
  const command = [...(program.node ?? []), fileOf(name, program), ...options]
  const around = program.withServers ? [WITH_SERVERS, process.execPath] : []
  return ended(process.execPath, [...around, ...command], program.env ?? {})
}

/** The exit code. Signals go on to the program, which ends what it started. */
export async function ended(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const child = spawn(program, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } })
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, pass)
  const [code] = (await once(child, 'exit')) as [number | null]
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, pass)
  return code ?? 1
}

if (import.meta.main) {
  const [name = '', ...options] = process.argv.slice(2)
  const program = PROGRAMS[name]
  if (program !== undefined) process.exitCode = await runProgram(name, options)
  else {
    const isGroup = Object.keys(PROGRAMS).some((known) => known.startsWith(name))
    console.log(list(isGroup ? name : ''))
    if (!isGroup) console.error(`There is no ${name}.`)
    process.exitCode = isGroup ? 0 : 2
  }
}

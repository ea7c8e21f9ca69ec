/** What tests ask of the operating system: processes that end with this one, children, open files, CPU time. Linux and macOS. */
import { execFileSync } from 'node:child_process'
import { accessSync, constants, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface User {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** For tests of what only Linux has. */
export const ONLY_LINUX = {
  skip: process.platform === 'linux' ? false : 'reads /proc, which only Linux has',
}

/**
 * Program and arguments that run `command`, as `user` if one is given. With setpriv (Linux), the system ends the process if this one is
 * killed. Without it, a process that starts servers ends them at its own exit, and a killed one leaves them running.
 */
export function tied(command: readonly string[], user?: User): readonly [program: string, args: string[]] {
  const [program = '', ...args] = command
  if (isOnPath('setpriv')) return ['setpriv', [...becoming(user), ...command]]
  if (user)
    throw new Error(`setpriv is needed to run ${program} as ${user.name}; without it, do not run as root`)
  return [program, args]
}

/** Options of setpriv. */
function becoming(user: User | undefined): string[] {
  const change = user ? ['--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups'] : []
  return ['--pdeathsig', 'KILL', ...change]
}

export function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

export function childrenOf(parent: number): number[] {
  const printed =
    process.platform === 'linux'
      ? readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
      : execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
          .split('\n')
          .map((line) => line.trim().split(/\s+/))
          .flatMap(([pid, of]) => (of === String(parent) ? [pid] : []))
          .join(' ')
  return printed.split(' ').filter(Boolean).map(Number)
}

/** Number of open files and connections of this process. */
export function openFiles(): number {
  return readdirSync('/dev/fd').length
}

/** Paths of open files below a folder. Deleted files that are still open count too: the system still knows their path. */
export function openFilesIn(folder: string): string[] {
  if (process.platform !== 'linux')
    return execFileSync('lsof', ['-nP', '-Fn', '-p', String(process.pid)], { encoding: 'utf8' })
      .split('\n')
      .flatMap((line) => (line.startsWith(`n${folder}`) ? [line.slice(1)] : []))
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`)
      return target.startsWith(folder) ? [target] : []
    } catch {
      // It was closed since.
      return []
    }
  })
}

/** CPU time of a process with all its threads; the system counts in hundredths of a second. */
export function cpuMsOf(pid: number): number {
  if (process.platform !== 'linux') {
    const printed = execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' })
    return (
      printed
        .trim()
        .split(':')
        .reduce((seconds, part) => seconds * 60 + Number(part), 0) * 1000
    )
  }
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

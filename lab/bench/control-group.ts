/** A control group for one process, as a container would give it one. Needs root. */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The figures of a control group: of version 1 where there is one, otherwise of version 2. */
export interface Allowance {
  readonly version1: { readonly root: string; readonly files: Readonly<Record<string, string>> }
  readonly version2: Readonly<Record<string, string>>
}

export const HALF_A_CORE: Allowance = {
  version1: {
    root: '/sys/fs/cgroup/cpu',
    files: { 'cpu.cfs_period_us': '100000', 'cpu.cfs_quota_us': '50000' },
  },
  version2: { 'cpu.max': '50000 100000' },
}

export function memoryOf(bytes: number): Allowance {
  return {
    version1: { root: '/sys/fs/cgroup/memory', files: { 'memory.limit_in_bytes': String(bytes) } },
    version2: { 'memory.max': String(bytes), 'memory.swap.max': '0' },
  }
}

export function inControlGroup(pid: number, { version1, version2 }: Allowance): Disposable {
  for (const { root, files } of [version1, { root: '/sys/fs/cgroup', files: version2 }]) {
    const group = join(root, `torana-bench-${pid}`)
    try {
      mkdirSync(group)
      for (const [file, value] of Object.entries(files)) writeFileSync(join(group, file), value)
      writeFileSync(join(group, 'cgroup.procs'), String(pid))
    } catch {
      continue
    }
    return { [Symbol.dispose]: () => leave(root, group) }
  }
  throw new Error('no control group could be made: it needs root')
}

/** A group with a process in it cannot be removed, so the process and the children it started leave first. */
function leave(root: string, group: string): void {
  const members = readFileSync(join(group, 'cgroup.procs'), 'utf8').trim()
  for (const pid of members === '' ? [] : members.split('\n')) {
    try {
      writeFileSync(join(root, 'cgroup.procs'), pid)
    } catch {
      // A process that has ended has left the group.
    }
  }
  rmdirSync(group)
}

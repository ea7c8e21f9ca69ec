/** A process with all its descendants: gateways that have workers are measured whole. */
import { readdirSync, readFileSync } from 'node:fs'

export function familyOf(pid: number): readonly number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc'))
    if (/^\d+$/.test(name)) {
      const stat = fileOf(`/proc/${name}/stat`)
      if (stat !== undefined)
        parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    }
  const family = [pid]
  for (const one of family) for (const [child, parent] of parents) if (parent === one) family.push(child)
  return family
}

/**
 * CPU time of processes and of their ended children, µs. List the processes again for each look, because some come and go.
 */
export function cpuOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuWithEndedChildren(pid), 0)
}

function cpuWithEndedChildren(pid: number): number {
  const stat = fileOf(`/proc/${pid}/stat`)
  if (stat === undefined) return 0
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
  return ticks.reduce((sum, each) => sum + Number(each), 0) * 10_000
}

/** Memory shared by several processes counts once. */
export function memoryMegabytes(pids: readonly number[]): number {
  const kilobytes = pids.map((pid) =>
    Number(/^Pss:\s+(\d+) kB$/m.exec(fileOf(`/proc/${pid}/smaps_rollup`) ?? '')?.[1] ?? 0),
  )
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024
}

/** It may end between two looks. */
function fileOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

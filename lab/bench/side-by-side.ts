/** Processes beside each other on core 0 under equal load, everything else on core 1: the CPU time of a request of each. */
import { cpuMicroseconds } from '../processes.ts'
import { wrk, type Load, type WrkOptions } from '../wrk.ts'
import { refusalsOf, type StartedTorana } from './torana.ts'

export const GATEWAY_CORE = 0
export const LOAD_CORE = 1

export interface Subject {
  readonly name: string
  readonly pid: number
  /** Of what is asked for. */
  readonly url: string
  /** Instead of that of all. */
  readonly script?: string
  /** Says why requests failed. */
  readonly torana?: StartedTorana
}

export interface Seen {
  readonly load: Load
  /** Microseconds a request. */
  readonly cpuUs: number
}

/** The CPU time that a process takes for the requests of a load. */
export async function costOf(pid: number, work: () => Promise<Load>): Promise<Seen> {
  const before = cpuMicroseconds(pid)
  const load = await work()
  return { load, cpuUs: (cpuMicroseconds(pid) - before) / load.requests }
}

/** All at the same time. A failed request throws. */
export async function sideBySide(
  subjects: readonly Subject[],
  options: Omit<WrkOptions, 'url' | 'core'>,
): Promise<readonly Seen[]> {
  const seen = await Promise.all(
    subjects.map(({ pid, url, script = options.script }) =>
      costOf(pid, () => wrk({ ...options, url, script, core: LOAD_CORE })),
    ),
  )
  for (const [index, { load }] of seen.entries()) {
    const { name, torana } = subjects[index] as Subject
    if (load.errors > 0)
      throw new Error(`${name}: ${load.errors} failed requests\n${torana ? await refusalsOf(torana) : ''}`)
  }
  return seen
}

/** The figures of one of them in all windows. */
export function cpusOf(windows: readonly (readonly Seen[])[], index: number): readonly number[] {
  return windows.map((seen) => seen[index]?.cpuUs ?? Number.NaN)
}

/** How many of its requests the other makes for the same CPU time, in each window. */
export function ratiosOf(
  windows: readonly (readonly Seen[])[],
  base: number,
  index: number,
): readonly number[] {
  const own = cpusOf(windows, index)
  return cpusOf(windows, base).map((cpuUs, window) => cpuUs / (own[window] ?? Number.NaN))
}

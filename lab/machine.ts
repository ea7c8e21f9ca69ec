/** What the whole machine does, from /proc: whether a measurement had it for itself. */
import { readdirSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { endedChildrenCpuMicroseconds } from './processes.ts'

const TICK_US = 10_000
/** The parent of kernel threads, which work for everyone. */
const KERNEL_PID = 2

/** Sums since the machine started, in µs of CPU time. */
export interface MachineLook {
  readonly allUs: number
  /** Of all processes. */
  readonly usedUs: number
  /** Of this process's ended children and of the kernel's own threads. */
  readonly ownUs: number
  /** Given to others by the host. */
  readonly stolenUs: number
}

/** Shares of all cores between two looks. */
export interface Disturbance {
  /** Work of processes that the measurement did not start. */
  readonly others: number
  readonly stolen: number
}

/** A twentieth of all cores: less moves a ratio by no more than the bare proxy beside itself. */
const MAX_OTHERS = 0.05
/** The same share, taken by a host. */
const MAX_STOLEN = 0.05

/** Hundredths of a second of all cores: user, nice, system, idle, waiting, interrupts, soft ones, stolen by the host. */
function machineTicks(): readonly number[] {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  return line.split(/\s+/).slice(1, 9).map(Number)
}

export function lookAtMachine(): MachineLook {
  const ticks = machineTicks()
  const [user = 0, nice = 0, system = 0, , , , , stolen = 0] = ticks
  const self = process.cpuUsage()
  return {
    allUs: ticks.reduce((sum, each) => sum + each, 0) * TICK_US,
    usedUs: (user + nice + system) * TICK_US,
    ownUs: self.user + self.system + endedChildrenCpuMicroseconds() + kernelUs(),
    stolenUs: stolen * TICK_US,
  }
}

export function disturbanceBetween(before: MachineLook, after: MachineLook): Disturbance {
  const all = after.allUs - before.allUs
  const used = after.usedUs - before.usedUs
  const own = after.ownUs - before.ownUs
  return { others: Math.max(0, used - own) / all, stolen: (after.stolenUs - before.stolenUs) / all }
}

/** Undefined: the machine was quiet. */
export function disturbedText({ others, stolen }: Disturbance): string | undefined {
  if (others <= MAX_OTHERS && stolen <= MAX_STOLEN) return undefined
  return `${disturbanceText({ others, stolen })} (at most ${percent(MAX_OTHERS)} and ${percent(MAX_STOLEN)}), load average ${loadavg()[0]?.toFixed(1)}`
}

export function disturbanceText({ others, stolen }: Disturbance): string {
  return `other processes used ${percent(others)} of the cores, the host took ${percent(stolen)}`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function kernelUs(): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .reduce((sum, name) => sum + kernelThreadUs(name), 0)
}

/** 0 for a process of a program, and for one that has ended since it was listed. */
function kernelThreadUs(pid: string): number {
  let stat = ''
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return 0
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (Number(fields[1]) !== KERNEL_PID) return 0
  return (Number(fields[11]) + Number(fields[12])) * TICK_US
}

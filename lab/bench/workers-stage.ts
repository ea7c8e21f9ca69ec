/**
 * One process and two workers of the built package, each with its own stores, in front of one nginx; and where their CPU
 * time goes.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { CASES, wrkScript, type Case } from './peers/cases.ts'
import type { RunningContender } from './peers/contender.ts'
import { familyOf } from './peers/family.ts'
import { TORANA } from './peers/own.ts'
import { startNginx } from './parts.ts'
import { cpuMicroseconds, endedChildrenCpuMicroseconds } from '../processes.ts'
import { pinTo } from '../workplace.ts'
import { rateOf, wrk } from '../wrk.ts'

export const [GATEWAY_CORE, OTHER_CORE] = [0, 1]
export const BOTH_CORES = `${GATEWAY_CORE},${OTHER_CORE}`
/** The small answer: the gateway's own work weighs most in it. */
export const CASE = CASES.find(({ id }) => id === 'base64') as Case

/** Cores that each part used: 1 is a whole one. */
export interface Shares {
  readonly gateway: number
  readonly stores: number
  readonly upstream: number
  readonly load: number
}

export interface WorkersWindow {
  readonly perSecond: number
  /** Of all processes of the gateway, µs a request. */
  readonly cpuUs: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cores: Shares
}

export interface WindowLoad {
  readonly seconds: number
  /** As `taskset` has them. */
  readonly cores: number | string
  readonly connections?: number
}

export interface Subject {
  readonly name: string
  readonly running: RunningContender
  /** Those that answer requests. */
  readonly workers: () => readonly number[]
}

export interface WorkersStage {
  readonly one: Subject
  readonly two: Subject
  readonly version: string
  /** The cores of the gateways, and of stores, upstream and load. */
  pin(gatewayCores: number | string, otherCores: number | string): void
  window(subject: Subject, load: WindowLoad): Promise<WorkersWindow>
  stop(): Promise<void>
}

export async function startWorkersStage(folder: string): Promise<WorkersStage> {
  const nginx = await startNginx(folder, OTHER_CORE)
  const upstreams = [{ name: CASE.id, kind: CASE.kind, baseUrl: `${nginx.origin}/${CASE.id}/v1` }]
  const start = async (id: string, hasSupervisor: boolean): Promise<Subject> => {
    const contender = TORANA.find((one) => one.id === id)
    if (!contender) throw new Error(`there is no ${id} in lab/bench/peers/own.ts`)
    const own = join(folder, id)
    mkdirSync(own)
    const cores = String(GATEWAY_CORE)
    const running = await contender.start({ folder: own, cores, loadCore: OTHER_CORE, upstreams })
    const workers = (): readonly number[] => familyOf(running.pid).slice(hasSupervisor ? 1 : 0)
    return { name: hasSupervisor ? 'two workers' : 'one process', running, workers }
  }
  const one = await start('torana-strict', false)
  const two = await start('torana-workers', true)
  const subjects = [one, two]
  return {
    one,
    two,
    version: TORANA[0]?.version() ?? '',
    pin: (gatewayCores, otherCores) => {
      for (const { running } of subjects) {
        pinTo(gatewayCores, familyOf(running.pid))
        pinTo(otherCores, running.storePids())
      }
      pinTo(otherCores, familyOf(nginx.pid))
    },
    window: async ({ name, running }, { seconds, cores, connections = CASE.connections }) => {
      const target = running.target(CASE.id)
      const looks = [familyOf(running.pid), running.storePids(), familyOf(nginx.pid)].map(lookAt)
      const loadBefore = endedChildrenCpuMicroseconds()
      const load = await wrk({
        url: `${target.url}/${CASE.route}`,
        script: wrkScript(folder, CASE, target),
        connections,
        seconds,
        core: cores,
      })
      const [gateway = 0, stores = 0, upstream = 0] = looks.map((usedSince) => usedSince())
      if (load.errors > 0) throw new Error(`${name}: ${load.errors} of ${load.requests} requests failed`)
      const inCores = (us: number): number => us / load.seconds / 1e6
      return {
        perSecond: rateOf(load),
        cpuUs: gateway / load.requests,
        p50Ms: load.p50Ms,
        p99Ms: load.p99Ms,
        cores: {
          gateway: inCores(gateway),
          stores: inCores(stores),
          upstream: inCores(upstream),
          load: inCores(endedChildrenCpuMicroseconds() - loadBefore),
        },
      }
    },
    stop: async () => {
      for (const { running } of subjects) await running.stop()
    },
  }
}

/** PostgreSQL starts helpers that end by themselves: one that is gone at the second look counts as it did at the first. */
function lookAt(pids: readonly number[]): () => number {
  const used = (pid: number): number | undefined => {
    try {
      return cpuMicroseconds(pid)
    } catch {
      return undefined
    }
  }
  const before = new Map(pids.map((pid) => [pid, used(pid)]))
  return () => pids.reduce((sum, pid) => sum + Math.max(0, (used(pid) ?? 0) - (before.get(pid) ?? 0)), 0)
}

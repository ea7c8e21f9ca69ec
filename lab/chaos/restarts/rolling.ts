/** Restarts of three processes behind a load balancer, one after another; and of the workers of one, by SIGHUP. */
import { setTimeout as wait } from 'node:timers/promises'
import { BALANCERS, startBalancer, type BalancerKind } from './balancers.ts'
import { outcomeOf, startRestartsHouse, type Outcome, type RestartsHouse } from './restarts-house.ts'
import { MAX_IN_PROGRESS, startSteadyLoad, type SteadyLoad } from './steady-load.ts'
import { programOf } from './versions.ts'
import type { Torana } from '../../torana.ts'

const NODES = 3
/** Time in which the kernel resets the connections of a killed process: later failures have another cause. */
const AFTER_KILL_MS = 2000
/** Ctrl-C ends the restarts early, and prints what was seen. */
const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
export interface RestartOptions {
  readonly times: number
  /** The commit of an earlier version; undefined for this one, with a newer one that has one more migration. */
  readonly before: string | undefined
  /** The balancers to test. */
  readonly balancers: readonly BalancerKind[]
}

export interface NodeOptions {
  /** Undefined for this source. */
  readonly source?: string
  /** Whether `/readyz` is ever asked for. */
  readonly asksReadyz?: boolean
}

export async function startNodes(
  house: RestartsHouse,
  { source, asksReadyz = true }: NodeOptions = {},
): Promise<readonly Torana[]> {
  const nodes = await Promise.all(
    Array.from({ length: NODES }, (_, index) => house.torana(`node-${index + 1}`)),
  )
  for (const node of nodes) {
    if (source !== undefined) node.program = programOf(source)
    node.asksReadyz = asksReadyz
    await node.start()
  }
  return nodes
}

export async function rollProcesses({ times, balancers }: RestartOptions): Promise<Outcome> {
  const outcomes: Outcome[] = []
  for (const kind of balancers) outcomes.push(await rollBehind(kind, times))
  const sum = (of: (outcome: Outcome) => number): number =>
    outcomes.reduce((all, outcome) => all + of(outcome), 0)
  return {
    title: 'rolling restarts',
    wrongs: outcomes.flatMap(({ wrongs }) => wrongs),
    requests: sum(({ requests }) => requests),
    failed: sum(({ failed }) => failed),
  }
}

async function rollBehind(kind: BalancerKind, times: number): Promise<Outcome> {
  const { what, stopDelayMs, backMs, asksReadyz } = BALANCERS[kind]
  const house = await startRestartsHouse({ limits: { stopDelayMs } })
  const nodes = await startNodes(house, { asksReadyz })
  const balancer = await startBalancer(kind, house, nodes)
  const load = startSteadyLoad(balancer.url)
  await wait(backMs)
  const wrongs: string[] = []
  let restart = 0
  for (; restart < times && !interrupted.signal.aborted; restart += 1) {
    const node = nodes[restart % NODES] as Torana
    wrongs.push(...(await restartOne(node, `${kind}: restart ${restart + 1}`, load, backMs)))
  }
  await load.stop()
  const title = `${restart} rolling restarts of ${NODES} processes behind ${what}`
  const outcome = await outcomeOf(title, load, house, wrongs)
  for (const node of nodes) await node.stop()
  balancer.stop()
  await house.close()
  return outcome
}

/** What is wrong with it. */
export async function restartOne(
  node: Torana,
  what: string,
  load: SteadyLoad,
  backMs: number,
): Promise<readonly string[]> {
  const { code, tookMs } = await node.stop()
  await node.start()
  await wait(backMs)
  const failed = `${load.failures().length} requests have failed so far`
  console.log(`${what}: ended with ${code} in ${Math.round(tookMs / 1000)} s; ${failed}`)
  return code === 0 ? [] : [`${what}: the process ended with ${code}`]
}

export async function replaceWorkers({ times }: RestartOptions): Promise<Outcome> {
  return withTwoWorkers(times, 'replacements of 2 workers by SIGHUP, no balancer', async (node, load) => {
    const before = node.children()
    const tookMs = await renewed(node, load, () => node.signal('SIGHUP'), before)
    return { said: `both workers replaced in ${Math.round(tookMs / 1000)} s`, wrongs: [] }
  })
}

/** Clients lose what they have in progress at the killed worker; the following requests are answered. */
export async function killWorkers({ times }: RestartOptions): Promise<Outcome> {
  return withTwoWorkers(times, 'kills with -9 of one of 2 workers, no balancer', async (node, load) => {
    const [victim = 0] = node.children()
    const failures = load.failures()
    const before = failures.length
    const tookMs = await renewed(node, load, () => process.kill(victim, 'SIGKILL'), [victim])
    await wait(AFTER_KILL_MS)
    const lost = failures.splice(before).length
    const said = `a worker killed, ${lost} requests lost with it, the next one started after ${Math.round(tookMs)} ms`
    return { said, wrongs: lost > MAX_IN_PROGRESS ? [said] : [] }
  })
}

type Fault = (
  node: Torana,
  load: SteadyLoad,
) => Promise<{ readonly said: string; readonly wrongs: readonly string[] }>

async function withTwoWorkers(times: number, what: string, fault: Fault): Promise<Outcome> {
  const house = await startRestartsHouse({ limits: { stopDelayMs: 5000 } })
  const node = await house.torana('node', ['--workers', '2'])
  await node.start()
  const load = startSteadyLoad(node.url)
  await wait(5000)
  const wrongs: string[] = []
  let time = 1
  for (; time <= times && !interrupted.signal.aborted; time += 1) {
    const { said, wrongs: more } = await fault(node, load)
    wrongs.push(...more)
    console.log(`${time}: ${said}; ${load.failures().length} requests have failed so far`)
  }
  await load.stop()
  const outcome = await outcomeOf(`${time - 1} ${what}`, load, house, wrongs)
  await node.stop()
  await house.close()
  return outcome
}

/** Milliseconds until two workers serve, none of which is one of `before`. */
async function renewed(
  node: Torana,
  load: SteadyLoad,
  begin: () => void,
  before: readonly number[],
): Promise<number> {
  const startMs = performance.now()
  begin()
  for (;;) {
    const now = node.children()
    if (now.length === 2 && now.every((pid) => !before.includes(pid))) return performance.now() - startMs
    if (load.failures().length > 100) throw new Error('too many failures')
    await wait(50)
  }
}

/** Restarts of three processes behind HAProxy, one after another; and of the workers of one, by SIGHUP. */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '#test/support/servers.ts'
import { outcomeOf, startRestartsHouse, type Outcome, type RestartsHouse } from './restarts-house.ts'
import { startSteadyLoad, type SteadyLoad } from './steady-load.ts'
import type { ToranaProcess } from './torana.ts'

/** The file that docs/load-balancers.md shows, with retries off and the slow checks of a cloud's balancer. */
const CONFIG = join(import.meta.dirname, '../../../../deploy/load-balancers/haproxy.cfg')
const NODES = 3
/** Ctrl-C ends the restarts early, and tells what was seen. */
const told = new AbortController()
process.once('SIGINT', () => told.abort())
/** Until HAProxy has seen that a node is back: two checks. */
export const BACK_MS = 12_000

export interface RestartOptions {
  readonly times: number
  /** The commit of an earlier version; undefined: this one, and the newer one has a migration more. */
  readonly before: string | undefined
}

export interface Balancer {
  readonly url: string
  stop(): void
}

export async function startBalancer(
  house: RestartsHouse,
  nodes: readonly ToranaProcess[],
): Promise<Balancer> {
  const port = await freePort()
  const servers = nodes.map(({ port: node }, index) => `  server node-${index + 1} 127.0.0.1:${node}`)
  const text = readFileSync(CONFIG, 'utf8')
    .replace(/^ {2}bind .*$/m, `  bind 127.0.0.1:${port}`)
    .replace(/^ {2}retries .*$/m, '  retries 0')
    .replace(/check inter \S+ fall \d+ rise \d+/, 'check inter 5s fall 2 rise 2')
    .replace(/(?:^ {2}server .*\n)+/m, `${servers.join('\n')}\n`)
  const file = join(house.folder, 'haproxy.cfg')
  writeFileSync(file, text)
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'haproxy', '-db', '-f', file], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined)
    if (answer?.status === 200) break
    if (tries > 300) throw new Error('haproxy does not get ready')
    await wait(100)
  }
  return { url, stop: () => void child.kill('SIGKILL') }
}

export async function startNodes(house: RestartsHouse, source?: string): Promise<readonly ToranaProcess[]> {
  const nodes = await Promise.all(
    Array.from({ length: NODES }, (_, index) => house.torana(`node-${index + 1}`)),
  )
  for (const node of nodes) {
    node.source = source ?? node.source
    await node.start()
  }
  return nodes
}

export async function rollProcesses({ times }: RestartOptions): Promise<Outcome> {
  const house = await startRestartsHouse()
  const nodes = await startNodes(house)
  const balancer = await startBalancer(house, nodes)
  const load = startSteadyLoad(balancer.url)
  await wait(BACK_MS)
  const wrongs: string[] = []
  let restart = 0
  for (; restart < times && !told.signal.aborted; restart += 1)
    wrongs.push(
      ...(await restartOne(nodes[restart % NODES] as ToranaProcess, `restart ${restart + 1}`, load)),
    )
  await load.stop()
  const title = `${restart} rolling restarts of ${NODES} processes behind HAProxy, retries 0, check 5 s x 2`
  const outcome = await outcomeOf(title, load, house, wrongs)
  for (const node of nodes) await node.stop()
  balancer.stop()
  await house.close()
  return outcome
}

/** What is wrong with it. */
export async function restartOne(
  node: ToranaProcess,
  what: string,
  load: SteadyLoad,
): Promise<readonly string[]> {
  const { code, tookMs } = await node.stop()
  await node.start()
  await wait(BACK_MS)
  const failed = `${load.failures().length} requests have failed so far`
  console.log(`${what}: ended with ${code} in ${Math.round(tookMs / 1000)} s; ${failed}`)
  return code === 0 ? [] : [`${what}: the process ended with ${code}`]
}

export async function replaceWorkers({ times }: RestartOptions): Promise<Outcome> {
  const house = await startRestartsHouse({ limits: { stopDelayMs: 5000 } })
  const node = await house.torana('node', ['--workers', '2'])
  await node.start()
  const load = startSteadyLoad(node.url)
  await wait(5000)
  let time = 1
  for (; time <= times && !told.signal.aborted; time += 1) {
    const startMs = performance.now()
    await replaceOnce(node, load)
    const tookS = Math.round((performance.now() - startMs) / 1000)
    const failed = `${load.failures().length} requests have failed so far`
    console.log(`SIGHUP ${time}: both workers replaced in ${tookS} s; ${failed}`)
  }
  await load.stop()
  const outcome = await outcomeOf(`${time - 1} replacements of 2 workers by SIGHUP, no balancer`, load, house)
  await node.stop()
  await house.close()
  return outcome
}

async function replaceOnce(node: ToranaProcess, load: SteadyLoad): Promise<void> {
  const before = node.children()
  node.signal('SIGHUP')
  for (;;) {
    const now = node.children()
    if (now.length === 2 && now.every((pid) => !before.includes(pid))) return
    if (load.failures().length > 100) throw new Error('too many failures')
    await wait(200)
  }
}

/** Two workers under load: one is killed, and all are replaced. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { answered, statusesOf } from './load-stage.ts'
import { SENDER, type Paced, type SentRequest } from '../sender.ts'
import { scriptOn, type Script } from '../processes.ts'
import { BOTH_CORES, CASE, type Subject } from './workers-stage.ts'

/** The load runs before anything happens to the workers, and after it. */
const BESIDE_MS = 2000
const LOOK_MS = 50
/** Ten times the goal: a slower worker hangs. */
const BACK_MS = 30_000
/** Two starts under full load, and twice the delay with which a replaced worker ends. */
const REPLACED_MS = 60_000
/** Answers that don't come within this time have failed. */
const PATIENCE_MS = 10_000

export interface FaultFigures {
  readonly requests: number
  readonly failed: number
  /** How they failed, in words. */
  readonly statuses: string
  readonly tookMs: number
}

export interface KillFigures extends FaultFigures {
  /** Connections that the killed worker held: each has one request in progress at most. */
  readonly held: number
  /** From the kill to the last request that failed. */
  readonly lastFailedMs: number
}

export async function killOne(subject: Subject): Promise<KillFigures> {
  const load = startLoad(subject)
  await wait(BESIDE_MS)
  const before = subject.workers()
  const [victim = 0] = before
  const held = callersOf(victim, portOf(subject)).size
  const killedMs = Date.now()
  process.kill(victim, 'SIGKILL')
  await until('a new worker serves in the place of the killed one', BACK_MS, async () => {
    const pid = await servedBy(subject)
    return pid !== undefined && !before.includes(pid)
  })
  const tookMs = Date.now() - killedMs
  const sent = await ended(load)
  const failedAtMs = failedOf(sent).map(([atMs, forMs]) => atMs + forMs)
  return {
    ...summed(sent, tookMs),
    held,
    lastFailedMs: Math.max(0, ...failedAtMs.map((ms) => ms - killedMs)),
  }
}

export async function replaceAll(subject: Subject): Promise<FaultFigures> {
  const load = startLoad(subject)
  await wait(BESIDE_MS)
  const before = subject.workers()
  const startedMs = Date.now()
  process.kill(subject.running.pid, 'SIGHUP')
  await until('all workers are replaced', REPLACED_MS, async () => {
    const now = subject.workers()
    return now.length === before.length && now.every((pid) => !before.includes(pid))
  })
  const tookMs = Date.now() - startedMs
  return summed(await ended(load), tookMs)
}

type Load = Script<readonly (readonly SentRequest[])[]>

function startLoad(subject: Subject): Load {
  const { headers, model } = subject.running.target(CASE.id)
  const paced: Paced = {
    port: portOf(subject),
    seconds: (BESIDE_MS * 2 + REPLACED_MS) / 1000,
    patienceMs: PATIENCE_MS,
    streams: [{ key: headers['authorization']?.replace('Bearer ', '') ?? '', model, perSecond: 0 }],
    atOnce: CASE.connections,
  }
  return scriptOn(BOTH_CORES, SENDER, paced)
}

async function ended(load: Load): Promise<readonly SentRequest[]> {
  await wait(BESIDE_MS)
  load.end()
  return (await load.answer).flat()
}

function summed(sent: readonly SentRequest[], tookMs: number): FaultFigures {
  return { requests: sent.length, failed: failedOf(sent).length, statuses: statusesOf(sent), tookMs }
}

function failedOf(sent: readonly SentRequest[]): readonly SentRequest[] {
  const good = new Set(answered(sent))
  return sent.filter((one) => !good.has(one))
}

async function until(what: string, patienceMs: number, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`waited ${patienceMs / 1000} s in vain: ${what}`)
    await wait(LOOK_MS)
  }
}

function portOf({ running }: Subject): number {
  return Number(new URL(running.target(CASE.id).url).port)
}

/** The worker that answers a request on a new connection; undefined: none did. */
async function servedBy(subject: Subject): Promise<number | undefined> {
  const { url, headers, model } = subject.running.target(CASE.id)
  // Kept open until its worker is known.
  const agent = new Agent({ keepAlive: true })
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const asking = request(`${url}/${CASE.route}`, {
    method: 'POST',
    agent,
    timeout: PATIENCE_MS,
    headers: { ...headers, 'content-type': 'application/json' },
  })
  asking.on('timeout', () => asking.destroy(new Error('no answer')))
  asking.on('error', () => resolve(undefined))
  asking.on('response', (answer) => {
    const caller = answer.socket.localPort ?? 0
    answer.on('error', () => resolve(undefined))
    answer.resume().on('end', () => {
      const port = portOf(subject)
      const server = subject.workers().find((pid) => callersOf(pid, port).has(caller))
      resolve(answer.statusCode === 200 ? server : undefined)
    })
  })
  asking.end(JSON.stringify({ model, input: 'who is there?', encoding_format: 'base64' }))
  return promise.finally(() => agent.destroy())
}

/** The ports of the callers with a connection to `port` that this process holds. */
function callersOf(pid: number, port: number): ReadonlySet<number> {
  const sockets = new Set<string | undefined>()
  for (const name of readdirSync(`/proc/${pid}/fd`))
    try {
      sockets.add(/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1])
    } catch {
      // It was closed since the folder was read.
    }
  const callers = new Set<number>()
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)) {
    const [, local = '', remote = '', state, , , , , , inode] = line.trim().split(/\s+/)
    if (state !== ESTABLISHED || portIn(local) !== port || !sockets.has(inode)) continue
    callers.add(portIn(remote))
  }
  return callers
}

/** As the kernel writes it. */
const ESTABLISHED = '01'

function portIn(address: string): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16)
}

/**
 * A judge that shares no code with the server: mixed clients who leave at any byte, upstreams that fail in many ways,
 * PostgreSQL as the store. Afterwards every vector and image was right, the ledger equals the upstream's records, memory
 * and handles are flat. `npm run lab -- bench/soak --minutes 20 --clients 200`. Exits with 1 when anything was wrong.
 */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { GatewayWatch } from './gateway-watch.ts'
import { stopAll } from '../processes.ts'
import { startProvider } from '../provider.ts'
import { Report, loadText, median } from '../report.ts'
import { judgeLedger } from './soak/ledger.ts'
import { configFor, PROJECTS } from './soak/config.ts'
import { embed } from './soak/embedding-client.ts'
import { endExchanges } from './soak/exchange.ts'
import { paint } from './soak/picture-client.ts'
import { Tally } from './soak/tally.ts'
import type { RecordedCall } from '../fake-provider/players/soak/calls.ts'
import { below, chance } from './soak/visit.ts'
import { startTorana, type StartedTorana } from './torana.ts'
import { Workplace } from '../workplace.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    clients: { type: 'string', default: '200' },
  },
})
const ANY_CORE = '0-1'
const PICTURES = 0.25
/** Pause between two requests of a client: the run is about faults, not about load. */
const MAX_PAUSE_MS = 400
const SAMPLE_MS = 2_000
const ENOUGH_SAMPLES = 60
/** Calls begun for clients that left have ended, and garbage is collected. */
const REST_MS = 20_000
/** Memory is looked at from here on: before, caches and pools fill. */
const WARM_MS = 60_000
/** Of the memory after the first minute: a leak of one kilobyte for each request would be more in twenty minutes. */
const MAX_GROWTH = 1.2
/** Idle connections to upstreams and PostgreSQL, kept for the next request. */
const MAX_CONNECTIONS = 64
/** Handles of the threads that a node starts when it first needs them, about five each. */
const MAX_NEW_HANDLES = 32
const SHOWN = 20

await using place = new Workplace('soak')
const { folder } = place
const report = new Report()
const tally = new Tally()

await run((await place.postgres()).url)
report.print(`soak: ${options.clients} clients, ${options.minutes} minutes, ${loadText()}`)
if (!report.isKept) process.exitCode = 1

async function run(databaseUrl: string): Promise<void> {
  const provider = await startProvider(undefined, folder)
  const upstream = `${provider.origin}/soak`
  const torana = await startTorana({
    core: ANY_CORE,
    folder,
    config: configFor(upstream),
    env: { DATABASE_URL: databaseUrl, TORANA_SECRET: 'secret-of-the-soak-0123456789', LOG_LEVEL: 'warn' },
    logFile: join(folder, 'torana.log'),
  })
  const watch = new GatewayWatch(torana.pid, '', join(torana.dataFolder, 'uploads'))
  const before = watch.handles()
  const memory = await load(torana, watch)
  endExchanges()
  await wait(REST_MS)
  const after = watch.handles()
  const restBytes = watch.residentBytes()
  await stopAll(torana.pid)
  const recorded = (await (await fetch(`${upstream}/_calls`)).json()) as RecordedCall[]
  const ledger = await judgeLedger(databaseUrl, recorded, tally)

  report.figure('requests', String(tally.requests))
  report.figure('… whose client left', String(tally.left))
  for (const [what = '', figure = ''] of tally.rows) report.figure(what, figure)
  for (const [what = '', figure = ''] of ledger.figures) report.figure(what, figure)
  report.aim('vectors looked at', String(tally.vectors), '> 0', tally.vectors > 0)
  report.aim('pictures looked at', String(tally.pictures), '> 0', tally.pictures > 0)
  report.aim('links fetched', String(tally.assets), '> 0', tally.assets > 0)
  nothingWrong('wrong answers', tally.wrong)
  nothingWrong('wrong in the ledger', ledger.wrong)
  report.aim(
    'connections at rest',
    String(after.connections),
    `≤ ${MAX_CONNECTIONS}`,
    after.connections <= MAX_CONNECTIONS,
  )
  report.aim(
    'other handles, before and after',
    `${before.others}, ${after.others}`,
    `≤ ${MAX_NEW_HANDLES} more`,
    after.others <= before.others + MAX_NEW_HANDLES,
  )
  report.aim('files of uploads left', String(after.uploads), '0', after.uploads === 0)
  tellMemory(memory, restBytes)
}

function nothingWrong(what: string, wrong: readonly string[]): void {
  for (const text of wrong.slice(0, SHOWN)) process.stdout.write(`WRONG ${text}\n`)
  report.aim(what, String(wrong.length), '0', wrong.length === 0)
}

/** Growth is judged when there is enough of it to see. */
function tellMemory(memory: readonly number[], restBytes: number): void {
  const warm = memory.slice(WARM_MS / SAMPLE_MS)
  const part = Math.ceil(warm.length / 5)
  const [first, last] = [median(warm.slice(0, part)), median(warm.slice(-part))]
  const isLong = warm.length >= ENOUGH_SAMPLES
  report.aim(
    'memory after the first minute, at the end',
    isLong ? `${megabytes(first)}, ${megabytes(last)}` : 'too short to say',
    `≤ × ${MAX_GROWTH}`,
    isLong ? last <= first * MAX_GROWTH : undefined,
  )
  report.figure('memory at rest', megabytes(restBytes))
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MB`
}

/** Memory, sampled. */
async function load({ origin }: StartedTorana, watch: GatewayWatch): Promise<number[]> {
  const untilMs = Date.now() + Number(options.minutes) * 60_000
  const clients = Array.from({ length: Number(options.clients) }, async (_, number) => {
    const visit = { origin, project: PROJECTS[number % PROJECTS.length] ?? 'alpha', tally }
    while (Date.now() < untilMs) {
      const ask = chance(PICTURES) ? paint : embed
      await ask(visit).catch((error: unknown) => tally.wrong.push(`${ask.name}: ${String(error)}`))
      await wait(below(MAX_PAUSE_MS))
    }
  })
  const memory: number[] = []
  for (let sample = 0; Date.now() < untilMs; sample += 1) {
    await wait(SAMPLE_MS)
    memory.push(watch.residentBytes())
    if (sample % 30 === 29) {
      const said = [
        `${tally.requests} requests`,
        `${tally.wrong.length} wrong`,
        megabytes(memory.at(-1) ?? 0),
      ]
      process.stderr.write(`${said.join(', ')}, ${watch.handles().connections} connections\n`)
    }
  }
  await Promise.all(clients)
  return memory
}

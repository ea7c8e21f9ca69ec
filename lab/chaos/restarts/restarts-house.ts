/** The common setting of all restarts: a PostgreSQL, a fake provider, a torana.yaml, and the ledger to check. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openPostgres, type Database } from '../../../server/src/stores/postgres/database.ts'
import { configText, GATEWAY_KEY } from '../../../server/test/support/gateway.ts'
import { SOURCE_PROGRAM } from '../../../server/test/support/process.ts'
import { startPostgresServer, type TestServer } from '../../../server/test/support/servers.ts'
import { startFakeProvider, type FakeProvider } from '../../fake-provider/server.ts'
import { newTorana, type Torana } from '../../torana.ts'
import { callsIn, checkSums, withDatabase } from '../ledger-checks.ts'
import { violationText } from '../rounds.ts'
import { print } from '../../report.ts'
import { BALANCERS } from './balancers.ts'
import { BATCH_CALL_MS, BATCHED } from './batch-beside.ts'
import { PICTURE_MS, PICTURES, VECTORS, type SteadyLoad } from './steady-load.ts'

export interface RestartsHouse {
  readonly folder: string
  readonly provider: FakeProvider
  readonly database: Database
  readonly env: Readonly<Record<string, string>>
  torana(name: string, args?: readonly string[]): Promise<Torana>
  close(): Promise<void>
}

export interface HouseOptions {
  /** Undefined for a new one. */
  readonly databaseUrl?: string
  readonly env?: Readonly<Record<string, string>>
  readonly limits?: Readonly<Record<string, number>>
}

/** An image that comes at the end of the delay may take twice its time on a busy machine. */
const DRAIN_MS = 120_000
/** A start on a busy machine, with a migration in it. */
const READY_MS = 600_000

export async function startRestartsHouse(options: HouseOptions = {}): Promise<RestartsHouse> {
  const folder = mkdtempSync(join(tmpdir(), 'torana-restarts-'))
  const provider = await startFakeProvider()
  let postgres: TestServer | undefined
  if (options.databaseUrl === undefined) postgres = await startPostgresServer()
  const databaseUrl = options.databaseUrl ?? postgres?.url ?? ''
  const database = openPostgres(databaseUrl, { poolSize: 2 })
  const price = { usdPerMillionTokens: 1 }
  const config = {
    models: {
      [VECTORS]: { on: 'plain', price },
      [BATCHED]: { on: `slow-${BATCH_CALL_MS}`, price },
    },
    images: { [PICTURES]: { on: `slow-${PICTURE_MS}`, price: { usdPerImage: 0.01 } } },
    limits: { stopDelayMs: BALANCERS.haproxy.stopDelayMs, drainMs: DRAIN_MS, ...options.limits },
  }
  writeFileSync(join(folder, 'torana.yaml'), configText(config, provider.url))
  const env = {
    DATABASE_URL: databaseUrl,
    TORANA_BOOTSTRAP_KEY: GATEWAY_KEY,
    ASSETS_URL: `file://${join(folder, 'assets')}`,
    ...options.env,
  }
  return {
    folder,
    provider,
    database,
    env,
    async torana(name, args = []) {
      return newTorana({
        name,
        folder,
        env: { TORANA_SECRET: 'the same secret on every node', LOG_LEVEL: 'info', ...env },
        args: ['start', ...args],
        program: SOURCE_PROGRAM,
        patienceMs: READY_MS,
        asksReadyz: true,
      })
    },
    async close() {
      await Promise.all([provider.close(), database.close()])
      await postgres?.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export interface Outcome {
  readonly title: string
  readonly wrongs: readonly string[]
  /** Of all clients. */
  readonly requests: number
  readonly failed: number
}

/** Compares what callers got and what the upstream served with the ledger, once all of it has arrived there, and the ledger with its rollups. */
export async function outcomeOf(
  title: string,
  load: SteadyLoad,
  { provider, database, env }: RestartsHouse,
  more: readonly string[] = [],
): Promise<Outcome> {
  const { served } = provider.counters()
  let inLedger = await callsIn(database)
  for (let tries = 0; inLedger < served && tries < 100; tries += 1) {
    await wait(200)
    inLedger = await callsIn(database)
  }
  console.log(`\n${title}`)
  print([
    ['clients on', 'answered', 'failed', 'slowest'],
    ...load
      .figures()
      .map(({ what, answered, failed, latencies }) => [
        what,
        String(answered),
        String(failed),
        `${Math.round(latencies.slowestMs)} ms`,
      ]),
  ])
  console.log(`${served} calls served by the upstream, ${inLedger} in the ledger`)
  const wrongs = [...more, ...load.failures()]
  if (served !== inLedger) wrongs.push(`${served} calls were served, ${inLedger} are in the ledger`)
  const differing = await withDatabase(env['DATABASE_URL'] ?? '', checkSums)
  wrongs.push(...differing.map(violationText))
  for (const wrong of wrongs) console.log(`wrong: ${wrong}`)
  const all = load.figures()
  const failed = all.reduce((sum, one) => sum + one.failed, 0)
  const requests = all.reduce((sum, one) => sum + one.answered, failed)
  return { title, wrongs, requests, failed }
}

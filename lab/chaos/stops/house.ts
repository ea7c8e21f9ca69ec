/** A gateway process to stop, the upstream behind it, and its database. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgres, type Database } from '../../../server/src/stores/postgres/database.ts'
import { configText, GATEWAY_KEY, gatewayEnvironment } from '../../../server/test/support/gateway.ts'
import { bareEnvironment, PROGRAM } from '../../../server/test/support/process.ts'
import { startFakeProvider, type FakeProvider } from '../../fake-provider/server.ts'

/** Four times the duration of an image: a busy machine adds seconds. */
export const DRAIN_MS = 12_000

export interface House {
  readonly folder: string
  readonly provider: FakeProvider
  readonly database: Database
  readonly databaseUrl: string
  close(): Promise<void>
}

export async function startHouse(folder: string, databaseUrl: string): Promise<House> {
  const provider = await startFakeProvider()
  const database = openPostgres(databaseUrl, { poolSize: 2 })
  const config = {
    models: { 'large-w1536': { on: 'plain', price: { usdPerMillionTokens: 1 } } },
    // Longer than a drain for requests alone, and shorter than the whole.
    images: { 'slow-image': { on: 'slow-3000', price: { usdPerImage: 0.01 } } },
    // Only the end of the drain may end stalled clients.
    limits: { drainMs: DRAIN_MS, downloadIdleMs: 600_000, uploadIdleMs: 600_000, queueWaitMs: 60_000 },
  }
  writeFileSync(join(folder, 'torana.yaml'), configText(config, provider.url))
  return {
    folder,
    provider,
    database,
    databaseUrl,
    async close() {
      await Promise.all([provider.close(), database.close()])
    },
  }
}

export interface StoppedEnd {
  /** Exit code of the process, or a signal when it was ended before any of its code had run. */
  readonly code: number | NodeJS.Signals
  /** From the signal to the end. */
  readonly tookMs: number
  readonly output: string
  /** What a clean end must not leave behind. */
  readonly left: readonly string[]
}

export interface GatewayToStop {
  readonly dataDir: string
  /** Resolves with its public address. */
  ready(): Promise<string>
  /** Sends SIGTERM. */
  stop(): Promise<StoppedEnd>
}

let started = 0
const running = new Set<ChildProcess>()
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')))

export function startGatewayToStop(house: House, name = `node-${(started += 1)}`): GatewayToStop {
  const folder = join(house.folder, name)
  mkdirSync(folder, { recursive: true })
  const env = gatewayEnvironment(house.folder, {
    TORANA_DATA_DIR: join(folder, 'data'),
    TORANA_SECRET: 'the same secret on every node',
    DATABASE_URL: house.databaseUrl,
  })
  const child = spawn(process.execPath, [PROGRAM, 'start'], {
    cwd: folder,
    env: { ...bareEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const dataDir = join(folder, 'data')
  return {
    dataDir,
    async ready() {
      for (;;) {
        const url = /Base URL +(http:\/\/[^/\s]+)[\s\S]*Metrics +http/.exec(output)?.[1]
        if (url !== undefined) return url
        if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${output}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    async stop() {
      const startMs = performance.now()
      child.kill('SIGTERM')
      const [code, signal] = await closed
      running.delete(child)
      const tookMs = performance.now() - startMs
      const end = code ?? signal ?? 'SIGKILL'
      return { code: end, tookMs, output, left: await leftBehind(house, dataDir) }
    },
  }
}

async function leftBehind({ database }: House, dataDir: string): Promise<readonly string[]> {
  const left: string[] = []
  if (existsSync(dataDir)) {
    const nodes = join(dataDir, 'nodes')
    if (existsSync(nodes)) left.push(...readdirSync(nodes).map((name) => `nodes/${name}`))
    left.push(...readdirSync(dataDir).filter((name) => name.endsWith('.sock')))
  }
  const [table] = await database.query<{ found: string | null }>(`SELECT to_regclass('nodes') AS found`)
  if (table?.found == null) return left
  const rows = await database.query<{ node_id: string }>('SELECT node_id FROM nodes WHERE ended_at IS NULL')
  return [...left, ...rows.map(({ node_id: id }) => `the row of node ${id}`)]
}

export const KEY = GATEWAY_KEY

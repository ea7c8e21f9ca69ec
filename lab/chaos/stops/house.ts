/** A gateway process to stop, the upstream behind it, and its database. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgres, type Database } from '../../../server/src/stores/postgres/database.ts'
import { configText, GATEWAY_KEY } from '../../../server/test/support/gateway.ts'
import { startFakeProvider, type FakeProvider } from '../../fake-provider/server.ts'
import { newTorana, type ToranaEnd } from '../../torana.ts'

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

export interface StoppedEnd extends ToranaEnd {
  readonly output: string
  /** What a clean end must not leave behind. */
  readonly left: readonly string[]
}

export interface GatewayToStop {
  /** Another of the same name has the same data. */
  readonly name: string
  /** Resolves with its public address. */
  ready(): Promise<string>
  /** Sends SIGTERM. */
  stop(): Promise<StoppedEnd>
}

let started = 0

export async function startGatewayToStop(
  house: House,
  name = `node-${(started += 1)}`,
): Promise<GatewayToStop> {
  const torana = await newTorana({
    folder: join(house.folder, name),
    name: 'node',
    env: {
      TORANA_CONFIG: join(house.folder, 'torana.yaml'),
      TORANA_BOOTSTRAP_KEY: GATEWAY_KEY,
      TORANA_SECRET: 'the same secret on every node',
      DATABASE_URL: house.databaseUrl,
    },
  })
  torana.launch()
  const { url, dataFolder } = torana
  return {
    name,
    async ready() {
      await torana.ready()
      return url
    },
    async stop() {
      const end = await torana.stop()
      return { ...end, output: torana.log(), left: await leftBehind(house, dataFolder) }
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

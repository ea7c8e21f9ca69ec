/** One PostgreSQL server and one fake provider for all kills, and for each kill a separate database and folder of images. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { JOB_HOLD_MS } from '../../../server/src/ports/image-jobs.ts'
import { configText, type ImageModelSpec } from '../../../server/test/support/gateway.ts'
import { startPostgresServer, type TestServer } from '../../../server/test/support/servers.ts'
import { startFakeProvider, type FakeProvider } from '../../fake-provider/server.ts'
import { withDatabase } from '../ledger-checks.ts'

export interface House {
  readonly folder: string
  readonly postgres: TestServer
  readonly provider: FakeProvider
  stop(): Promise<void>
}

/** What the gateways of one kill share. */
export interface Place {
  readonly house: Pick<House, 'folder' | 'provider'>
  readonly folder: string
  readonly assets: string
  readonly databaseUrl: string
}

export const NANO_USD_PER_PICTURE = 40_000_000n

const PRICE = { usdPerImage: 0.04 }
const SIZES = ['256x256']

/** As in the catalog. */
const POLLED = { maxImages: 1, formats: ['jpeg', 'png'], forms: ['url'], user: false, maxParallelCalls: 4 }

function plain(on: string, capabilities: object = {}): ImageModelSpec {
  return { on, price: PRICE, capabilities: { sizes: SIZES, ...capabilities } }
}

function polled(on: string): ImageModelSpec {
  const upstream = { base: 'bfl/v1', dialect: 'ai-sdk', provider: 'black-forest-labs' }
  return { ...plain(on, POLLED), upstream, upstreamModel: 'flux-pro-1.1' }
}

/** Time that a job of a slow polled upstream is pending: until after the process that submitted it is dead and missed. */
const PENDING_MS = JOB_HOLD_MS + 15_000

export const MODELS = {
  plain: plain('plain'),
  slow: plain('slow-1500'),
  large: plain('bytes-2000000'),
  /** Served, and never answered. */
  hanging: plain('serves-then-hangs'),
  'one-a-call': plain('plain+no-echo', { maxImages: 1, maxParallelCalls: 4 }),
  'only-png': plain('plain+revises', { formats: ['png'] }),
  polled: polled('polls-1'),
  'polled-slow': polled('slow-1500+polls-3'),
  'polled-hanging': polled('serves-then-hangs'),
  'polled-pending': polled(`pending-${PENDING_MS}`),
} as const satisfies Record<string, ImageModelSpec>

export type ModelId = keyof typeof MODELS

export async function startHouse(folder: string): Promise<House> {
  const provider = await startFakeProvider({ logFile: join(folder, 'served.jsonl') })
  const postgres = await startPostgresServer()
  // One place has a disk of three megabytes: a node that keeps a reserve would refuse its orders before it buys.
  const config = configText({ images: MODELS, limits: { diskReserveBytes: 0 } }, provider.url)
  writeFileSync(join(folder, 'torana.yaml'), config)
  return {
    folder,
    postgres,
    provider,
    async stop() {
      await Promise.all([provider.close(), postgres.stop()])
    },
  }
}

export async function newPlace(house: House, name: string): Promise<Place> {
  const folder = join(house.folder, name)
  const assets = join(folder, 'assets')
  mkdirSync(assets, { recursive: true })
  const database = name.replaceAll('-', '_')
  await withDatabase(house.postgres.url, (client) => client.query(`CREATE DATABASE ${database}`))
  const url = new URL(house.postgres.url)
  url.pathname = `/${database}`
  return { house, folder, assets, databaseUrl: url.href }
}

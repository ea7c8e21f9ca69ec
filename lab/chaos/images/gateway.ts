/** One gateway process, which is killed and not started again. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { GATEWAY_KEY } from '../../../server/test/support/gateway.ts'
import { PROGRAM, SOURCE_PROGRAM } from '../../../server/test/support/process.ts'
import { startTorana, type Torana } from '../../torana.ts'
import type { Place } from './house.ts'

const PROBE = pathToFileURL(join(import.meta.dirname, 'gap-probe.ts'))

export interface ImageGatewayOptions {
  /** Names its log and its data folder. */
  readonly name: string
  readonly dataDir: string
  readonly assets?: string
  /** Where its jobs are held, and the file that reports it. */
  readonly held?: { readonly place: string; readonly file: string } | undefined
}

export async function startImageGateway(
  { house, folder, assets, databaseUrl }: Place,
  { name, dataDir, assets: otherAssets, held }: ImageGatewayOptions,
): Promise<Torana> {
  return startTorana({
    folder,
    name,
    flags: probeOptions(held),
    program: held === undefined ? PROGRAM : SOURCE_PROGRAM,
    env: {
      LOG_LEVEL: 'info',
      TORANA_CONFIG: join(house.folder, 'torana.yaml'),
      TORANA_DATA_DIR: join(folder, dataDir),
      TORANA_BOOTSTRAP_KEY: GATEWAY_KEY,
      TORANA_SECRET: 'the same secret on all gateways',
      DATABASE_URL: databaseUrl,
      ASSETS_URL: `file:${otherAssets ?? assets}`,
    },
  })
}

function probeOptions(held: ImageGatewayOptions['held']): string[] {
  if (held === undefined) return []
  const probe = new URL(PROBE)
  probe.searchParams.set('place', held.place)
  probe.searchParams.set('file', held.file)
  return ['--import', probe.href]
}

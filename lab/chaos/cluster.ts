/**
 * The whole cluster on loopback: a PostgreSQL, a Redis behind a proxy, a fake provider with its log, two or three
 * gateways that are restarted when they end, and HAProxy in front of them. All of it ends with this process,
 * however that ends.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  freePort,
  startPostgresServer,
  startRedisServer,
  type TestServer,
} from '../../server/test/support/servers.ts'
import { stopAll } from '../processes.ts'
import { startProvider } from '../provider.ts'
import { newTorana, type ToranaOptions } from '../torana.ts'
import { GatewayProcess } from './gateway-process.ts'
import { gatewaysText, startHaproxy } from './haproxy.ts'
import { startReplyProxy, type ReplyProxy } from './redis-proxy.ts'
import { configText, type Terms } from './traffic.ts'

/** Gateways that share a data folder, and so recover what the others leave behind. */
export const FOLDER_PLANS = {
  own: ['a', 'b', 'c'],
  shared: ['a', 'a', 'a'],
  mixed: ['a', 'b', 'b'],
  pair: ['a', 'b'],
} as const satisfies Record<string, readonly string[]>

export type FolderPlan = keyof typeof FOLDER_PLANS

/** Gateways behind HAProxy and the fake provider, on stores of any kind. */
export interface House {
  /** HAProxy's address. */
  readonly url: string
  readonly gateways: readonly GatewayProcess[]
  readonly postgres: { readonly url: string }
  readonly providerUrl: string
  /** The log of what the provider actually served. */
  readonly oracleFile: string
  /** The folders of all gateways, living or dead. */
  nodeFolders(): string[]
  stop(): Promise<void>
}

export interface Cluster extends House {
  readonly postgres: TestServer
  readonly redis: TestServer
  readonly redisReplies: ReplyProxy
}

export interface ClusterOptions {
  readonly folder: string
  readonly folderPlan: FolderPlan
  readonly terms: Terms
}

export async function startCluster({ folder, folderPlan, terms }: ClusterOptions): Promise<Cluster> {
  const [postgres, redis] = await Promise.all([startPostgresServer(), startRedisServer()])
  const redisReplies = await startReplyProxy(redis.port)
  const house = await startHouse({
    folder,
    dataFolders: FOLDER_PLANS[folderPlan],
    configOf: (providerUrl) => configText(providerUrl, terms),
    env: { DATABASE_URL: postgres.url, REDIS_URL: redisReplies.url },
  })
  return {
    ...house,
    postgres,
    redis,
    redisReplies,
    async stop() {
      await house.stop()
      redisReplies.stop()
      await Promise.all([postgres.stop(), redis.stop()])
    },
  }
}

export interface HouseOptions {
  readonly folder: string
  /** One for each gateway. */
  readonly dataFolders: readonly string[]
  readonly configOf: (providerUrl: string) => string
  /** The addresses of its stores. */
  readonly env: { readonly DATABASE_URL: string } & Readonly<Record<string, string>>
  /** What one gateway has of its own. */
  readonly ofGateway?: (index: number) => Pick<ToranaOptions, 'env' | 'flags' | 'program'>
}

export async function startHouse({
  folder,
  dataFolders,
  configOf,
  env,
  ofGateway,
}: HouseOptions): Promise<House> {
  const [provider, haproxyPort] = [await startProvider(undefined, folder), await freePort()]
  const { origin: providerUrl, log: oracleFile } = provider
  const configFile = join(folder, 'torana.yaml')
  writeFileSync(configFile, configOf(providerUrl))

  const dataDirs = dataFolders.map((name) => join(folder, `data-${name}`))
  const gateways = await Promise.all(
    dataDirs.map(async (dataDir, index) => {
      const own = ofGateway?.(index)
      const torana = await newTorana({
        ...own,
        folder,
        name: `gateway-${index}`,
        asksReadyz: true,
        env: {
          TORANA_CONFIG: configFile,
          TORANA_DATA_DIR: dataDir,
          TORANA_SECRET: 'the same secret on all gateways',
          LOG_LEVEL: 'error',
          ...env,
          ...own?.env,
        },
      })
      return new GatewayProcess(torana)
    }),
  )
  for (const gateway of gateways) gateway.start()
  await Promise.all(gateways.map((gateway) => gateway.ready()))
  const text = gatewaysText(
    haproxyPort,
    gateways.map(({ port }) => port),
  )
  const stopHaproxy = await startHaproxy(join(folder, 'haproxy.cfg'), text, [haproxyPort])
  return {
    url: `http://127.0.0.1:${haproxyPort}`,
    gateways,
    postgres: { url: env.DATABASE_URL },
    providerUrl,
    oracleFile,
    nodeFolders: () => [...new Set(dataDirs)].flatMap(nodeFoldersIn),
    async stop() {
      stopHaproxy()
      await Promise.all(gateways.map((gateway) => gateway.stop()))
      await stopAll(provider.pid)
    },
  }
}

function nodeFoldersIn(dataDir: string): string[] {
  const parent = join(dataDir, 'nodes')
  if (!existsSync(parent)) return []
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(parent, name))
}

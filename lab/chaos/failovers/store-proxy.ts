/** HAProxy in front of the stores, as in `deploy/failover/haproxy.cfg`: it leads to the current primary. */
import { join } from 'node:path'
import { freePort } from '../../../server/test/support/servers.ts'
import { startHaproxy } from '../haproxy.ts'
import { deployed, replaced } from './deployed.ts'
import type { PatroniNode } from './patroni.ts'

export interface StoreProxy {
  readonly postgresPort: number
  readonly redisPort: number
  stop(): void
}

export interface Behind {
  readonly postgres: readonly Pick<PatroniNode, 'port' | 'restPort'>[]
  readonly redis: readonly { readonly port: number }[]
}

/** A port without a listener, for the addresses of unneeded servers. */
const UNUSED_PORT = 9

export async function startStoreProxy(folder: string, { postgres, redis }: Behind): Promise<StoreProxy> {
  const [postgresPort, redisPort] = [await freePort(), await freePort()]
  const file = join(folder, 'stores.cfg')
  const text = replaced(deployed('haproxy.cfg'), [
    ['bind :5432', `bind 127.0.0.1:${postgresPort}`],
    ['bind :6379', `bind 127.0.0.1:${redisPort}`],
    ...[0, 1].flatMap((index): [string, string][] => [
      [
        `10.0.0.1${index + 1}:5432 check port 8008`,
        `127.0.0.1:${postgres[index]?.port ?? UNUSED_PORT} check port ${postgres[index]?.restPort ?? UNUSED_PORT}`,
      ],
      [`10.0.0.2${index + 1}:6379`, `127.0.0.1:${redis[index]?.port ?? UNUSED_PORT}`],
    ]),
  ])
  return { postgresPort, redisPort, stop: await startHaproxy(file, text, [postgresPort, redisPort]) }
}

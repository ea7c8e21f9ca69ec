/** HAProxy before the stores, as in `deploy/failover/haproxy.cfg`: it leads to the primary, whichever that is. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { becoming, freePort } from '#test/support/servers.ts'
import { deployed, replaced } from './deployed.ts'
import type { PatroniNode } from './patroni.ts'

export interface StoreProxy {
  readonly postgresPort: number
  readonly redisPort: number
  stop(): Promise<void>
}

export interface Behind {
  readonly postgres: readonly Pick<PatroniNode, 'port' | 'restPort'>[]
  readonly redis: readonly { readonly port: number }[]
}

/** Addresses of servers that nobody needs now lead nowhere. */
const NOBODY = 9

export async function startStoreProxy(folder: string, { postgres, redis }: Behind): Promise<StoreProxy> {
  const [postgresPort, redisPort] = [await freePort(), await freePort()]
  const file = join(folder, 'stores.cfg')
  const text = replaced(deployed('haproxy.cfg'), [
    ['bind :5432', `bind 127.0.0.1:${postgresPort}`],
    ['bind :6379', `bind 127.0.0.1:${redisPort}`],
    ...[0, 1].flatMap((index): [string, string][] => [
      [
        `10.0.0.1${index + 1}:5432 check port 8008`,
        `127.0.0.1:${postgres[index]?.port ?? NOBODY} check port ${postgres[index]?.restPort ?? NOBODY}`,
      ],
      [`10.0.0.2${index + 1}:6379`, `127.0.0.1:${redis[index]?.port ?? NOBODY}`],
    ]),
  ])
  writeFileSync(file, text)
  const child = spawn('setpriv', [...becoming(undefined), 'haproxy', '-db', '-f', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exit = once(child, 'exit')
  // It tells of every server that comes and goes.
  const told = createWriteStream(join(folder, 'stores-haproxy.log'))
  child.stderr.pipe(told)
  return {
    postgresPort,
    redisPort,
    async stop() {
      child.kill('SIGKILL')
      await exit
    },
  }
}

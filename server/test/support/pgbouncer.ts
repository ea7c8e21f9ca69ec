/** A PgBouncer on loopback before a PostgreSQL of the tests, whose mode can change while it runs. */
import { chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { PATIENCE_MS } from './patience.ts'
import { freePort, postgresUser, run, temporaryFolder } from './servers.ts'
import { isOnPath } from './system.ts'

export const hasPgbouncer: boolean = isOnPath('pgbouncer')

type PoolMode = 'session' | 'transaction'

export interface TestPooler {
  /** Of the same database, through the pooler. */
  readonly url: string
  /** It reads its file again soon after. */
  change(mode: PoolMode): void
  stop(): Promise<void>
}

/** `servers`: connections to PostgreSQL that it shares out. `isInTurn`: the one that rested longest is next, instead of the last one. */
export async function startPgbouncer(
  databaseUrl: string,
  mode: PoolMode,
  { servers = 20, isInTurn = false } = {},
): Promise<TestPooler> {
  const to = new URL(databaseUrl)
  const port = await freePort()
  const folder = temporaryFolder('pgbouncer')
  const file = join(folder, 'pgbouncer.ini')
  const name = to.pathname.slice(1)
  const user = postgresUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const configure = (poolMode: PoolMode): void =>
    writeFileSync(
      file,
      `[databases]
${name} = host=${to.hostname} port=${to.port} user=${to.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${poolMode}
default_pool_size = ${servers}
server_round_robin = ${Number(isInTurn)}
max_client_conn = 200
ignore_startup_parameters = statement_timeout, lock_timeout, idle_in_transaction_session_timeout, options
`,
    )
  configure(mode)
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${port}`
  const command = ['pgbouncer', file]
  const server = await run({
    folder,
    port,
    command,
    user,
    url: url.href,
    stopSignal: 'SIGTERM',
    greet: () => greet(url.href),
  })
  return {
    url: url.href,
    stop: () => server.stop(),
    change(next) {
      configure(next)
      for (const pid of server.pids()) process.kill(pid, 'SIGHUP')
    },
  }
}

async function greet(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: PATIENCE_MS })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
  } finally {
    await client.end()
  }
}

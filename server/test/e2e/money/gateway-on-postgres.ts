/** A node in this process on a real PostgreSQL, and a way to read its ledger. */
import { after } from 'node:test'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { startGateway, type Gateway, type GatewayOptions } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

export interface GatewayOnPostgres {
  readonly gateway: Gateway
  readonly database: Database
  /** Resolves when no upstream call is in progress. */
  quiet: () => Promise<void>
}

export async function startGatewayOnPostgres(options: GatewayOptions): Promise<GatewayOnPostgres> {
  const { url } = await testPostgres()
  const env = { DATABASE_URL: url, TORANA_SECRET: 'the secret of this one node' }
  const gateway = await startGateway({ ...options, env: { ...env, ...options.env } })
  const database = openPostgres(url, { poolSize: 2 })
  after(() => database.close())
  return {
    gateway,
    database,
    quiet: () =>
      eventually(async () => {
        const { inFlight } = gateway.provider.counters()
        if (inFlight > 0) throw new Error(`${inFlight} calls are under way`)
      }),
  }
}

/** The ledger on one engine, as a new installation finds it, with a clock that the test controls. */
import { systemClock } from '#runtime/clock.ts'
import { after } from 'node:test'
import type { LedgerEntry } from '#core/money/ledger.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { PostgresAudit } from '#stores/postgres/audit.ts'
import { PostgresBudgets } from '#stores/postgres/ledger/budgets.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { PostgresKeys } from '#stores/postgres/directory/keys.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { PostgresRequests } from '#stores/postgres/ledger/requests.ts'
import { PostgresReconciler } from '#stores/postgres/ledger/reconciler.ts'
import { PostgresSealing } from '#stores/postgres/ledger/seal.ts'
import { PostgresUpkeep } from '#stores/postgres/ledger/upkeep.ts'
import { testPglite } from './pglite.ts'
import { eventually } from './process.ts'
import { hasPostgres, testPostgres } from './servers.ts'

/** A Saturday afternoon in the last month of a year, so that the next partitions are of another year. */
export const LEDGER_NOW_MS = Date.UTC(2026, 11, 12, 15, 30)
export const DAY_MS = 86_400_000

export type LedgerStores = Awaited<ReturnType<typeof storesOn>>

async function storesOn(database: Database) {
  const clock = {
    ms: LEDGER_NOW_MS,
    nowMs: (): number => clock.ms,
    monotonicMs: (): number => clock.ms,
    storeMs: async (): Promise<number> => clock.ms,
  }
  // The clock of these tests goes before that of the database.
  await database.query('ALTER TABLE ledger_seal DISABLE TRIGGER ledger_seal_in_the_past')
  const identifiers = uuidv7Identifiers(clock)
  const ledger = new PostgresLedger(database)
  const nodeId = identifiers.next()
  await ledger.startNode({ id: nodeId, host: 'here', version: '1.0.0' })
  await ledger.heartbeat(nodeId, { clockSkewMs: 0 })
  const upkeep = new PostgresUpkeep(database, ledger, clock)
  const sealing = new PostgresSealing(database, clock)
  return {
    database,
    clock,
    identifiers,
    nodeId,
    ledger,
    budgets: new PostgresBudgets(database),
    keys: new PostgresKeys(database),
    audit: new PostgresAudit(database, systemClock),
    requests: new PostgresRequests(database),
    upkeep,
    reconciler: new PostgresReconciler(database, clock),
    sealing,
    /** Gives every day its sums: sealed ones for good, the others for now. */
    rollUpAllDays: async (): Promise<void> => {
      await sealing.sealDue()
      await upkeep.rollUpDays()
    },
    /** An entry of a request accepted now. */
    entry: (overrides: Partial<LedgerEntry> = {}): LedgerEntry => ({
      requestId: identifiers.next(),
      attempt: 0,
      kind: 'post',
      callId: identifiers.next(),
      project: 'search',
      keyId: 'search/ci',
      model: 'small',
      deployment: 'small/openai',
      usage: 'upstream',
      tokens: 10,
      images: 0,
      amountNanoUsd: 200n,
      projectLeaseNanoUsd: 0n,
      keyLeaseNanoUsd: 0n,
      ...overrides,
    }),
    /** As an owner of the tables could. */
    tamper: async (statement: string, values: readonly unknown[] = []): Promise<void> => {
      await database.query('ALTER TABLE usage_events DISABLE TRIGGER usage_events_append_only')
      await database.query(statement, values)
      await database.query('ALTER TABLE usage_events ENABLE TRIGGER usage_events_append_only')
    },
    rows: <Row>(statement: string, values: readonly unknown[] = []) => database.query<Row>(statement, values),
  }
}

/** One database for the whole test file, emptied each time it is opened: to open one takes longer. */
export function pgliteStores(): () => Promise<LedgerStores> {
  let opened: Promise<Database> | undefined
  after(async () => (await opened)?.close())
  return async () => {
    opened ??= testPglite()
    const database = await opened
    // What the test before left running may still read, and a deadlock with it ends this statement.
    await eventually(() => database.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public'))
    await migrate(database)
    return storesOn(database)
  }
}

/** A database for each test. Where there is no PostgreSQL, as for PGlite. */
export function postgresStores(): () => Promise<LedgerStores> {
  if (!hasPostgres) return pgliteStores()
  const opened: Database[] = []
  after(() => Promise.all(opened.map((database) => database.close())))
  return async () => {
    const database = openPostgres((await testPostgres('tables')).url)
    opened.push(database)
    return storesOn(database)
  }
}

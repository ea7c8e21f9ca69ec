/** Stores in a database: PostgreSQL, or the one inside this process. */
import { existsSync } from 'node:fs'
import type { DatabaseSettings, Settings } from '#core/settings.ts'
import { auditKeysOf, jobKeysOf, sealingKeysOf, snapshotKeysOf } from '#runtime/secret.ts'
import { AuditChain } from '#stores/audit-chain.ts'
import { hasKeyFile, PackedKeyFile } from '#stores/key-file/key-file.ts'
import { PostgresAlertOutbox } from '#stores/postgres/alerts/outbox.ts'
import { PostgresAlertRules } from '#stores/postgres/alerts/rules.ts'
import { PostgresAudit } from '#stores/postgres/audit.ts'
import { dumpDatabase } from '#stores/postgres/backup/dump.ts'
import { PostgresLake } from '#stores/postgres/ledger/lake.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { PostgresBudgets } from '#stores/postgres/ledger/budgets.ts'
import { withReachable } from '#stores/postgres/unreachable.ts'
import { openPostgres, POOL_SIZE, type Database } from '#stores/postgres/database.ts'
import { PostgresCredentials } from '#stores/postgres/directory/credentials.ts'
import { PostgresConfiguration } from '#stores/postgres/directory/configuration.ts'
import { PostgresDrains } from '#stores/postgres/directory/drains.ts'
import { PostgresKeys } from '#stores/postgres/directory/keys.ts'
import { PostgresPrices } from '#stores/postgres/directory/prices.ts'
import { PostgresFileUploads } from '#stores/postgres/jobs/file-uploads.ts'
import { PostgresFiles } from '#stores/postgres/jobs/files.ts'
import { PostgresBatches } from '#stores/postgres/jobs/batches.ts'
import { PostgresImageJobs } from '#stores/postgres/jobs/image-jobs.ts'
import { PostgresWebhooks } from '#stores/postgres/jobs/webhooks.ts'
import { openPglite } from '#stores/postgres/pglite.ts'
import { PostgresNodeNews } from '#stores/postgres/node-news.ts'
import { PostgresTrafficHistory } from '#stores/postgres/traffic-history.ts'
import { PostgresSpaces } from '#stores/postgres/spaces.ts'
import { PostgresSuspects } from '#stores/postgres/suspects/suspects.ts'
import { auditLines } from '#telemetry/audit-lines.ts'
import { brokenConnectionsLog } from '#telemetry/store-log.ts'
import { version, type Basics } from './basics.ts'
import { openLedger } from './ledger.ts'
import type { StoreParts, Stores } from './stores.ts'

/** An answer waits no longer for PostgreSQL; then its record goes to the spool. */
const COMMIT_MS = 2000
/** What a page of the console may wait for one question. */
const REPORT_MS = 2000
/** Enough for a console's page; more would take the processor of the database from the traffic. */
const REPORT_CONNECTIONS = 2
/** One batch at a time, and a few questions for leases. */
const LEDGER_CONNECTIONS = 4

/** The database of the settings, with the URL as it is when a connection is opened. */
type OpenedDatabase = Extract<DatabaseSettings, { kind: 'inside' }> | { kind: 'postgres'; url: () => string }

/** What a person who waits for the start is shown. */
export function databaseLine({ database }: Settings): string {
  if (database.kind === 'postgres') return 'Opening the database of DATABASE_URL'
  return `${existsSync(database.folder) ? 'Opening' : 'Making'} the database in ${database.folder}`
}

/** For a person who waits for a start whose database does not answer. The address has no password in it. */
export function unreachableLine({ database, dataDir }: Settings, controlUrl: string): string {
  const at = database.kind === 'postgres' ? ` at ${URL.parse(database.url)?.host ?? 'DATABASE_URL'}` : ''
  const serves = hasKeyFile(dataDir)
    ? 'Requests with known keys are served, and usage records queue on disk.'
    : 'No request is served until it answers. Check DATABASE_URL.'
  return `PostgreSQL${at} is unreachable; Torana keeps trying. ${serves} Status: ${controlUrl}/readyz`
}

export async function openDatabaseStores(
  basics: Basics,
  { webhooksFor, judgeMade, onEnded }: StoreParts,
): Promise<Stores> {
  const { secrets, log, storeUrls } = basics
  const kept = basics.settings.database
  const settings: OpenedDatabase =
    kept.kind === 'inside' ? kept : { kind: 'postgres', url: storeUrls.database ?? (() => kept.url) }
  const auditChain = new AuditChain(auditKeysOf(secrets), auditLines(log))
  await using opened = new AsyncDisposableStack()
  const onError = brokenConnectionsLog(log)
  const database = opened.adopt(await openDatabase(settings, { auditChain, onError }), (one) => one.close())
  const forMoney = opened.adopt(openForMoney(settings, { database, auditChain, onError }), (one) =>
    one.close(),
  )
  const forReports = opened.adopt(openForReports(settings, { database, auditChain, onError }), (one) =>
    one.close(),
  )
  const ledger = opened.use(await openLedger(basics, { database, forMoney, onEnded }))
  const parts = opened.move()
  return {
    ...ledger,
    budgets: new PostgresBudgets(forMoney),
    connections: settings.kind === 'postgres' ? POOL_SIZE + LEDGER_CONNECTIONS + REPORT_CONNECTIONS : 1,
    keyStore: new PostgresKeys(database),
    keyFile: new PackedKeyFile({
      folder: basics.settings.dataDir,
      keys: snapshotKeysOf(secrets),
      onTrouble: (trouble) => log.error({ err: trouble }, 'the copy of the stored keys in the data folder'),
    }),
    credentials: new PostgresCredentials(database, sealingKeysOf(secrets)),
    configuration: new PostgresConfiguration(database, sealingKeysOf(secrets)),
    alerts: new PostgresAlertRules(database, sealingKeysOf(secrets)),
    alertOutbox: new PostgresAlertOutbox(database),
    audit: new PostgresAudit(forReports, basics.clock),
    batches: new PostgresBatches(database, webhooksFor, judgeMade, () => ledger.pulse.raise('batches')),
    imageJobs: new PostgresImageJobs(database, jobKeysOf(secrets), webhooksFor),
    files: new PostgresFiles(database, basics.clock),
    fileUploads: new PostgresFileUploads(database),
    webhooks: new PostgresWebhooks(database),
    spaces: new PostgresSpaces(database),
    suspects: new PostgresSuspects(database, webhooksFor),
    drains: new PostgresDrains(database),
    news: new PostgresNodeNews(forReports),
    history: new PostgresTrafficHistory(forReports, basics.clock),
    prices: new PostgresPrices(database),
    lake: new PostgresLake(database),
    dump: (write) => dumpDatabase(database, version, basics.clock.nowMs(), write),
    reports: withReachable(forReports),
    ledgerStore: new PostgresLedger(forMoney),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

async function openDatabase(
  settings: OpenedDatabase,
  options: Pick<PoolParts, 'auditChain' | 'onError'>,
): Promise<Database> {
  return settings.kind === 'inside'
    ? openPglite(settings.folder, options)
    : openPostgres(settings.url, options)
}

/** Connections of their own, so that no slow page of the control API holds up a record. */
function openForMoney(settings: OpenedDatabase, parts: PoolParts): Database {
  return openOwnPool(settings, parts, { queryTimeoutMs: COMMIT_MS, poolSize: LEDGER_CONNECTIONS })
}

/** Connections of their own for what people look at, so that no look at a long time holds up a request. */
function openForReports(settings: OpenedDatabase, parts: PoolParts): Database {
  return openOwnPool(settings, parts, { queryTimeoutMs: REPORT_MS, poolSize: REPORT_CONNECTIONS })
}

interface PoolParts {
  readonly database: Database
  readonly auditChain: AuditChain
  readonly onError: (error: Error) => void
}

function openOwnPool(
  settings: OpenedDatabase,
  { database, auditChain, onError }: PoolParts,
  bounds: { readonly queryTimeoutMs: number; readonly poolSize: number },
): Database {
  // The database inside the process has one connection.
  if (settings.kind === 'inside') return database
  return openPostgres(settings.url, { onError, auditChain, ...bounds })
}

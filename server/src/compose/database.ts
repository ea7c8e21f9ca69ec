/** Stores in a database: PostgreSQL, or the one inside this process. */
import { join } from 'node:path'
import type { DatabaseSettings } from '#core/settings.ts'
import type { SealingKeys } from '#ports/credentials.ts'
import { auditKeysOf, jobKeysOf, sealingKeysOf, snapshotKeysOf } from '#runtime/secret.ts'
import { keySnapshotFile } from '#stores/key-snapshot-file.ts'
import { PostgresAudit } from '#stores/postgres/audit.ts'
import { PostgresBackup } from '#stores/postgres/backup/dump.ts'
import { PostgresLedger } from '#stores/postgres/books/ledger.ts'
import { PostgresBudgets } from '#stores/postgres/books/budgets.ts'
import { openPostgres, POOL_SIZE, type Database } from '#stores/postgres/database.ts'
import { PostgresCredentials } from '#stores/postgres/directory/credentials.ts'
import { PostgresUpstreams } from '#stores/postgres/directory/upstreams.ts'
import { PostgresDrains } from '#stores/postgres/directory/drains.ts'
import { PostgresKeys } from '#stores/postgres/directory/keys.ts'
import { PostgresPrices } from '#stores/postgres/directory/prices.ts'
import { PostgresFileUploads } from '#stores/postgres/jobs/file-uploads.ts'
import { PostgresFiles } from '#stores/postgres/jobs/files.ts'
import { PostgresBatches } from '#stores/postgres/jobs/batches.ts'
import { PostgresImageJobs } from '#stores/postgres/jobs/image-jobs.ts'
import { PostgresWebhooks } from '#stores/postgres/jobs/webhooks.ts'
import { PostgresAdminTokens } from '#stores/postgres/people/admin-tokens.ts'
import { PostgresInvitations } from '#stores/postgres/people/invitations.ts'
import { PostgresMembers } from '#stores/postgres/people/members.ts'
import { PostgresSavedViews } from '#stores/postgres/people/saved-views.ts'
import { PostgresSessions } from '#stores/postgres/people/sessions.ts'
import { PostgresSignOn } from '#stores/postgres/people/sign-on.ts'
import { openPglite } from '#stores/postgres/pglite.ts'
import { PostgresBatchReports } from '#stores/postgres/reports/batches.ts'
import { PostgresBudgetReports } from '#stores/postgres/reports/budgets.ts'
import { PostgresPriceReports } from '#stores/postgres/reports/prices.ts'
import { PostgresUnknowns } from '#stores/postgres/reports/unknowns.ts'
import { PostgresUsage } from '#stores/postgres/reports/usage.ts'
import { PostgresAttentionFigures } from '#stores/postgres/reports/attention.ts'
import { PostgresFinder } from '#stores/postgres/reports/finder.ts'
import { PostgresKeyReports } from '#stores/postgres/reports/keys.ts'
import { PostgresModelFigures } from '#stores/postgres/reports/model-figures.ts'
import { PostgresImageJobReports } from '#stores/postgres/reports/image-jobs.ts'
import { PostgresRequestReports } from '#stores/postgres/reports/requests.ts'
import { PostgresStorageFigures } from '#stores/postgres/reports/storage.ts'
import { PostgresNodeNews } from '#stores/postgres/node-news.ts'
import { PostgresTrafficHistory } from '#stores/postgres/reports/traffic-history.ts'
import { PostgresSpaces } from '#stores/postgres/spaces.ts'
import type { Log } from '#telemetry/log.ts'
import { KEY_SNAPSHOT, version, type Basics } from './basics.ts'
import { openBooks } from './books.ts'
import type { StoreParts, Stores } from './stores.ts'

/** An answer waits no longer for PostgreSQL; then its record goes to the spool. */
const COMMIT_MS = 2000
/** What a page of the console may wait for one question. */
const REPORT_MS = 2000
/** Enough for a console's page; more would take the processor of the database from the traffic. */
const REPORT_CONNECTIONS = 2
/** One batch at a time, and a few questions for leases. */
const LEDGER_CONNECTIONS = 4

type KeptDatabase = Exclude<DatabaseSettings, { kind: 'memory' }>
/** The same, with the URL as it is when a connection is opened. */
type OpenedDatabase = Extract<KeptDatabase, { kind: 'inside' }> | { kind: 'postgres'; url: () => string }

export async function openDatabaseStores(
  basics: Basics,
  kept: KeptDatabase,
  { webhooksFor, hasLeftSpace, onEnded }: StoreParts,
): Promise<Stores> {
  const { secrets, log, storeUrls } = basics
  const settings: OpenedDatabase =
    kept.kind === 'inside' ? kept : { kind: 'postgres', url: storeUrls.database ?? (() => kept.url) }
  const auditKeys = auditKeysOf(secrets)
  await using opened = new AsyncDisposableStack()
  const database = opened.adopt(await openDatabase(settings, auditKeys, log), (one) => one.close())
  const forMoney = opened.adopt(openForMoney(settings, { database, auditKeys, log }), (one) => one.close())
  const forReports = opened.adopt(openForReports(settings, { database, auditKeys, log }), (one) =>
    one.close(),
  )
  const books = opened.use(await openBooks(basics, { database, forMoney, onEnded }))
  const parts = opened.move()
  return {
    ...books,
    budgets: new PostgresBudgets(forMoney),
    connections: settings.kind === 'postgres' ? POOL_SIZE + LEDGER_CONNECTIONS + REPORT_CONNECTIONS : 1,
    keys: new PostgresKeys(database),
    keyFile: keySnapshotFile(join(basics.settings.dataDir, KEY_SNAPSHOT), snapshotKeysOf(secrets)),
    credentials: new PostgresCredentials(database, sealingKeysOf(secrets)),
    upstreams: new PostgresUpstreams(database),
    audit: new PostgresAudit(forReports, basics.clock),
    batches: new PostgresBatches(database, webhooksFor, hasLeftSpace),
    imageJobs: new PostgresImageJobs(database, jobKeysOf(secrets), webhooksFor),
    files: new PostgresFiles(database, basics.clock),
    fileUploads: new PostgresFileUploads(database),
    webhooks: new PostgresWebhooks(database),
    spaces: new PostgresSpaces(database),
    drains: new PostgresDrains(database),
    news: new PostgresNodeNews(forReports),
    history: new PostgresTrafficHistory(forReports, basics.clock),
    attention: new PostgresAttentionFigures(forReports, basics.clock),
    modelFigures: new PostgresModelFigures(forReports, basics.clock),
    storage: new PostgresStorageFigures(forReports),
    people: peopleIn(forReports, sealingKeysOf(secrets)),
    prices: new PostgresPrices(database),
    backup: new PostgresBackup(database, version, basics.clock.nowMs),
    reports: {
      requests: new PostgresRequestReports(forReports),
      imageJobs: new PostgresImageJobReports(forReports, jobKeysOf(secrets)),
      batches: new PostgresBatchReports(forReports),
      keys: new PostgresKeyReports(forReports),
      finder: new PostgresFinder(forReports),
      money: {
        usage: new PostgresUsage(forReports, basics.clock),
        budgets: new PostgresBudgetReports(forReports, basics.clock),
        unknowns: new PostgresUnknowns(forReports, basics.clock),
        ledger: new PostgresLedger(forMoney),
        priceReports: new PostgresPriceReports(forReports, basics.clock),
      },
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

function peopleIn(database: Database, keys: SealingKeys): NonNullable<Stores['people']> {
  return {
    members: new PostgresMembers(database),
    invitations: new PostgresInvitations(database),
    sessions: new PostgresSessions(database),
    signOn: new PostgresSignOn(database, keys),
    adminTokens: new PostgresAdminTokens(database),
    savedViews: new PostgresSavedViews(database),
  }
}

async function openDatabase(settings: OpenedDatabase, auditKeys: SealingKeys, log: Log): Promise<Database> {
  const options = { onError: brokenTo(log), auditKeys }
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
  readonly auditKeys: SealingKeys
  readonly log: Log
}

function openOwnPool(
  settings: OpenedDatabase,
  { database, auditKeys, log }: PoolParts,
  bounds: { readonly queryTimeoutMs: number; readonly poolSize: number },
): Database {
  // The database inside the process has one connection.
  if (settings.kind === 'inside') return database
  return openPostgres(settings.url, { onError: brokenTo(log), auditKeys, ...bounds })
}

function brokenTo(log: Log): (error: Error) => void {
  return (error) => log.warn({ err: error }, 'a connection to PostgreSQL broke')
}

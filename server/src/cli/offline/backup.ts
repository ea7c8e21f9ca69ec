/** Backup, restore and migration of the database of the settings, where no node does it. */
import { rm } from 'node:fs/promises'
import type { Settings } from '#core/settings.ts'
import { version } from '#node/basics.ts'
import { openBlobs } from '#node/blobs.ts'
import { lakeHashing } from '#node/lake.ts'
import type { WrittenBackup } from '#ports/backup.ts'
import { fingerprintsOf } from '#runtime/secret.ts'
import { checkBackupFile, linesOf, openBackupFile } from '#stores/backup-file.ts'
import { restorePictures, writeBackup } from '#stores/backup.ts'
import { dumpDatabase } from '#stores/postgres/backup/dump.ts'
import { loadDatabase } from '#stores/postgres/backup/load.ts'
import { PostgresLake } from '#stores/postgres/ledger/lake.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { migrate, type MigrationReport } from '#stores/postgres/migrate.ts'
import { changesSessions } from '#stores/postgres/pooler.ts'
import { openPglite } from '#stores/postgres/pglite.ts'
import { knownFingerprints } from '#stores/postgres/secret-fingerprints.ts'
import { UnfitPooler } from '#ports/ledger.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { checkRestoredDays, type RestoredDays } from '#worker/ledger/restored-days.ts'

/** Timeout of one statement on a large table. */
const STATEMENT_MS = 5 * 60_000
/** The person who runs a command notices a full disk, and no ledger is written beside it. */
const NO_RESERVE = { diskReserveBytes: 0 }

/** One for the work; the look at a pooler takes two. */
const CONNECTIONS = 2

type BackupOutcome = Omit<WrittenBackup, 'sha256'>
type StoreSettings = Pick<Settings, 'database' | 'assets' | 'dataDir'>

async function withDatabase<Result>(
  { database: settings }: StoreSettings,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const options = { queryTimeoutMs: STATEMENT_MS, poolSize: CONNECTIONS }
  const database =
    settings.kind === 'inside'
      ? await openPglite(settings.folder, options)
      : openPostgres(settings.url, options)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Runs without a node, or beside nodes that share a PostgreSQL. */
export function backUp(settings: StoreSettings, path: string, pictures: boolean): Promise<BackupOutcome> {
  return withDatabase(settings, async (database) => {
    const blobs = pictures ? (await openBlobs(settings, NO_RESERVE)).store : undefined
    const file = await openBackupFile(path)
    try {
      return await writeBackup(file, (write) => dumpDatabase(database, version, Date.now(), write), blobs)
    } catch (error) {
      await rm(path, { force: true })
      throw error
    } finally {
      await file.close()
    }
  })
}

export interface Restored extends BackupOutcome {
  /** Whether a node with this secret could read what is stored. Undefined without a secret. */
  readonly hasSecret: boolean | undefined
  /** Days whose entries are files. Undefined: there are none. */
  readonly droppedDays: RestoredDays | undefined
}

export interface RestoreOptions {
  /** The secret of the nodes that will use the database. */
  readonly secret: string | undefined
  readonly onProgress: (done: number, total: number) => void
}

export function restore(
  settings: StoreSettings,
  path: string,
  { secret, onProgress }: RestoreOptions,
): Promise<Restored> {
  return withDatabase(settings, async (database) => {
    const backup = await checkBackupFile(path)
    const total = backup.tables.reduce((sum, { rows }) => sum + rows, 0) + backup.blobs
    const onRows = (rows: number): void => onProgress(rows, total)
    const tables = await loadDatabase(database, { backup, lines: linesOf(path), onRows })
    let done = total - backup.blobs
    if (backup.blobs > 0)
      await restorePictures(path, (await openBlobs(settings, NO_RESERVE)).store, () =>
        onProgress((done += 1), total),
      )
    const known = await knownFingerprints(database)
    const current =
      secret === undefined ? undefined : fingerprintsOf({ current: secret, previous: undefined }).current
    const hasSecret = current === undefined ? undefined : known.size === 0 || known.has(current)
    const isInFiles = tables.some(({ inFilesBefore }) => inFilesBefore !== undefined)
    const droppedDays = isInFiles ? await daysInBucket(settings, database) : undefined
    return { tables, pictures: backup.blobs, hasSecret, droppedDays }
  })
}

/** The database is restored by now: what the bucket lacks, or an outage of it, undoes nothing. */
async function daysInBucket(settings: StoreSettings, database: Database): Promise<RestoredDays> {
  const { kept: blobs } = await openBlobs(settings, NO_RESERVE)
  try {
    return await checkRestoredDays({ store: new PostgresLake(database), blobs, hashing: lakeHashing })
  } catch (error) {
    if (!(error instanceof StoreUnreachable)) throw error
    return { checked: 0, problems: [`ASSETS_URL can not be read: ${error.message}`] }
  }
}

export function migrateDatabase(settings: StoreSettings): Promise<MigrationReport> {
  return withDatabase(settings, async (database) => {
    if (settings.database.kind === 'postgres' && (await changesSessions(database))) throw new UnfitPooler()
    return migrate(database)
  })
}

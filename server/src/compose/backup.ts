/** Backup of a running node, and backup and restore where none runs. */
import { readdir, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Settings } from '#core/settings.ts'
import type { BackupDependencies } from '#http/control/backup/routes.ts'
import type { AuditLog } from '#ports/audit.ts'
import type { BackupSource, TableReport } from '#ports/backup.ts'
import type { BlobStore } from '#ports/blobs.ts'
import { fingerprintsOf } from '#runtime/secret.ts'
import { checkBackupFile, linesOf, openBackupFile, writeBackupFile } from '#stores/backup-file.ts'
import { PictureWriter, writePictures } from '#stores/backup-pictures.ts'
import { PostgresBackup } from '#stores/postgres/backup/dump.ts'
import { loadDatabase } from '#stores/postgres/backup/load.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { migrate, type MigrationReport } from '#stores/postgres/migrate.ts'
import { openPglite } from '#stores/postgres/pglite.ts'
import { knownFingerprints } from '#stores/postgres/secret-fingerprints.ts'
import { version, type Basics } from './basics.ts'
import { openBlobs } from './blobs.ts'

export interface BackupOutcome {
  readonly tables: readonly TableReport[]
  readonly pictures: number
}

interface BackupParts {
  readonly source: BackupSource
  /** Undefined: without pictures. */
  readonly blobs: BlobStore | undefined
}

async function writeBackup(
  file: FileHandle,
  { source, blobs }: BackupParts,
): Promise<BackupOutcome & { readonly sha256: string }> {
  let outcome: BackupOutcome = { tables: [], pictures: 0 }
  const sha256 = await writeBackupFile(file, async (write) => {
    const tables = await source.write(write)
    const pictures = blobs === undefined ? 0 : await writePictures(blobs, write)
    await write(JSON.stringify({ complete: true, tables: tables.length, blobs: pictures }))
    outcome = { tables, pictures }
  })
  return { ...outcome, sha256 }
}

interface BackupBasics extends Pick<Basics, 'identifiers'> {
  readonly settings: Pick<Settings, 'dataDir'>
}

interface BackupStores {
  readonly backup?: BackupSource | undefined
  readonly audit: Pick<AuditLog, 'appendNews'>
}

const TEMPORARY = /^backup-[\w-]+\.tmp$/

/** Undefined on a node that keeps nothing. */
export async function backupFor(
  { settings: { dataDir }, identifiers }: BackupBasics,
  { backup: source, audit }: BackupStores,
  blobs: BlobStore,
): Promise<BackupDependencies | undefined> {
  if (source === undefined) return undefined
  // A backup has no name while it is written, so a file that has one was left behind by a process that was killed.
  for (const name of await readdir(dataDir)) if (TEMPORARY.test(name)) await rm(join(dataDir, name))
  return {
    async make({ pictures, actor }) {
      // To the disk first: a client that reads slowly must not hold the database at one moment for minutes.
      const path = join(dataDir, `backup-${identifiers.next()}.tmp`)
      const file = await openBackupFile(path)
      try {
        // Without a name the system frees its bytes when it is closed, also when this process is killed.
        await rm(path)
        const { tables, sha256 } = await writeBackup(file, { source, blobs: pictures ? blobs : undefined })
        const rows = tables.reduce((sum, one) => sum + one.rows, 0)
        await audit.appendNews({
          actor,
          action: 'backup.make',
          target: 'database',
          detail: { digest: sha256, rows, pictures },
        })
        return file.createReadStream({ start: 0 })
      } catch (error) {
        await file.close()
        throw error
      }
    },
  }
}

/** What one statement of a large table may take. */
const STATEMENT_MS = 5 * 60_000

type KeptSettings = Pick<Settings, 'database' | 'assets' | 'dataDir'>

/** The database of the settings, for work without a node. */
async function withDatabase<Result>(
  { database: settings }: KeptSettings,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  if (settings.kind === 'memory') throw new Error('DATABASE_URL is memory:, so nothing is kept')
  const options = { queryTimeoutMs: STATEMENT_MS, poolSize: 1 }
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

/** A person who runs a command sees a full disk, and no ledger writes beside it. */
const NO_RESERVE = { diskReserveBytes: 0 }

/** Without a node, or beside nodes that share a PostgreSQL. */
export function backUp(settings: KeptSettings, path: string, pictures: boolean): Promise<BackupOutcome> {
  return withDatabase(settings, async (database) => {
    const blobs = pictures ? (await openBlobs(settings, NO_RESERVE)).store : undefined
    const source = new PostgresBackup(database, version, Date.now)
    const file = await openBackupFile(path)
    try {
      return await writeBackup(file, { source, blobs })
    } catch (error) {
      await rm(path, { force: true })
      throw error
    } finally {
      await file.close()
    }
  })
}

export interface Restored extends BackupOutcome {
  /** Whether a node with this secret could read what is stored; undefined: none is given here. */
  readonly hasSecret: boolean | undefined
}

/** `secret` is that of the nodes that will use the database. */
export function restore(
  settings: KeptSettings,
  path: string,
  {
    secret,
    onProgress,
  }: { readonly secret: string | undefined; readonly onProgress?: (done: number, total: number) => void },
): Promise<Restored> {
  return withDatabase(settings, async (database) => {
    const backup = await checkBackupFile(path)
    const total = backup.tables.reduce((sum, { rows }) => sum + rows, 0) + backup.blobs
    const onRows = (rows: number): void => onProgress?.(rows, total)
    const tables = await loadDatabase(database, { backup, lines: linesOf(path), onRows })
    if (backup.blobs > 0) {
      const { store } = await openBlobs(settings, NO_RESERVE)
      const pictures = new PictureWriter(store)
      let done = total - backup.blobs
      for await (const { line } of linesOf(path)) {
        if (line.kind !== 'blob') continue
        if (!(await pictures.put(line.blob))) continue
        done += 1
        onProgress?.(done, total)
      }
    }
    const known = await knownFingerprints(database)
    const current =
      secret === undefined ? undefined : fingerprintsOf({ current: secret, previous: undefined }).current
    const hasSecret = current === undefined ? undefined : known.size === 0 || known.has(current)
    return { tables, pictures: backup.blobs, hasSecret }
  })
}

export function migrateDatabase(settings: KeptSettings): Promise<MigrationReport> {
  return withDatabase(settings, (database) => migrate(database))
}

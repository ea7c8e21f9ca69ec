/** Files on each engine that can keep them, empty, with a time that can be let pass. */
import type { FileUploads } from '#ports/file-uploads.ts'
import type { Files, OutputFile } from '#ports/files.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { PostgresFileUploads } from '#stores/postgres/jobs/file-uploads.ts'
import { addOutputFile, PostgresFiles } from '#stores/postgres/jobs/files.ts'
import { testPglite } from '#test/support/pglite.ts'
import { reused } from '#test/support/reused-database.ts'
import { testPostgres } from '#test/support/servers.ts'

export interface FilesWorld {
  readonly files: Files
  /** The same store, as another node sees it. */
  readonly elsewhere: Files
  readonly uploads: FileUploads
  /** As the store of batches does it. */
  readonly addOutput: (file: OutputFile) => Promise<void>
  readonly nowMs: () => number
  readonly passes: (ms: number) => void
}

/** Begins today: the database's own clock says which uploads have expired. */
function heldClock() {
  let nowMs = Date.now()
  return { nowMs: () => nowMs, monotonicMs: () => nowMs, passes: (ms: number) => void (nowMs += ms) }
}

const EMPTY = 'TRUNCATE files, file_holds, file_uploads, file_upload_parts CASCADE'

function filesIn(database: Database): FilesWorld {
  const clock = heldClock()
  return {
    files: new PostgresFiles(database, clock),
    elsewhere: new PostgresFiles(database, clock),
    uploads: new PostgresFileUploads(database),
    addOutput: (file) => addOutputFile(database, file),
    ...clock,
  }
}

/** As many connections as it takes for begins to meet. */
const CONNECTIONS = 8

export const postgresFiles = () =>
  reused(async () => openPostgres((await testPostgres()).url, { poolSize: CONNECTIONS }), EMPTY, filesIn)

export const pgliteFiles = () => reused(testPglite, EMPTY, filesIn)

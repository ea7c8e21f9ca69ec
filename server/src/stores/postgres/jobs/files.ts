import type { FileScan } from '#core/files/scan-result.ts'
import type { Clock } from '#ports/clock.ts'
import {
  ARRIVAL_MS,
  type ArrivedFile,
  type BegunFile,
  type DueFile,
  type FileBounds,
  type FileHold,
  type FileQuery,
  type Files,
  type FileSegment,
  type FileSource,
  type ListedFile,
  type OutputFile,
  type StoredFile,
} from '#ports/files.ts'
import { reachable } from '../away.ts'
import type { Database, Sql } from '../database.ts'
import { segmentsIn, segmentsText } from './segments-text.ts'

/** So that of many files of a project that begin at once, each sees those before it. */
const LOCK_PROJECT = `SELECT pg_advisory_xact_lock(hashtextextended('files of ' || $1, 0))`

const KEPT = `
SELECT count(*) AS files, coalesce(sum(bytes), 0)::bigint AS bytes FROM files
WHERE project = $1 AND batch_id IS NULL AND ends_at > $2 AND file_id <> $3`

const BEGIN = `
INSERT INTO files (file_id, project, key_id, created_at, ends_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING`

const ARRIVED = `
UPDATE files SET purpose = $3, filename = $4, bytes = $5, sha256 = $6, scan = $7, segments = $8, expires_at = created_at + $9 * interval '1 ms',
  ends_at = coalesce(created_at + $9 * interval '1 ms', 'infinity')
WHERE file_id = $1 AND ends_at > $2 AND batch_id IS NULL
RETURNING *`

const FIND =
  'SELECT * FROM files WHERE file_id = $1 AND project = $2 AND purpose IS NOT NULL AND ends_at > $3'

/** Without what is known of its lines: a page may have thousands of files. */
const LISTED = 'file_id, project, key_id, purpose, filename, bytes, created_at, expires_at'

const HOLD = `
INSERT INTO file_holds (file_id, holder, until)
SELECT file_id, $4, $5 FROM files WHERE file_id = $1 AND project = $2 AND purpose IS NOT NULL AND ends_at > $3 FOR UPDATE
ON CONFLICT (file_id, holder) DO UPDATE SET until = excluded.until`

const DELETE = `
UPDATE files SET ends_at = $3 WHERE file_id = $1 AND project = $2 AND purpose IS NOT NULL AND ends_at > $3
RETURNING 1`

const DUE = `
SELECT file_id, project, batch_id FROM files WHERE ends_at <= $1
  AND NOT EXISTS (SELECT FROM file_holds WHERE file_holds.file_id = files.file_id AND until > $1)
ORDER BY ends_at LIMIT $2`

const ADD_OUTPUT = `
INSERT INTO files (file_id, project, key_id, purpose, filename, bytes, batch_id, half, created_at, expires_at, ends_at)
VALUES ($1, $2, $3, 'batch_output', $4, $5, $6, $7, $8, $9::timestamptz, coalesce($9::timestamptz, 'infinity'))
ON CONFLICT (file_id) DO UPDATE SET bytes = excluded.bytes`

interface ListedRow {
  readonly file_id: string
  readonly project: string
  readonly key_id: string
  readonly purpose: StoredFile['purpose']
  readonly filename: string
  readonly bytes: bigint
  readonly created_at: Date
  readonly expires_at: Date | null
}

interface FileRow extends ListedRow {
  readonly sha256: string | null
  readonly scan: string | null
  readonly batch_id: string | null
  readonly half: 'output' | 'error' | null
}

/** A file that a batch makes, within the step of the batch's own store. What is there already gets the new size. */
export async function addOutputFile(sql: Sql, file: OutputFile): Promise<void> {
  const { id, project, keyId, filename, bytes, createdAtMs, expiresAtMs } = file
  const { batchId, half } = file.source
  const moments = [new Date(createdAtMs), momentOf(expiresAtMs)]
  await sql.query(ADD_OUTPUT, [id, project, keyId, filename, bytes, batchId, half, ...moments])
}

export class PostgresFiles implements Files {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  begin({ id, project, keyId }: BegunFile, { maxFiles, maxBytes }: FileBounds): ReturnType<Files['begin']> {
    const nowMs = this.#clock.nowMs()
    const now = new Date(nowMs)
    return reachable(
      this.#database.transaction(async (sql) => {
        await sql.query(LOCK_PROJECT, [project])
        const [kept] = await sql.query<{ files: bigint; bytes: bigint }>(KEPT, [project, now, id])
        if (Number(kept?.files) >= maxFiles) return 'too-many-files'
        if (Number(kept?.bytes) >= maxBytes) return 'too-many-bytes'
        await sql.query(BEGIN, [id, project, keyId, now, new Date(nowMs + ARRIVAL_MS)])
        return 'begun'
      }),
    )
  }

  async arrived(id: string, file: ArrivedFile): Promise<StoredFile | undefined> {
    const { purpose, filename, bytes, sha256, scan, segments, expiresAfterMs } = file
    const texts = [JSON.stringify(scan), segmentsText(segments)]
    const values = [id, this.#now(), purpose, filename, bytes, sha256, ...texts, expiresAfterMs ?? null]
    const [row] = await reachable(this.#database.query<FileRow>(ARRIVED, values))
    return row && fileOf(row)
  }

  async giveUp(id: string): Promise<void> {
    const text = 'UPDATE files SET ends_at = $2 WHERE file_id = $1 AND purpose IS NULL AND ends_at > $2'
    await reachable(this.#database.query(text, [id, this.#now()]))
  }

  async find(id: string, project: string): Promise<StoredFile | undefined> {
    const [row] = await reachable(this.#database.query<FileRow>(FIND, [id, project, this.#now()]))
    return row && fileOf(row)
  }

  async segments(id: string): Promise<readonly FileSegment[]> {
    const [row] = await reachable(
      this.#database.query<{ segments: string | null }>('SELECT segments FROM files WHERE file_id = $1', [
        id,
      ]),
    )
    return segmentsIn(row?.segments ?? '[]')
  }

  async list({ project, purpose, after, order, limit }: FileQuery): ReturnType<Files['list']> {
    if (after !== undefined && (await this.find(after, project)) === undefined) return undefined
    const [sign, direction] = order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC']
    const rows = await reachable(
      this.#database.query<ListedRow>(
        `SELECT ${LISTED} FROM files WHERE project = $1 AND ends_at > $2
           AND CASE WHEN $3::text IS NULL THEN purpose IS NOT NULL ELSE purpose = $3 END
           AND ($4::text IS NULL OR file_id ${sign} $4)
         ORDER BY file_id ${direction} LIMIT $5`,
        [project, this.#now(), purpose ?? null, after ?? null, limit + 1],
      ),
    )
    return { files: rows.slice(0, limit).map(listedOf), hasMore: rows.length > limit }
  }

  async hold(id: string, project: string, { holder, untilMs }: FileHold): Promise<StoredFile | undefined> {
    await reachable(this.#database.query(HOLD, [id, project, this.#now(), holder, new Date(untilMs)]))
    return this.find(id, project)
  }

  async release(id: string, holder: string): Promise<void> {
    await reachable(
      this.#database.query('DELETE FROM file_holds WHERE file_id = $1 AND holder = $2', [id, holder]),
    )
  }

  async delete(id: string, project: string): Promise<boolean> {
    const rows = await reachable(this.#database.query(DELETE, [id, project, this.#now()]))
    return rows.length > 0
  }

  async due(limit: number): Promise<readonly DueFile[]> {
    const rows = await reachable(
      this.#database.query<{ file_id: string; project: string; batch_id: string | null }>(DUE, [
        this.#now(),
        limit,
      ]),
    )
    return rows.map((row) => ({
      id: row.file_id,
      project: row.project,
      batchId: row.batch_id ?? undefined,
    }))
  }

  async forgotten(id: string): Promise<void> {
    await reachable(this.#database.query('DELETE FROM files WHERE file_id = $1', [id]))
  }

  #now(): Date {
    return new Date(this.#clock.nowMs())
  }
}

function momentOf(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms)
}

function listedOf(row: ListedRow): ListedFile {
  return {
    id: row.file_id,
    project: row.project,
    keyId: row.key_id,
    purpose: row.purpose,
    filename: row.filename,
    bytes: Number(row.bytes),
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at?.getTime(),
  }
}

function fileOf(row: FileRow): StoredFile {
  const { sha256, scan, batch_id: batchId, half } = row
  const source: FileSource =
    batchId !== null && half !== null
      ? { kind: 'batch', batchId, half }
      : { kind: 'uploaded', sha256: sha256 ?? '', scan: JSON.parse(scan ?? 'null') as FileScan }
  return { ...listedOf(row), source }
}

import type { FileScan } from '#core/files/scan-result.ts'
import { scanText } from '#core/files/scan-text.ts'
import type { Clock } from '#ports/clock.ts'
import {
  ARRIVAL_MS,
  MAX_ARRIVAL_MS,
  type ArrivedFile,
  type BegunFile,
  type DueFile,
  type FileBounds,
  type FileHold,
  type FileQuery,
  type Files,
  type FileSegment,
  type FileSource,
  type KeptByProject,
  type ListedFile,
  type OutputFile,
  type StoredFile,
} from '#ports/files.ts'
import { reachable } from '../unreachable.ts'
import type { Database, Sql } from '../database.ts'
import { keptBy, lockKept } from './kept-bytes.ts'
import { segmentsIn, segmentsText } from './segments-text.ts'

const BEGIN = `
INSERT INTO files (file_id, project, key_id, created_at, ends_at, announced_bytes) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING`

const STILL_ARRIVES = `least($3::timestamptz + interval '${ARRIVAL_MS} ms', created_at + interval '${MAX_ARRIVAL_MS} ms')`

/** The announced bytes have room already: no other file of the project has to be read. */
const RECEIVE_ANNOUNCED = `
UPDATE files SET received_bytes = received_bytes + $2, ends_at = ${STILL_ARRIVES}
WHERE file_id = $1 AND purpose IS NULL AND ends_at > $3 AND received_bytes + $2 <= announced_bytes
RETURNING 1`

const ARRIVING = `
SELECT project, announced_bytes, received_bytes FROM files WHERE file_id = $1 AND purpose IS NULL AND ends_at > $2`

const RECEIVE = `UPDATE files SET received_bytes = received_bytes + $2, ends_at = ${STILL_ARRIVES} WHERE file_id = $1`

const GIVE_BACK = `
UPDATE files SET received_bytes = greatest(0, received_bytes - $2) WHERE file_id = $1 AND purpose IS NULL`
/** Without the scan of its lines: a page may have thousands of files. */
const LISTED = 'file_id, project, key_id, purpose, filename, bytes, created_at, expires_at'
/** Without its scan and its segments, which are read where they are needed: both may be large. */
const FOUND = `${LISTED}, sha256, batch_id, half`

const ARRIVED = `
UPDATE files SET purpose = $3, filename = $4, bytes = $5, sha256 = $6, scan = $7, segments = $8, expires_at = created_at + $9 * interval '1 ms',
  ends_at = coalesce(created_at + $9 * interval '1 ms', 'infinity'), announced_bytes = 0, received_bytes = $10
WHERE file_id = $1 AND ends_at > $2 AND batch_id IS NULL
RETURNING ${FOUND}`

const FIND = `
SELECT ${FOUND} FROM files WHERE file_id = $1 AND project = $2 AND purpose IS NOT NULL AND ends_at > $3`

const SCAN = 'SELECT scan FROM files WHERE file_id = $1 AND scan IS NOT NULL'

const HOLD = `
INSERT INTO file_holds (file_id, holder, until)
SELECT file_id, $4, $5 FROM files WHERE file_id = $1 AND project = $2 AND purpose IS NOT NULL AND ends_at > $3 FOR UPDATE
ON CONFLICT (file_id, holder) DO UPDATE SET until = excluded.until`

const DELETE = `
UPDATE files SET ends_at = $3 WHERE file_id = $1 AND project = $2 AND purpose IS NOT NULL AND ends_at > $3
RETURNING 1`

/** Whether a caller deleted the last file of a batch: then the results need not stay for their time. */
const LAST_WAS_DELETED = `batch_id IS NOT NULL AND ends_at < coalesce(expires_at, 'infinity')
  AND NOT EXISTS (SELECT FROM files AS other WHERE other.batch_id = files.batch_id AND other.ends_at > $2)`

/** An open batch still writes to its files, so their rows stay. */
const DUE = `
SELECT file_id, project, batch_id, ${LAST_WAS_DELETED} AS last_was_deleted FROM files WHERE ends_at <= $2
  AND NOT EXISTS (SELECT FROM file_holds WHERE file_holds.file_id = files.file_id AND until > $2)
  AND NOT EXISTS (SELECT FROM batches WHERE batches.batch_id = files.batch_id AND ended_at IS NULL)
ORDER BY ends_at LIMIT $1`

/** The room of results is free once their bytes are deleted. */
const FORGOTTEN = `
WITH gone AS (DELETE FROM files WHERE file_id = $1 RETURNING batch_id, ${LAST_WAS_DELETED} AS last_was_deleted)
UPDATE batches SET kept_bytes = 0 FROM gone
WHERE batches.batch_id = gone.batch_id AND last_was_deleted AND ended_at IS NOT NULL`

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

interface ArrivingRow {
  readonly project: string
  readonly announced_bytes: bigint
  readonly received_bytes: bigint
}

interface DueRow {
  readonly file_id: string
  readonly project: string
  readonly batch_id: string | null
  readonly last_was_deleted: boolean
}

interface FileRow extends ListedRow {
  readonly sha256: string | null
  readonly batch_id: string | null
  readonly half: 'output' | 'error' | null
}

/** An output file of a batch, within the transaction of the batch's own store. An existing file gets the new size. */
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

  begin(file: BegunFile, { maxFiles, maxBytes }: FileBounds): ReturnType<Files['begin']> {
    const { id, project, keyId, announcedBytes } = file
    const nowMs = this.#clock.nowMs()
    const now = new Date(nowMs)
    return reachable(
      this.#database.transaction(async (sql) => {
        await lockKept(sql, project)
        const kept = await keptBy(sql, project, { now, without: id })
        if (kept.files >= maxFiles) return 'too-many-files'
        if (kept.bytes + Math.max(1, announcedBytes) > maxBytes) return 'too-many-bytes'
        await sql.query(BEGIN, [id, project, keyId, now, new Date(nowMs + ARRIVAL_MS), announcedBytes])
        return 'begun'
      }),
    )
  }

  async receive(
    id: string,
    bytes: number,
    { maxBytes }: Pick<FileBounds, 'maxBytes'>,
  ): ReturnType<Files['receive']> {
    const now = this.#now()
    const received = await reachable(this.#database.query(RECEIVE_ANNOUNCED, [id, bytes, now]))
    if (received.length > 0) return 'received'
    return reachable(
      this.#database.transaction(async (sql) => {
        const [arriving] = await sql.query<ArrivingRow>(ARRIVING, [id, now])
        if (arriving === undefined) return 'over'
        await lockKept(sql, arriving.project)
        // Another part of the same upload may have come first.
        const [row] = await sql.query<ArrivingRow>(`${ARRIVING} FOR UPDATE`, [id, now])
        if (row === undefined) return 'over'
        const others = await keptBy(sql, arriving.project, { now, without: id })
        const own = Math.max(Number(row.announced_bytes), Number(row.received_bytes) + bytes)
        if (others.bytes + own > maxBytes) return 'too-many-bytes'
        await sql.query(RECEIVE, [id, bytes, now])
        return 'received'
      }),
    )
  }

  async giveBack(id: string, bytes: number): Promise<void> {
    await reachable(this.#database.query(GIVE_BACK, [id, bytes]))
  }

  kept(project: string): Promise<KeptByProject> {
    return reachable(keptBy(this.#database, project, { now: this.#now() }))
  }

  async arrived(id: string, file: ArrivedFile): Promise<StoredFile | undefined> {
    const { purpose, filename, bytes, sha256, scan, segments, expiresAfterMs, keptBytes } = file
    const texts = [scanText(scan), segmentsText(segments)]
    const kept = [expiresAfterMs ?? null, keptBytes]
    const values = [id, this.#now(), purpose, filename, bytes, sha256, ...texts, ...kept]
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

  async scan(id: string): Promise<FileScan | undefined> {
    const [row] = await reachable(this.#database.query<{ scan: string }>(SCAN, [id]))
    return row && (JSON.parse(row.scan) as FileScan)
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
    const rows = await reachable(this.#database.query<DueRow>(DUE, [limit, this.#now()]))
    return rows.map((row) => ({
      id: row.file_id,
      project: row.project,
      batchId: row.batch_id ?? undefined,
      endsResults: row.last_was_deleted,
    }))
  }

  async forgotten(id: string): Promise<void> {
    await reachable(this.#database.query(FORGOTTEN, [id, this.#now()]))
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
  const { sha256, batch_id: batchId, half } = row
  const source: FileSource =
    batchId !== null && half !== null
      ? { kind: 'batch', batchId, half }
      : { kind: 'uploaded', sha256: sha256 ?? '' }
  return { ...listedOf(row), source }
}

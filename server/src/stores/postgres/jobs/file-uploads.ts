import type { FileUpload, FileUploads, PartBounds, UploadPart } from '#ports/file-uploads.ts'
import { reachable } from '../unreachable.ts'
import type { Database } from '../database.ts'
import { ownerIn, playerColumns, type OwnerColumns } from './owner-columns.ts'
import { segmentsIn, segmentsText } from './segments-text.ts'

const BEGIN = `
INSERT INTO file_uploads
  (upload_id, file_id, project, key_id, filename, bytes, expires_after_ms, state, created_at, expires_at, player_kind, player_name)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT DO NOTHING`

/** Parts arrive concurrently: the lock makes each see those before it. */
const LOCK_PENDING = `SELECT 1 FROM file_uploads WHERE upload_id = $1 AND state = 'pending' FOR UPDATE`

const SO_FAR = `
SELECT count(*) AS parts, coalesce(sum(bytes), 0)::bigint AS bytes FROM file_upload_parts
WHERE upload_id = $1 AND part_id <> $2`

const ADD_PART = `
INSERT INTO file_upload_parts (part_id, upload_id, bytes, segments, created_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING`

const PENDING = `
SELECT * FROM file_uploads WHERE state = 'pending' AND expires_at > now() LIMIT $1`

const END = `UPDATE file_uploads SET state = $2 WHERE upload_id = $1 AND state = 'pending'`

interface UploadRow extends OwnerColumns {
  readonly upload_id: string
  readonly file_id: string
  readonly filename: string
  readonly bytes: bigint
  readonly expires_after_ms: bigint
  readonly state: FileUpload['state']
  readonly created_at: Date
  readonly expires_at: Date
}

interface PartRow {
  readonly part_id: string
  readonly upload_id: string
  readonly bytes: bigint
  readonly segments: string
  readonly created_at: Date
}

export class PostgresFileUploads implements FileUploads {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async begin(upload: FileUpload): Promise<void> {
    const { id, fileId, project, keyId, filename, bytes, expiresAfterMs, state } = upload
    const moments = [new Date(upload.createdAtMs), new Date(upload.expiresAtMs)]
    const values = [
      id,
      fileId,
      project,
      keyId,
      filename,
      bytes,
      expiresAfterMs,
      state,
      ...moments,
      ...playerColumns(upload),
    ]
    await reachable(this.#database.query(BEGIN, values))
  }

  async find(id: string, project: string): Promise<FileUpload | undefined> {
    const upload = await this.#read(id)
    return upload?.project === project ? upload : undefined
  }

  addPart(part: UploadPart, { maxParts, maxBytes }: PartBounds): ReturnType<FileUploads['addPart']> {
    const { id, uploadId, bytes, segments, createdAtMs } = part
    return reachable(
      this.#database.transaction(async (sql) => {
        if ((await sql.query(LOCK_PENDING, [uploadId])).length === 0) return 'over'
        const [soFar] = await sql.query<{ parts: bigint; bytes: bigint }>(SO_FAR, [uploadId, id])
        if (Number(soFar?.parts) >= maxParts || Number(soFar?.bytes) + bytes > maxBytes) return 'too-much'
        await sql.query(ADD_PART, [id, uploadId, bytes, segmentsText(segments), new Date(createdAtMs)])
        return 'added'
      }),
    )
  }

  async parts(id: string): Promise<readonly UploadPart[]> {
    const rows = await reachable(
      this.#database.query<PartRow>('SELECT * FROM file_upload_parts WHERE upload_id = $1', [id]),
    )
    return rows.map((row) => ({
      id: row.part_id,
      uploadId: row.upload_id,
      bytes: Number(row.bytes),
      segments: segmentsIn(row.segments),
      createdAtMs: row.created_at.getTime(),
    }))
  }

  async pending(limit: number): Promise<readonly FileUpload[]> {
    return (await reachable(this.#database.query<UploadRow>(PENDING, [limit]))).map(uploadOf)
  }

  async end(id: string, state: 'completed' | 'cancelled'): Promise<FileUpload | undefined> {
    await reachable(this.#database.query(END, [id, state]))
    return this.#read(id)
  }

  async #read(id: string): Promise<FileUpload | undefined> {
    const [row] = await reachable(
      this.#database.query<UploadRow>('SELECT * FROM file_uploads WHERE upload_id = $1', [id]),
    )
    return row && uploadOf(row)
  }
}

function uploadOf(row: UploadRow): FileUpload {
  return {
    id: row.upload_id,
    ...ownerIn(row),
    fileId: row.file_id,
    filename: row.filename,
    bytes: Number(row.bytes),
    expiresAfterMs: Number(row.expires_after_ms),
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    state: row.state,
  }
}

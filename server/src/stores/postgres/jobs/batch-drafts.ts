import { DRAFT_MS, type BatchDraft, type BatchDrafts, type NewBatchDraft } from '#ports/batch-drafts.ts'
import type { Clock } from '#ports/clock.ts'
import type { FileSegment } from '#ports/files.ts'
import type { Database } from '../database.ts'
import { reachable } from '../unreachable.ts'
import { segmentsIn, segmentsText } from './segments-text.ts'

/** What was announced no longer counts: the file is here. A second call changes nothing. */
const KEEP_FILE = `
UPDATE files SET ends_at = created_at + interval '${DRAFT_MS} ms', announced_bytes = 0
WHERE file_id = $1 AND project = $2 AND purpose IS NULL AND ends_at > $3 RETURNING 1`

const KEEP = `
INSERT INTO batch_drafts (file_id, actor, name, bytes, segments) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`

const FIND = `
SELECT file_id, project, actor, name, batch_drafts.bytes, created_at, ends_at FROM batch_drafts JOIN files USING (file_id)
WHERE file_id = $1 AND actor = $2 AND ends_at > $3`

const DELETE = `
UPDATE files SET ends_at = $3 FROM batch_drafts
WHERE files.file_id = $1 AND batch_drafts.file_id = $1 AND actor = $2 AND ends_at > $3 RETURNING 1`

/** A file that was deleted since is replaced. */
const KEEP_MADE = `
INSERT INTO batch_draft_runs AS runs (file_id, digest, input_file_id) VALUES ($1, $2, $3)
ON CONFLICT (file_id, digest) DO UPDATE SET input_file_id = excluded.input_file_id
WHERE NOT EXISTS (
  SELECT FROM files WHERE files.file_id = runs.input_file_id AND purpose IS NOT NULL AND ends_at > $4::timestamptz)`

const MADE = 'SELECT input_file_id FROM batch_draft_runs WHERE file_id = $1 AND digest = $2'

interface DraftRow {
  readonly file_id: string
  readonly project: string
  readonly actor: string
  readonly name: string
  readonly bytes: bigint
  readonly created_at: Date
  readonly ends_at: Date
}

export class PostgresBatchDrafts implements BatchDrafts {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  keep({ id, project, actor, name, bytes, segments }: NewBatchDraft): Promise<BatchDraft | undefined> {
    return reachable(
      this.#database.transaction(async (sql) => {
        const kept = await sql.query(KEEP_FILE, [id, project, this.#now()])
        if (kept.length === 0) return undefined
        await sql.query(KEEP, [id, actor, name, bytes, segmentsText(segments)])
        const [row] = await sql.query<DraftRow>(FIND, [id, actor, this.#now()])
        return row && draftOf(row)
      }),
    )
  }

  async find(id: string, actor: string): Promise<BatchDraft | undefined> {
    const [row] = await reachable(this.#database.query<DraftRow>(FIND, [id, actor, this.#now()]))
    return row && draftOf(row)
  }

  async segments(id: string): Promise<readonly FileSegment[]> {
    const text = 'SELECT segments FROM batch_drafts WHERE file_id = $1'
    const [row] = await reachable(this.#database.query<{ segments: string }>(text, [id]))
    return segmentsIn(row?.segments ?? '[]')
  }

  async delete(id: string, actor: string): Promise<boolean> {
    const rows = await reachable(this.#database.query(DELETE, [id, actor, this.#now()]))
    return rows.length > 0
  }

  async madeFile(id: string, digest: string): Promise<string | undefined> {
    const [row] = await reachable(this.#database.query<{ input_file_id: string }>(MADE, [id, digest]))
    return row?.input_file_id
  }

  async keepMade(id: string, digest: string, fileId: string): Promise<string> {
    await reachable(this.#database.query(KEEP_MADE, [id, digest, fileId, this.#now()]))
    return (await this.madeFile(id, digest)) ?? fileId
  }

  #now(): Date {
    return new Date(this.#clock.nowMs())
  }
}

function draftOf(row: DraftRow): BatchDraft {
  return {
    id: row.file_id,
    project: row.project,
    actor: row.actor,
    name: row.name,
    bytes: Number(row.bytes),
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.ends_at.getTime(),
  }
}

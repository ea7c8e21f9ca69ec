/** Changes to batches by people, with what the audit keeps of them. */
import type { Actor, AuditAction } from '#ports/audit.ts'
import type { Batch } from '#ports/batches.ts'
import { writeAudit } from '../audit.ts'
import type { Database } from '../database.ts'
import { reachable } from '../unreachable.ts'
import { batchOf, type BatchRow } from './batch-rows.ts'
import { CONTINUE, END_WAITS, LOCK_BATCH, PAUSE_BY, RESUME_BY } from './batches-sql.ts'

export interface PersonChange {
  readonly by: Actor
  readonly action: string
  /** Whether it changes anything. */
  readonly isDue: (row: BatchRow) => boolean
  readonly statement: string
  /** Behind the id of the batch. */
  readonly values: readonly unknown[]
  /** What the audit keeps beside the batch's progress. */
  readonly detailOf: (batch: Batch) => Readonly<Record<string, unknown>>
}

export function continuing(by: Actor): PersonChange {
  return {
    by,
    action: 'batch.continue',
    isDue: ({ continued }) => !continued,
    statement: CONTINUE,
    values: [],
    detailOf: ({ keyId }) => ({ key: keyId }),
  }
}

export function pausing(by: Actor, reason: string | undefined): PersonChange {
  return {
    by,
    action: 'batch.pause',
    isDue: ({ paused_at }) => paused_at === null,
    statement: PAUSE_BY,
    values: [by.name, reason ?? null],
    detailOf: () => (reason === undefined ? {} : { reason }),
  }
}

export function resuming(by: Actor): PersonChange {
  return {
    by,
    action: 'batch.resume',
    isDue: ({ paused_at, pause_code }) => paused_at !== null || pause_code !== null,
    statement: RESUME_BY,
    values: [],
    detailOf: () => ({}),
  }
}

/** Changes a batch in progress. Undefined when the project has no such batch. Chunks that wait look at it again. */
export function changeByPerson(
  database: Database,
  { id, project }: Pick<Batch, 'id' | 'project'>,
  { by, action, isDue, statement, values, detailOf }: PersonChange,
): Promise<Batch | undefined> {
  return reachable(
    database.transaction(async (sql) => {
      const [row] = await sql.query<BatchRow>(LOCK_BATCH, [id])
      if (row?.project !== project) return undefined
      if (row.state !== 'in_progress' || !isDue(row)) return batchOf(row)
      const [changed] = await sql.query<BatchRow>(statement, [id, ...values])
      await sql.query(END_WAITS, [id])
      const batch = batchOf(changed as BatchRow)
      await writeAudit(sql, database.auditChain, actionOf(action, batch, by, detailOf(batch)))
      return batch
    }),
  )
}

export function createAction(batch: Batch, actor: Actor): AuditAction {
  return actionOf('batch.create', batch, actor, { key: batch.keyId, model: batch.model ?? null })
}

export function cancelAction(batch: Batch, actor: Actor): AuditAction {
  const { cancelCode } = batch
  return actionOf('batch.cancel', batch, actor, cancelCode === undefined ? {} : { because: cancelCode })
}

function actionOf(
  action: string,
  { id, project, lines, completed, failed }: Batch,
  actor: Actor,
  detail: Readonly<Record<string, unknown>>,
): AuditAction {
  return { actor, action, target: id, detail: { project, lines, done: completed + failed, ...detail } }
}

/** What the audit keeps of batches. */
import type { Actor, AuditAction } from '#ports/audit.ts'
import type { Batch } from '#ports/batches.ts'

export function cancelAction(batch: Batch, actor: Actor): AuditAction {
  const { id, project, lines, completed, failed, cancelCode } = batch
  const because = cancelCode === undefined ? {} : { because: cancelCode }
  const detail = { project, lines, done: completed + failed, ...because }
  return { actor, action: 'batch.cancel', target: id, detail }
}

export function continueAction(
  { id, project, keyId, lines, completed, failed }: Batch,
  actor: Actor,
): AuditAction {
  const detail = { project, key: keyId, lines, done: completed + failed }
  return { actor, action: 'batch.continue', target: id, detail }
}

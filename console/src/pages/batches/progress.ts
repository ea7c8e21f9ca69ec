/** What follows from the counts of a batch. */
import type { Batch, BatchDetail } from '../../api/queries/batches.ts'
import type { Mark } from '../../ui/state-mark.tsx'

export function doneOf({ lines }: Pick<Batch, 'lines'>): number {
  return lines.completed + lines.failed
}

/** Of 1. A batch whose file was refused has no lines, and is done. */
export function shareOf(batch: Pick<Batch, 'lines'>): number {
  return batch.lines.total === 0 ? 1 : doneOf(batch) / batch.lines.total
}

export function isOpen({ ended_at: ended }: Pick<Batch, 'ended_at'>): boolean {
  return ended === null
}

export function markOf({ state, pause, lines }: Pick<Batch, 'state' | 'pause' | 'lines'>): Mark {
  if (state === 'in_progress') return pause === null ? 'wait' : 'warn'
  if (state === 'completed') return lines.failed === 0 ? 'good' : 'warn'
  if (state === 'failed' || state === 'expired') return 'bad'
  return 'off'
}

/** Undefined: nothing was done of late, so nobody can tell. */
export function leftMs({
  lines,
  lines_per_second: perSecond,
}: Pick<BatchDetail, 'lines' | 'lines_per_second'>): number | undefined {
  if (perSecond === null || perSecond === 0) return undefined
  return ((lines.total - doneOf({ lines })) / perSecond) * 1000
}

/** So long it ran, or has been running. */
export function tookMs(
  { created_at: made, ended_at: ended }: Pick<Batch, 'created_at' | 'ended_at'>,
  nowMs: number,
): number {
  return Math.max(0, (ended === null ? nowMs : Date.parse(ended)) - Date.parse(made))
}

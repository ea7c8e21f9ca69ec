import type { JobEnd } from '#ports/image-jobs.ts'

/** A call that may have been charged must never be repeated: only a failed job can free its key. */
export function refuseToFree(state: JobEnd['state'], freesKey: boolean): void {
  if (freesKey && state !== 'failed') throw new RangeError(`a job that ended as ${state} can't free its key`)
}

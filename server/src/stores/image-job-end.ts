import type { JobEnd } from '#ports/image-jobs.ts'

/** What may have been bought must never be bought again: only a failure can be free of charge. */
export function refuseToFree(state: JobEnd['state'], freesKey: boolean): void {
  if (freesKey && state !== 'failed') throw new RangeError(`a job that ended as ${state} can't free its key`)
}

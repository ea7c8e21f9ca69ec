import type { JobCaller } from '#ports/image-jobs.ts'

/**
 * The callers that wait on this node for image jobs without an idempotency key, so that an SDK's own retry
 * does not get another caller's images. The store gives a job to one caller at a time.
 */
export class WaitingCallers {
  readonly #callers = new Map<string, JobCaller>()

  get all(): readonly JobCaller[] {
    return [...this.#callers.values()]
  }

  get jobIds(): readonly string[] {
    return [...this.#callers.keys()]
  }

  add(caller: JobCaller): void {
    this.#callers.set(caller.jobId, caller)
  }

  remove({ jobId }: JobCaller): void {
    this.#callers.delete(jobId)
  }
}

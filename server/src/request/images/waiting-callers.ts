/** The image jobs for which a caller waits on this node, so that a retry of an SDK's own does not get another's pictures. */
export class WaitingCallers {
  /** How many wait for each job: with an Idempotency-Key there may be several. */
  readonly #callers = new Map<string, number>()

  get jobIds(): readonly string[] {
    return [...this.#callers.keys()]
  }

  has(jobId: string): boolean {
    return this.#callers.has(jobId)
  }

  add(jobId: string): void {
    this.#callers.set(jobId, (this.#callers.get(jobId) ?? 0) + 1)
  }

  remove(jobId: string): void {
    const left = (this.#callers.get(jobId) ?? 0) - 1
    if (left > 0) this.#callers.set(jobId, left)
    else this.#callers.delete(jobId)
  }
}

/** The image jobs that this node works on. They go on when the client that asked for them has gone. */
import type { ImageOutcome } from './outcome.ts'

export class RunningJobs {
  readonly #ends = new Map<string, Promise<ImageOutcome>>()

  get size(): number {
    return this.#ends.size
  }

  get ids(): readonly string[] {
    return [...this.#ends.keys()]
  }

  /** The end of a job that this node works on. Undefined: another node works on it, or it is over. */
  endOf(jobId: string): Promise<ImageOutcome> | undefined {
    return this.#ends.get(jobId)
  }

  start(jobId: string, work: () => Promise<ImageOutcome>): Promise<ImageOutcome> {
    const end = work().finally(() => this.#ends.delete(jobId))
    this.#ends.set(jobId, end)
    // It may be that no request waits for it. Its rejection is then not news: the job has told the log itself.
    end.catch(() => {})
    return end
  }

  async settled(): Promise<void> {
    while (this.#ends.size > 0) await Promise.allSettled(this.#ends.values())
  }
}

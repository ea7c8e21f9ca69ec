/** The image jobs that this node works on. They go on when the client that asked for them has gone. */
import { FairShare, type Holding } from '#core/fair-share.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Limits } from '#core/settings.ts'
import type { ImageOutcome } from './outcome.ts'

/** A job holds its place for minutes, so a project gets at most seven times the places that stay free. */
const HEADROOM = 7

export class RunningJobs {
  readonly #ends = new Map<string, Promise<ImageOutcome>>()
  readonly #places: FairShare
  readonly #late: () => Promise<unknown>

  constructor(
    { maxImageJobs, queueWaitMs }: Pick<Limits, 'maxImageJobs' | 'queueWaitMs'>,
    wait: (ms: number) => Promise<unknown>,
  ) {
    this.#places = new FairShare({ capacity: maxImageJobs, headroom: HEADROOM, maxWaiting: maxImageJobs })
    this.#late = () => wait(queueWaitMs)
  }

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

  /** A place for a job of this project. A caller who would have to wait for long is better told to come back. */
  async place(project: string): Promise<Holding> {
    const place = await this.#places.takeBefore(project, 1, this.#late)
    if (place) return place
    throw new Fault(
      'too_many_image_jobs',
      `This node has no place for another image job of project '${project}', which already has ${this.#places.heldBy(project)}. Retry.`,
    )
  }

  /** A place for a job that this node has taken over, however long that takes. */
  async turn(project: string): Promise<Holding> {
    const awaited = this.#places.wait(project, 1)
    if (awaited === undefined) throw new Error(`too many image jobs of project '${project}' wait for a place`)
    return awaited.holding
  }

  /** The place is given back when the job has ended. */
  start(
    jobId: string,
    place: Holding | Promise<Holding>,
    work: () => Promise<ImageOutcome>,
  ): Promise<ImageOutcome> {
    const end = inPlace(place, work).finally(() => this.#ends.delete(jobId))
    this.#ends.set(jobId, end)
    // It may be that no request waits for it. Its rejection is then not news: the job has told the log itself.
    end.catch(() => {})
    return end
  }

  async settled(): Promise<void> {
    while (this.#ends.size > 0) await Promise.allSettled(this.#ends.values())
  }
}

async function inPlace(
  place: Holding | Promise<Holding>,
  work: () => Promise<ImageOutcome>,
): Promise<ImageOutcome> {
  using _ = await place
  return await work()
}

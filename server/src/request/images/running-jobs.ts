/** The image jobs that this node works on. They continue after their client has left. */
import { FairShare, type Holding } from '#core/schedule/fair-share.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Limits } from '#core/settings.ts'
import type { ImageOutcome } from './outcome.ts'

/** Largest ratio of one project's slots to the slots that stay free: a job holds its slot for minutes. */
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

  /** The end of a job that this node works on. Undefined when another node works on it, or when it has ended. */
  endOf(jobId: string): Promise<ImageOutcome> | undefined {
    return this.#ends.get(jobId)
  }

  /** A slot for a job of this project. A caller who would wait long is refused with a retry time instead. */
  async place(project: string): Promise<Holding> {
    const place = await this.#places.takeBefore(project, 1, this.#late)
    if (place) return place
    throw new Fault(
      'too_many_image_jobs',
      `This node has no place for another image job of project '${project}', which already has ${this.#places.heldBy(project)}. Retry.`,
    )
  }

  /** A slot for a job that this node has taken over, however long the wait. */
  async turn(project: string): Promise<Holding> {
    const awaited = this.#places.wait(project, 1)
    if (awaited === undefined) throw new Error(`too many image jobs of project '${project}' wait for a place`)
    return awaited.holding
  }

  /** The slot is given back when the job has ended. */
  start(
    jobId: string,
    place: Holding | Promise<Holding>,
    work: () => Promise<ImageOutcome>,
  ): Promise<ImageOutcome> {
    const end = inPlace(place, work).finally(() => this.#ends.delete(jobId))
    this.#ends.set(jobId, end)
    // Perhaps no request waits for it. The job has logged its rejection itself.
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

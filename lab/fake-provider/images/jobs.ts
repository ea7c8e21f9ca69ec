import { randomUUID } from 'node:crypto'
import type { Scenario } from '../traits.ts'
import type { Moderated } from './image-question.ts'
import type { PictureNote } from './pictures.ts'

/** A purchase that was taken, and whose pictures are asked for later. */
export type Job = {
  id: string
  model: string
  prompt: string
  pictures: PictureNote[]
  moderated: Moderated
  submittedAtMs: number
  /** Polls so far, the present one included. */
  polls: number
  canceled: boolean
}

export type Phase = 'queued' | 'working' | 'done' | 'failed' | 'canceled'

/** Kept as long as the server lives: a client may come back after a crash of its own. */
export class Jobs {
  readonly #jobs = new Map<string, Job>()

  submit(order: Pick<Job, 'model' | 'prompt' | 'pictures' | 'moderated'>): Job {
    const job = { id: randomUUID(), submittedAtMs: performance.now(), polls: 0, canceled: false, ...order }
    this.#jobs.set(job.id, job)
    return job
  }

  find(id: string): Job | undefined {
    return this.#jobs.get(id)
  }
}

export function phaseOf(scenario: Scenario, job: Job): Phase {
  if (job.canceled) return 'canceled'
  if (isPending(scenario, job)) return job.polls <= 1 ? 'queued' : 'working'
  return scenario.has('job-fails') ? 'failed' : 'done'
}

function isPending(scenario: Scenario, { polls, submittedAtMs }: Job): boolean {
  const pendingMs = scenario.amount('pending-N')
  if (pendingMs !== undefined) return performance.now() - submittedAtMs < pendingMs
  // Before the first poll a job is as far as that poll would find it.
  return Math.max(1, polls) <= (scenario.amount('polls-N') ?? 2)
}

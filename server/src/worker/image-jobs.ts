/** Renews the claims of this node's image jobs, takes over jobs of dead nodes, and deletes expired ones. */
import type { BlobPlace } from '#ports/blobs.ts'
import { JobLost, type TakenJob } from '#ports/image-jobs.ts'
import { resumeJob, type ResumeDependencies } from '#request/images/resume.ts'
import { every, type Repetition } from './every.ts'
import { deleteOldBlobs } from './old-blobs.ts'
import type { Pulse } from './pulse.ts'

export interface ImageWorkerParts extends ResumeDependencies {
  /** Whether this node takes over jobs of dead processes. */
  readonly takesOver: boolean
  /** Whether the clock can be believed: nothing is deleted for its age before. */
  readonly isClockSteady: () => boolean
  /** Whether this node deletes old images: in a shared store one node is enough. */
  readonly mustForgetBlobs: () => Promise<boolean>
  /** The owner of the store's location. Rejects while the store is unreachable: nothing is deleted then. */
  readonly blobPlace: () => Promise<BlobPlace>
  readonly pulse?: Pick<Pulse, 'may'> | undefined
}

export interface ImageWorkerEvents {
  tookOver(jobId: string): void
  failed(what: string, error: unknown): void
  deleted(counts: { readonly jobs: number; readonly blobs: number }): void
}

/**
 * Interval of renewal, well within the time after which a caller counts as gone. A retry waits this long to
 * learn that another caller waits on this node.
 */
const RENEW_MS = 4000
/** Interval at which an abandoned job is noticed. */
const LOOK_MS = 2000
/** Jobs taken over concurrently: each may hold tens of megabytes. */
const TAKEN_AT_ONCE = 8
const FORGET_MS = 10 * 60_000

export function startImageWorker(dependencies: ImageWorkerParts, events: ImageWorkerEvents): Repetition {
  const { jobs, waiting, limits, blobs, clock, pulse } = dependencies
  const lookForAbandoned = async (): Promise<void> => {
    if (pulse?.may('imageJobs') !== false) await takeOver(dependencies, events)
  }
  const trouble = (what: string) => (error: unknown) => events.failed(what, error)
  const repeating = [
    every(RENEW_MS, () => renewHolds(dependencies), trouble('renew')),
    every(
      RENEW_MS,
      () => (waiting.all.length === 0 ? Promise.resolve() : jobs.renewCallers(waiting.all)),
      trouble('renew callers'),
    ),
    ...(dependencies.takesOver ? [every(LOOK_MS, lookForAbandoned, trouble('take over'))] : []),
    every(
      FORGET_MS,
      async () => {
        if (!dependencies.isClockSteady()) return
        const deletedJobs = await jobs.deleteOld(limits.assetRetentionMs)
        const beforeMs = clock.nowMs() - limits.assetRetentionMs
        const deletedBlobs = (await dependencies.mustForgetBlobs())
          ? await deleteOldBlobs(blobs, await dependencies.blobPlace(), beforeMs)
          : 0
        if (deletedJobs + deletedBlobs > 0) events.deleted({ jobs: deletedJobs, blobs: deletedBlobs })
      },
      trouble('forget'),
    ),
  ]
  return {
    async stop() {
      await Promise.all(repeating.map((one) => one.stop()))
    },
  }
}

async function renewHolds({ jobs, running, nodeId }: ResumeDependencies): Promise<void> {
  if (running.size > 0) await jobs.renew(nodeId, running.ids)
}

async function takeOver(dependencies: ResumeDependencies, events: ImageWorkerEvents): Promise<void> {
  const { jobs, running, nodeId, limits } = dependencies
  const room = Math.min(TAKEN_AT_ONCE, limits.maxImageJobs - running.size)
  if (room <= 0) return
  // A process that was suspended for longer than its claims last would take its own jobs from itself.
  await renewHolds(dependencies)
  for (const taken of await jobs.takeOver(nodeId, room)) {
    const resume = (): void => resumeTaken(taken, dependencies, events)
    const before = running.endOf(taken.job.id)
    if (before === undefined) resume()
    // This node still works on it, although it lost its claim to another node that has given it up: it
    // notices by its token, and stops. The claim is this node's meanwhile, so that no other node continues
    // before its end.
    else void before.catch(resume)
  }
}

function resumeTaken(taken: TakenJob, dependencies: ResumeDependencies, events: ImageWorkerEvents): void {
  const { running } = dependencies
  const { id, project } = taken.job
  events.tookOver(id)
  running
    .start(id, running.turn(project), () => resumeJob(taken, dependencies))
    .catch((error: unknown) => {
      if (!(error instanceof JobLost)) events.failed(`job ${id}`, error)
    })
}

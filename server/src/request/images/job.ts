/** The job of an image request in the store: begin it or join an earlier one, watch it until it ends, and end it. */
import type { ImageModel } from '#core/catalog/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { canonicalText } from '#core/image/canonical-request.ts'
import type { ImageRequest } from '#core/image/request.ts'
import { momentOf } from '#core/money/ledger.ts'
import type { Limits } from '#core/settings.ts'
import type { Clock } from '#ports/clock.ts'
import type { Hashing } from '#runtime/hashing.ts'
import {
  JobLost,
  type BegunJob,
  type Hold,
  type ImageJob,
  type ImageJobs,
  type NewImageJob,
} from '#ports/image-jobs.ts'
import type { Key } from '#ports/keys.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { endOf, outcomeOf, type ImageOutcome } from './outcome.ts'
import { storeFault, type Background } from './run.ts'
import type { RunningJobs } from './running-jobs.ts'
import { storedText } from './stored-request.ts'
import type { WaitingCallers } from './waiting-callers.ts'

export interface JobOutside {
  readonly jobs: ImageJobs
  readonly running: RunningJobs
  readonly waiting: WaitingCallers
  readonly hashing: Hashing
  readonly clock: Clock
  readonly limits: Pick<Limits, 'imageTimeoutMs'>
  readonly nodeId: string
  readonly wait: (ms: number) => Promise<unknown>
  /** Reports a job that could not be ended in the store. The node that takes it over finds what was bought. */
  readonly unended: (jobId: string, error: unknown) => void
}

/** The caller of a job, and whether it may join an earlier one. */
export interface JobOptions {
  readonly requestId: string
  readonly key: Key
  readonly unsupported: 'refuse' | 'drop' | undefined
  readonly idempotencyKey: string | undefined
  /** The caller's SDK marks this request as its own retry. */
  readonly isRetry: boolean
  readonly background?: Pick<Background, 'batchId'> | undefined
  /** Registers a function to call when the caller no longer waits: it has its answer, or has left. */
  readonly whenGone: (gone: () => void) => void
}

type Start = Exclude<BegunJob, { kind: 'conflict' | 'undecided' }>

/**
 * An SDK's own retry joins only a job whose caller has left, and becomes its caller: two callers who ask for
 * the same at the same time get an image each. An idempotency key identifies the same request for any number
 * of callers.
 */
export async function beginOrJoin(
  request: ImageRequest,
  model: ImageModel,
  options: JobOptions,
  outside: JobOutside,
): Promise<Start> {
  const { requestId, key, idempotencyKey, isRetry, unsupported, whenGone } = options
  const { jobs, hashing, nodeId, waiting } = outside
  const batchId = options.background?.batchId
  const job = {
    id: requestId,
    project: key.project,
    keyId: key.id,
    player: key.player,
    model: model.id,
    digest: hashing.sha256OfText(canonicalText(withoutDefaults(request, model))),
    idempotencyKey,
    batchId,
    isRetry,
    request: storedText({ request, key, unsupported }),
    nodeId,
  }
  if (idempotencyKey !== undefined) return beginOnceDecided(job, outside)
  // Set before the job is in the store, where a retry finds it.
  const own = { jobId: requestId, callerId: requestId }
  waiting.add(own)
  const begun = await beginOnceDecided(job, outside).catch((error: unknown) => {
    waiting.remove(own)
    throw error
  })
  const caller = begun.kind === 'joined' ? { ...own, jobId: begun.job.id } : own
  waiting.remove(own)
  waiting.add(caller)
  whenGone(() => {
    waiting.remove(caller)
    // If the store does not learn of it, it hears nothing more from this caller and counts it as gone in the end.
    jobs.callerLeft(caller).catch(() => {})
  })
  return begun
}

/** An explicit default equals a missing field. */
function withoutDefaults(request: ImageRequest, { facts }: ImageModel): ImageRequest {
  const unasked = request.stream ? 'b64_json' : facts.answersWith
  return request.form === unasked ? { ...request, form: undefined } : request
}

/** While the first caller may still wait on another node, a retry asks again until that node answers or is dead. */
async function beginOnceDecided(
  job: NewImageJob,
  { jobs, waiting, clock, wait }: Pick<JobOutside, 'jobs' | 'waiting' | 'clock' | 'wait'>,
): Promise<Start> {
  const cameMs = clock.monotonicMs()
  for (;;) {
    const awaited = job.isRetry ? waiting.jobIds : []
    const undecidedMs = clock.monotonicMs() - cameMs
    const begun = await jobs.begin({ ...job, awaited, undecidedMs }).catch(asStoreFault)
    if (begun.kind === 'conflict') {
      throw new Fault(
        'idempotency_key_reused',
        'This Idempotency-Key was used for a different request within the last 24 hours. Use a new one.',
        { param: 'idempotency-key' },
      )
    }
    if (begun.kind !== 'undecided') return begun
    await wait(LOOK_MS)
  }
}

/**
 * The job that this request has just begun. It needs no read from the store: the job runs even while the
 * store is unreachable.
 */
export function begunJob({ requestId, key, background }: JobOptions, model: ImageModel): ImageJob {
  return {
    id: requestId,
    project: key.project,
    batchId: background?.batchId,
    keyId: key.id,
    player: key.player,
    model: model.id,
    state: 'leased',
    createdAtMs: momentOf(requestId),
    endedAtMs: undefined,
    result: undefined,
  }
}

/** Interval between looks at another node's job: images take seconds. */
const LOOK_MS = 300

/** The end of a job that another request began, here or on another node. The job may move between nodes meanwhile. */
export async function outcomeOfOther(job: ImageJob, outside: JobOutside): Promise<ImageOutcome> {
  const { running, jobs, clock, limits, wait } = outside
  const deadlineMs = clock.monotonicMs() + limits.imageTimeoutMs
  for (let current: ImageJob | undefined = job; current !== undefined;) {
    const outcome = outcomeOf(current)
    if (outcome !== undefined) return outcome
    const own = await running.endOf(job.id)?.catch(whereItGoesOn)
    if (own !== undefined) return own
    if (clock.monotonicMs() > deadlineMs) break
    await wait(LOOK_MS)
    current = await jobs.find(job.id, job.project).catch((error: unknown) => {
      if (error instanceof StoreUnreachable) return job
      throw error
    })
  }
  throw new Fault(
    'upstream_timeout',
    `Job ${job.id} is still running. Get its result with GET /v1/images/jobs/${job.id}.`,
  )
}

/** The job continues: with another holder, or with one that takes it over when the store is reachable again. */
function whereItGoesOn(error: unknown): undefined {
  if (!(error instanceof JobLost) && !(error instanceof StoreUnreachable)) throw error
}

/** If the store can't record the end now, the client still gets its images: their delivery is stored. */
export async function tellEnd(
  hold: Hold,
  outcome: ImageOutcome,
  { jobs, unended }: Pick<JobOutside, 'jobs' | 'unended'>,
): Promise<void> {
  try {
    await jobs.end(hold, endOf(outcome))
  } catch (error) {
    if (!(error instanceof StoreUnreachable) && !(error instanceof JobLost)) throw error
    unended(hold.jobId, error)
  }
}

/** The fault for an unreachable store while nothing has been bought yet. */
export function asStoreFault(error: unknown): never {
  throw error instanceof StoreUnreachable ? storeFault(error) : error
}

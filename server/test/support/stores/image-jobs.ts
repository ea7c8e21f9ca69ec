import type { Clock } from '#ports/clock.ts'
import {
  CALLER_SILENT_MS,
  IDEMPOTENCY_MS,
  JobLost,
  JOB_HOLD_MS,
  RETRY_JOIN_MS,
  type BegunJob,
  type Hold,
  type ImageJob,
  type ImageJobCall,
  type ImageJobs,
  type JobCaller,
  type JobEnd,
  type NewImageJob,
  type TakenJob,
} from '#ports/image-jobs.ts'
import { UNKNOWN_POSTED_AFTER_MS } from '#ports/upkeep.ts'
import type { WebhooksFor } from '#ports/webhooks.ts'
import { refuseToFree } from '#stores/image-job-end.ts'
import { jobEndEvents } from '#stores/webhook-events.ts'
import type { MemoryWebhooks } from './webhooks.ts'

interface StoredJob {
  job: ImageJob
  readonly digest: string
  idempotencyKey: string | undefined
  request: string
  isFreed: boolean
  isAnswered: boolean
  nodeId: string | undefined
  token: number
  heldUntilMs: number
  callerId: string | undefined
  callerSeenAtMs: number
  readonly calls: Map<number, ImageJobCall>
}

export interface MemoryJobWebhooks {
  readonly outbox: MemoryWebhooks
  readonly webhooksFor: WebhooksFor
}

/** Image jobs in memory, gone with the process: for tests. */
export class MemoryImageJobs implements ImageJobs {
  readonly #clock: Clock
  readonly #webhooks: MemoryJobWebhooks | undefined
  readonly #keeps: number
  /** Oldest first. */
  readonly #jobs = new Map<string, StoredJob>()

  /** `keeps`: the number of jobs that are remembered. Then the oldest that ended is forgotten. */
  constructor(clock: Clock, webhooks?: MemoryJobWebhooks, keeps = 10_000) {
    this.#clock = clock
    this.#webhooks = webhooks
    this.#keeps = keeps
  }

  async begin(asked: NewImageJob): Promise<BegunJob> {
    const { id, project, keyId, player, model, digest, idempotencyKey, batchId, isRetry, request, nodeId } =
      asked
    const nowMs = this.#clock.nowMs()
    const earlier = this.#earlier(asked, nowMs)
    if (earlier?.job.id === id && isOpen(earlier) && earlier.token === 1 && earlier.nodeId === nodeId)
      return { kind: 'begun', hold: { jobId: id, token: 1 } }
    if (earlier)
      return earlier.digest === digest ? { kind: 'joined', job: earlier.job } : { kind: 'conflict' }
    const alike = isRetry && idempotencyKey === undefined ? this.#joinAlike(asked, nowMs) : undefined
    if (alike) return alike
    this.#jobs.set(id, {
      job: {
        id,
        project,
        batchId,
        keyId,
        player,
        model,
        state: 'leased',
        createdAtMs: nowMs,
        endedAtMs: undefined,
        result: undefined,
      },
      digest,
      idempotencyKey,
      request,
      isFreed: false,
      isAnswered: false,
      nodeId,
      token: 1,
      heldUntilMs: nowMs + JOB_HOLD_MS,
      callerId: idempotencyKey === undefined ? id : undefined,
      callerSeenAtMs: nowMs,
      calls: new Map(),
    })
    this.#forgetOldest()
    return { kind: 'begun', hold: { jobId: id, token: 1 } }
  }

  async find(id: string, project: string): Promise<ImageJob | undefined> {
    const job = this.#jobs.get(id)?.job
    return job?.project === project ? job : undefined
  }

  async findByKey(idempotencyKey: string, project: string): Promise<ImageJob | undefined> {
    const isWanted = (stored: StoredJob): boolean =>
      stored.idempotencyKey === idempotencyKey && stored.job.project === project
    return this.#jobs.values().find(isWanted)?.job
  }

  async dispatched(hold: Hold, call: Omit<ImageJobCall, 'submitted' | 'state'>): Promise<void> {
    const stored = this.#held(hold)
    const noted = stored.calls.get(call.attempt)
    stored.job = { ...stored.job, state: 'dispatched' }
    if (noted && noted.callId !== call.callId) throw noSuchAttempt(hold, call.attempt)
    if (noted === undefined) stored.calls.set(call.attempt, { ...call, submitted: undefined, state: 'sent' })
  }

  async submitted(hold: Hold, attempt: number, text: string): Promise<void> {
    this.#changeCall(hold, attempt, { submitted: text })
  }

  async callEnded(hold: Hold, attempt: number, state: 'failed' | 'delivered' | 'unknown'): Promise<void> {
    this.#changeCall(hold, attempt, { state })
  }

  async end(hold: Hold, { state, result, freesKey }: JobEnd): Promise<void> {
    refuseToFree(state, freesKey)
    const before = this.#jobs.get(hold.jobId)
    if (before?.token === hold.token && before.job.state === state) return
    const stored = this.#held(hold)
    const endedAtMs = this.#clock.nowMs()
    stored.job = { ...stored.job, state, endedAtMs, result }
    stored.request = ''
    stored.calls.clear()
    stored.nodeId = undefined
    stored.isFreed = freesKey
    if (freesKey) stored.idempotencyKey = undefined
    const { outbox, webhooksFor } = this.#webhooks ?? {}
    if (outbox && webhooksFor && stored.job.batchId === undefined)
      outbox.add(jobEndEvents(stored.job, state, endedAtMs, webhooksFor))
  }

  async answered(id: string): Promise<void> {
    const stored = this.#jobs.get(id)
    if (stored) stored.isAnswered = true
  }

  async renew(nodeId: string, jobIds: readonly string[]): Promise<void> {
    const heldUntilMs = this.#clock.nowMs() + JOB_HOLD_MS
    for (const stored of this.#openOf(nodeId))
      if (jobIds.includes(stored.job.id)) stored.heldUntilMs = heldUntilMs
  }

  async renewCallers(callers: readonly JobCaller[]): Promise<void> {
    for (const { jobId, callerId } of callers) {
      const stored = this.#jobs.get(jobId)
      if (stored?.callerId === callerId) stored.callerSeenAtMs = this.#clock.nowMs()
    }
  }

  async callerLeft({ jobId, callerId }: JobCaller): Promise<void> {
    const stored = this.#jobs.get(jobId)
    if (stored?.callerId === callerId) stored.callerId = undefined
  }

  async takeOver(nodeId: string, limit: number): Promise<readonly TakenJob[]> {
    const nowMs = this.#clock.nowMs()
    const due = [...this.#jobs.values()]
      .filter((stored) => isOpen(stored) && stored.heldUntilMs <= nowMs)
      .toSorted((left, right) => inOrder(left.job, right.job))
      .slice(0, limit)
    return due.map((stored) => {
      stored.nodeId = nodeId
      stored.token += 1
      stored.heldUntilMs = nowMs + JOB_HOLD_MS
      const calls = [...stored.calls.values()].toSorted((left, right) => left.attempt - right.attempt)
      const hold = { jobId: stored.job.id, token: stored.token }
      return { hold, job: stored.job, request: stored.request, calls }
    })
  }

  async release(nodeId: string): Promise<void> {
    for (const stored of this.#openOf(nodeId)) {
      stored.nodeId = undefined
      stored.heldUntilMs = this.#clock.nowMs()
    }
  }

  async deleteOld(keptMs: number): Promise<number> {
    const nowMs = this.#clock.nowMs()
    const old = [...this.#jobs.values()].filter(({ job: { state, endedAtMs } }) => {
      const ageMs = endedAtMs === undefined ? -1 : nowMs - endedAtMs
      return ageMs >= keptMs && (state !== 'unknown' || ageMs >= UNKNOWN_POSTED_AFTER_MS)
    })
    for (const { job } of old) this.#jobs.delete(job.id)
    return old.length
  }

  #earlier(asked: NewImageJob, nowMs: number): StoredJob | undefined {
    const { id, project, idempotencyKey } = asked
    const known = this.#jobs.get(id)
    if (known || idempotencyKey === undefined) return known
    return this.#jobs
      .values()
      .find(
        (stored) =>
          stored.job.project === project &&
          stored.idempotencyKey === idempotencyKey &&
          (stored.job.batchId !== undefined || nowMs - stored.job.createdAtMs < IDEMPOTENCY_MS),
      )
  }

  #joinAlike(asked: NewImageJob, nowMs: number): BegunJob | undefined {
    const { id, awaited = [], undecidedMs = 0 } = asked
    const alike = [...this.#jobs.values()]
      .filter((stored) => isAlike(stored, asked, nowMs) && !awaited.includes(stored.job.id))
      .toSorted((left, right) => inOrder(right.job, left.job))
    const joined = alike.find(({ callerId, callerSeenAtMs }) => {
      const isThere = callerId !== undefined && callerId !== id
      return !isThere || nowMs - callerSeenAtMs >= CALLER_SILENT_MS
    })
    if (joined) {
      joined.callerId = id
      joined.callerSeenAtMs = nowMs
      return { kind: 'joined', job: joined.job }
    }
    const isUndecided = alike.some(({ callerSeenAtMs }) => nowMs - callerSeenAtMs >= undecidedMs)
    return isUndecided ? { kind: 'undecided' } : undefined
  }

  #held({ jobId, token }: Hold): StoredJob {
    const stored = this.#jobs.get(jobId)
    if (stored?.token === token && isOpen(stored)) return stored
    throw new JobLost(`holder ${token} of job ${jobId} holds it no more`)
  }

  #changeCall(hold: Hold, attempt: number, change: Partial<ImageJobCall>): void {
    const { calls } = this.#held(hold)
    const call = calls.get(attempt)
    if (call === undefined) throw noSuchAttempt(hold, attempt)
    calls.set(attempt, { ...call, ...change })
  }

  #openOf(nodeId: string): readonly StoredJob[] {
    return [...this.#jobs.values()].filter((stored) => stored.nodeId === nodeId && isOpen(stored))
  }

  #forgetOldest(): void {
    if (this.#jobs.size <= this.#keeps) return
    const oldest = this.#jobs.values().find((stored) => !isOpen(stored))
    if (oldest) this.#jobs.delete(oldest.job.id)
  }
}

/** Whether it may be what this retry retries. */
function isAlike(stored: StoredJob, { project, keyId, digest }: NewImageJob, nowMs: number): boolean {
  const { job, idempotencyKey, isAnswered, isFreed } = stored
  const isSame = job.project === project && job.keyId === keyId && stored.digest === digest
  const isOpenToRetries = idempotencyKey === undefined && !isAnswered && !isFreed
  return isSame && isOpenToRetries && nowMs - job.createdAtMs < RETRY_JOIN_MS
}

function isOpen({ job: { state } }: StoredJob): boolean {
  return state === 'leased' || state === 'dispatched'
}

function inOrder(left: ImageJob, right: ImageJob): number {
  return left.createdAtMs - right.createdAtMs || (left.id < right.id ? -1 : 1)
}

function noSuchAttempt({ jobId }: Hold, attempt: number): Error {
  return new Error(`job ${jobId} has no such attempt ${attempt}, or with another call`)
}

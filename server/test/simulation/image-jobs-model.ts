/** What must be true of image jobs whatever happens, and a way to ask several stores the same and compare. */
import assert from 'node:assert/strict'
import {
  CALLER_SILENT_MS,
  IDEMPOTENCY_MS,
  JobLost,
  JOB_HOLD_MS,
  RETRY_JOIN_MS,
  type BegunJob,
  type Hold,
  type ImageJob,
  type ImageJobs,
  type JobCaller,
  type JobEnd,
  type NewImageJob,
  type TakenJob,
} from '#ports/image-jobs.ts'
import type { JobsWorld } from '#test/contract/image-jobs-open.ts'

/** What is remembered of a job: only what rules mention. */
interface KnownJob {
  readonly asked: NewImageJob
  readonly beganAtMs: number
  token: number
  heldUntilMs: number
  nodeId: string | undefined
  end: JobEnd | undefined
  isAnswered: boolean
  /** Undefined when no caller waits, or when it has an idempotency key. */
  callerId: string | undefined
  callerSeenAtMs: number
}

export class JobsSimulation {
  readonly jobs = new Map<string, KnownJob>()
  /** All claims ever made: most of them are no longer valid. */
  readonly holds: Hold[] = []
  /** All callers that ever waited: many have left, or were replaced. */
  readonly callers: JobCaller[] = []
  readonly #worlds: readonly JobsWorld[]
  #nowMs = 0
  #ids = 0

  constructor(worlds: readonly JobsWorld[]) {
    this.#worlds = worlds
  }

  /** Ids in the order of time, also within one millisecond, so that all stores agree on the order. */
  nextId(): string {
    this.#ids += 1
    return `01930000-0000-7000-8000-${String(this.#ids).padStart(12, '0')}`
  }

  async passes(ms: number): Promise<void> {
    this.#nowMs += ms
    for (const world of this.#worlds) await world.passes(ms)
  }

  async begin(asked: NewImageJob): Promise<void> {
    const begun = await this.#ask((jobs) => jobs.begin(asked))
    if (begun instanceof Error) throw begun
    // A repetition because of a lost answer is the same request.
    if (begun.kind === 'begun' && this.jobs.has(asked.id)) return
    if (begun.kind !== 'begun') return this.#assertKnown(asked, begun)
    this.#assertMayBegin(asked)
    this.callers.push({ jobId: asked.id, callerId: asked.id })
    this.holds.push(begun.hold)
    this.jobs.set(asked.id, {
      asked,
      beganAtMs: this.#nowMs,
      token: begun.hold.token,
      heldUntilMs: this.#nowMs + JOB_HOLD_MS,
      nodeId: asked.nodeId,
      end: undefined,
      isAnswered: false,
      callerId: asked.idempotencyKey === undefined ? asked.id : undefined,
      callerSeenAtMs: this.#nowMs,
    })
  }

  async renewCallers(callers: readonly JobCaller[]): Promise<void> {
    await this.#ask((jobs) => jobs.renewCallers(callers))
    for (const { jobId, callerId } of callers) {
      const job = this.jobs.get(jobId)
      if (job?.callerId === callerId) job.callerSeenAtMs = this.#nowMs
    }
  }

  async callerLeft(caller: JobCaller): Promise<void> {
    await this.#ask((jobs) => jobs.callerLeft(caller))
    const job = this.jobs.get(caller.jobId)
    if (job?.callerId === caller.callerId) job.callerId = undefined
  }

  /** Reports something as the holder, which is accepted exactly when the claim is the job's. */
  async say(hold: Hold, saying: (jobs: ImageJobs) => Promise<void>): Promise<void> {
    const said = await this.#ask(saying)
    assert.equal(said instanceof JobLost, !this.#holds(hold))
  }

  async end(hold: Hold, end: JobEnd): Promise<void> {
    const said = await this.#ask((jobs) => jobs.end(hold, end))
    const job = this.jobs.get(hold.jobId)
    const isRepeated = job?.token === hold.token && job.end?.state === end.state
    assert.equal(said instanceof JobLost, !this.#holds(hold) && !isRepeated)
    if (job && this.#holds(hold)) job.end = end
  }

  async takeOver(nodeId: string, limit: number): Promise<void> {
    const taken = (await this.#ask((jobs) => jobs.takeOver(nodeId, limit))) as readonly TakenJob[]
    const due = [...this.jobs.values()].filter(
      ({ end, heldUntilMs }) => end === undefined && heldUntilMs <= this.#nowMs,
    )
    assert.deepEqual(
      taken.map(({ hold: { jobId } }) => jobId),
      due.slice(0, limit).map(({ asked: { id } }) => id),
    )
    for (const { hold, request } of taken) {
      const job = this.jobs.get(hold.jobId) as KnownJob
      assert.ok(hold.token > job.token)
      assert.equal(request, job.asked.request)
      Object.assign(job, { token: hold.token, nodeId, heldUntilMs: this.#nowMs + JOB_HOLD_MS })
      this.holds.push(hold)
    }
  }

  /** Works on most jobs, but not on all that it may hold. */
  async renew(nodeId: string): Promise<void> {
    const ids = [...this.jobs.keys()].filter((_, index) => index % 3 < 2)
    await this.#ask((jobs) => jobs.renew(nodeId, ids))
    for (const job of this.#openOf(nodeId))
      if (ids.includes(job.asked.id)) job.heldUntilMs = this.#nowMs + JOB_HOLD_MS
  }

  async release(nodeId: string): Promise<void> {
    await this.#ask((jobs) => jobs.release(nodeId))
    for (const job of this.#openOf(nodeId))
      Object.assign(job, { nodeId: undefined, heldUntilMs: this.#nowMs })
  }

  async answered(id: string): Promise<void> {
    await this.#ask((jobs) => jobs.answered(id))
    const job = this.jobs.get(id)
    if (job) job.isAnswered = true
  }

  async deleteOld(keptMs: number): Promise<void> {
    await this.#ask((jobs) => jobs.deleteOld(keptMs))
    for (const [id, { asked, end }] of this.jobs) {
      const found = await this.#ask((jobs) => jobs.find(id, asked.project))
      assert.ok(end !== undefined || found !== undefined, 'a job that runs is never deleted')
      if (found === undefined) this.jobs.delete(id)
    }
  }

  /** All stores report of every job what was written to them. */
  async assertFound(): Promise<void> {
    for (const [id, { asked, end }] of this.jobs) {
      const found = (await this.#ask((jobs) => jobs.find(id, asked.project))) as ImageJob
      assert.equal(found.result, end?.result)
      if (end) assert.equal(found.state, end.state)
      else assert.match(found.state, /leased|dispatched/)
      assert.equal(await this.#ask((jobs) => jobs.find(id, 'nobody')), undefined)
    }
  }

  /** Asks all stores the same; their answers must be equal. */
  async #ask<Answer>(question: (jobs: ImageJobs) => Promise<Answer>): Promise<Answer | Error> {
    const answers = await Promise.all(
      this.#worlds.map(({ jobs }) => question(jobs).catch((error: unknown) => error as Error)),
    )
    const [first] = answers as [Answer | Error]
    for (const other of answers) assert.deepEqual(comparable(other), comparable(first))
    return first
  }

  #openOf(nodeId: string): KnownJob[] {
    return [...this.jobs.values()].filter((job) => job.end === undefined && job.nodeId === nodeId)
  }

  #holds({ jobId, token }: Hold): boolean {
    const job = this.jobs.get(jobId)
    return job?.token === token && job.end === undefined
  }

  /** No request may buy what was asked for under a valid key, or what is being retried. */
  #assertMayBegin(begins: NewImageJob): void {
    const { id, project, idempotencyKey } = begins
    for (const job of this.jobs.values()) {
      const { asked, beganAtMs, end } = job
      if (asked.id === id || asked.project !== project || end?.freesKey) continue
      const ageMs = this.#nowMs - beganAtMs
      const isUnderKey = idempotencyKey !== undefined && asked.idempotencyKey === idempotencyKey
      assert.ok(!isUnderKey || ageMs >= IDEMPOTENCY_MS, 'begun twice under one key')
      if (!this.#isRetried(job, begins)) continue
      assert.ok(!this.#hasLeft(job), 'a retry was begun anew')
      assert.ok(this.#nowMs - job.callerSeenAtMs < (begins.undecidedMs ?? 0), 'a retry did not wait')
    }
  }

  #isRetried({ asked, beganAtMs, end, isAnswered }: KnownJob, retry: NewImageJob): boolean {
    const isSame =
      asked.project === retry.project && asked.keyId === retry.keyId && asked.digest === retry.digest
    const isKeyless = asked.idempotencyKey === undefined && retry.idempotencyKey === undefined
    const isYoung = this.#nowMs - beganAtMs < RETRY_JOIN_MS
    return retry.isRetry && isSame && isKeyless && isYoung && !isAnswered && end?.freesKey !== true
  }

  #hasLeft({ callerId, callerSeenAtMs }: KnownJob): boolean {
    return callerId === undefined || this.#nowMs - callerSeenAtMs >= CALLER_SILENT_MS
  }

  #assertKnown(asked: NewImageJob, begun: BegunJob): void {
    if (begun.kind === 'undecided')
      assert.ok(this.jobs.values().some((job) => this.#isRetried(job, asked) && !this.#hasLeft(job)))
    if (begun.kind === 'joined') {
      const job = this.jobs.get(begun.job.id)
      if (job && asked.idempotencyKey === undefined && asked.id !== begun.job.id) {
        assert.ok(this.#isRetried(job, asked), 'joined what it does not retry')
        assert.ok(this.#hasLeft(job), 'joined although a caller waits')
        Object.assign(job, { callerId: asked.id, callerSeenAtMs: this.#nowMs })
        this.callers.push({ jobId: begun.job.id, callerId: asked.id })
      }
      assert.equal(this.jobs.get(begun.job.id)?.asked.digest, asked.digest)
      assert.equal(begun.job.project, asked.project)
    }
    if (begun.kind === 'conflict') assert.notEqual(asked.idempotencyKey, undefined)
  }
}

/** Times differ from store to store; everything else does not. */
function comparable(answer: unknown): unknown {
  if (answer instanceof Error) return `${answer.name}: ${answer.message}`
  if (answer === undefined) return undefined
  const withoutTime = (name: string, value: unknown): unknown =>
    name.endsWith('AtMs') && value !== undefined ? 'some time' : value
  return JSON.parse(JSON.stringify(answer, withoutTime)) as unknown
}

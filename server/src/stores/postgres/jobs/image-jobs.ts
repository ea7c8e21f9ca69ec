import { createHmac, hkdfSync } from 'node:crypto'
import { CredentialLost, type SealingKeys } from '#ports/credentials.ts'
import {
  JobLost,
  type BegunJob,
  type Hold,
  type ImageJob,
  type ImageJobCall,
  type ImageJobs,
  type ImageJobState,
  type JobCaller,
  type JobEnd,
  type NewImageJob,
  type TakenJob,
} from '#ports/image-jobs.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { WebhooksFor } from '#ports/webhooks.ts'
import { openSecret, sealSecret } from '../../envelope.ts'
import { refuseToFree } from '../../image-job-end.ts'
import { jobEndEvents } from '../../webhook-events.ts'
import { plainArray } from '../arrays.ts'
import { reachable } from '../unreachable.ts'
import type { Database, Sql } from '../database.ts'
import {
  ALIKE,
  ANSWERED,
  CALL_ENDED,
  CALLER_LEFT,
  CALLS,
  DELETE_OLD,
  DISPATCHED,
  EARLIER,
  END,
  FREE_OLD_KEY,
  HAS_ENDED,
  INSERT_JOB,
  JOIN,
  LOCK_ALIKE,
  PAGE_ROWS,
  RELEASE,
  RENEW,
  RENEW_CALLERS,
  SUBMITTED,
  TAKE_OVER,
} from './image-jobs-sql.ts'
import { ownerIn, playerColumns, type OwnerColumns } from './owner-columns.ts'
import { enqueueWebhooks } from './webhooks.ts'

/** Retries when another request reuses the idempotency key meanwhile. */
const BEGIN_ROUNDS = 10
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

interface JobRow extends OwnerColumns {
  readonly job_id: string
  readonly model: string
  readonly digest: string
  readonly state: ImageJobState
  readonly created_at: Date
  readonly ended_at: Date | null
  readonly token: bigint
  readonly request_key: Buffer | null
  readonly request_sealed: Buffer | null
  readonly result_key: Buffer | null
  readonly result_sealed: Buffer | null
  readonly batch_id: string | null
}

interface CallRow {
  readonly job_id: string
  readonly attempt: number
  readonly part: number
  readonly call_id: string
  readonly images: number
  readonly deployment: string
  readonly state: ImageJobCall['state']
  readonly submitted_key: Buffer | null
  readonly submitted_sealed: Buffer | null
}

export class PostgresImageJobs implements ImageJobs {
  readonly #database: Database
  readonly #keys: SealingKeys
  readonly #digestKeys: readonly Uint8Array[]
  readonly #webhooksFor: WebhooksFor

  constructor(database: Database, keys: SealingKeys, webhooksFor: WebhooksFor = () => []) {
    this.#database = database
    this.#keys = keys
    this.#digestKeys = [keys.current, keys.previous].flatMap((key) =>
      key === undefined
        ? []
        : [Buffer.from(hkdfSync('sha256', key.key, '', 'torana image job digest v1', 32))],
    )
    this.#webhooksFor = webhooksFor
  }

  begin(job: NewImageJob): Promise<BegunJob> {
    return reachable(this.#database.transaction((sql) => this.#begin(sql, job)))
  }

  async find(id: string, project: string): Promise<ImageJob | undefined> {
    if (!UUID.test(id)) return undefined
    return this.#one('SELECT * FROM image_jobs WHERE job_id = $1 AND project = $2', [id, project])
  }

  async findByKey(idempotencyKey: string, project: string): Promise<ImageJob | undefined> {
    const statement = 'SELECT * FROM image_jobs WHERE idempotency_key = $1 AND project = $2'
    return this.#one(statement, [idempotencyKey, project])
  }

  async dispatched(hold: Hold, call: Omit<ImageJobCall, 'submitted' | 'state'>): Promise<void> {
    const { attempt, part, callId, images, deployment } = call
    await this.#noteCall(DISPATCHED, hold, attempt, [part, callId, images, deployment])
  }

  async submitted(hold: Hold, attempt: number, text: string): Promise<void> {
    const { sealedKey, sealedSecret } = sealSecret(text, ownerOfCall(hold.jobId, attempt), this.#keys)
    await this.#noteCall(SUBMITTED, hold, attempt, [sealedKey, sealedSecret])
  }

  async callEnded(hold: Hold, attempt: number, state: 'failed' | 'delivered' | 'unknown'): Promise<void> {
    await this.#noteCall(CALL_ENDED, hold, attempt, [state])
  }

  async end(hold: Hold, { state, result, freesKey }: JobEnd): Promise<void> {
    refuseToFree(state, freesKey)
    const { jobId, token } = hold
    const { sealedKey, sealedSecret } = sealSecret(result, ownerOfResult(jobId), this.#keys)
    const isEnded = await reachable(
      this.#database.transaction(async (sql) => {
        const values = [jobId, token, state, sealedKey, sealedSecret, freesKey]
        const [row] = await sql.query<JobRow>(END, values)
        if (row === undefined) return (await sql.query(HAS_ENDED, [jobId, token, state])).length === 1
        const job = {
          id: jobId,
          project: row.project,
          model: row.model,
          createdAtMs: row.created_at.getTime(),
        }
        const endedAtMs = (row.ended_at as Date).getTime()
        if (row.batch_id === null)
          await enqueueWebhooks(sql, jobEndEvents(job, state, endedAtMs, this.#webhooksFor))
        return true
      }),
    )
    if (!isEnded) throw lost(hold)
  }

  async answered(id: string): Promise<void> {
    await reachable(this.#database.query(ANSWERED, [id]))
  }

  async renew(nodeId: string, jobIds: readonly string[]): Promise<void> {
    await reachable(this.#database.query(RENEW, [nodeId, plainArray(jobIds)], 'image-jobs-renew'))
  }

  async renewCallers(callers: readonly JobCaller[]): Promise<void> {
    const jobIds = plainArray(callers.map(({ jobId }) => jobId))
    const callerIds = plainArray(callers.map(({ callerId }) => callerId))
    await reachable(this.#database.query(RENEW_CALLERS, [jobIds, callerIds], 'image-jobs-renew-callers'))
  }

  async callerLeft({ jobId, callerId }: JobCaller): Promise<void> {
    await reachable(this.#database.query(CALLER_LEFT, [jobId, callerId]))
  }

  async takeOver(nodeId: string, limit: number): Promise<readonly TakenJob[]> {
    const { jobs, calls } = await reachable(
      this.#database.transaction(async (sql) => {
        const jobs = await sql.query<JobRow>(TAKE_OVER, [nodeId, limit], 'image-jobs-take-over')
        if (jobs.length === 0) return { jobs, calls: [] }
        return { jobs, calls: await sql.query<CallRow>(CALLS, [jobs.map(({ job_id }) => job_id)]) }
      }),
    )
    return jobs.map((row) => ({
      hold: { jobId: row.job_id, token: Number(row.token) },
      job: this.#jobOf(row),
      request:
        openedIfPossible(row.request_key, row.request_sealed, ownerOfRequest(row.job_id), this.#keys) ?? '',
      calls: calls.filter(({ job_id }) => job_id === row.job_id).map((call) => this.#callOf(call)),
    }))
  }

  async release(nodeId: string): Promise<void> {
    await reachable(this.#database.query(RELEASE, [nodeId]))
  }

  async deleteOld(keptMs: number): Promise<number> {
    let deleted = 0
    for (;;) {
      const rows = await reachable(this.#database.query(DELETE_OLD, [keptMs]))
      deleted += rows.length
      if (rows.length < PAGE_ROWS) return deleted
    }
  }

  async #one(statement: string, values: readonly unknown[]): Promise<ImageJob | undefined> {
    const [row] = await reachable(this.#database.query<JobRow>(statement, values))
    return row && this.#jobOf(row)
  }

  async #begin(sql: Sql, job: NewImageJob): Promise<BegunJob> {
    const { id, project, keyId, model, digest, idempotencyKey = null, isRetry, nodeId } = job
    const { sealedKey, sealedSecret } = sealSecret(job.request, ownerOfRequest(id), this.#keys)
    const digests = this.#keptDigests(digest)
    if (idempotencyKey === null) await sql.query(LOCK_ALIKE, [`${keyId}\n${digest}`])
    for (let round = 0; round < BEGIN_ROUNDS; round += 1) {
      if (idempotencyKey !== null) await sql.query(FREE_OLD_KEY, [project, idempotencyKey])
      const asked = [id, project, idempotencyKey, nodeId]
      const [earlier] = await sql.query<JobRow & { is_ours: boolean }>(EARLIER, asked)
      if (earlier?.job_id === id && earlier.is_ours) return begunJob(id)
      if (earlier) return digests.includes(earlier.digest) ? this.#joined(earlier) : { kind: 'conflict' }
      const alike = isRetry && idempotencyKey === null ? await this.#joinAlike(sql, job, digests) : undefined
      if (alike) return alike
      const kept = [
        idempotencyKey,
        nodeId,
        sealedKey,
        sealedSecret,
        job.batchId ?? null,
        ...playerColumns(job),
      ]
      const values = [id, project, keyId, model, digests[0], ...kept]
      if ((await sql.query(INSERT_JOB, values)).length === 1) return begunJob(id)
      // Another request inserted the key first and has committed: the next round finds it, unless it was freed since.
    }
    throw new StoreUnreachable('PostgreSQL: an idempotency key changes hands faster than it can be looked at')
  }

  async #joinAlike(sql: Sql, job: NewImageJob, digests: readonly string[]): Promise<BegunJob | undefined> {
    const { id, project, keyId, awaited = [], undecidedMs = 0 } = job
    const asked = [id, project, keyId, plainArray(digests), plainArray(awaited), undecidedMs]
    const [alike] = await sql.query<JobRow & { may_join: boolean }>(ALIKE, asked)
    if (alike === undefined) return undefined
    if (!alike.may_join) return { kind: 'undecided' }
    await sql.query(JOIN, [alike.job_id, id])
    return this.#joined(alike)
  }

  /**
   * The stored forms of a digest: a reader of the database must not be able to try prompts on it. The first form is written. The
   * other, under the previous secret, only recognises an earlier request.
   */
  #keptDigests(digest: string): readonly string[] {
    return this.#digestKeys.map((key) => createHmac('sha256', key).update(digest).digest('hex'))
  }

  async #noteCall(statement: string, hold: Hold, attempt: number, values: readonly unknown[]): Promise<void> {
    const [row] = await reachable(
      this.#database.query<{ held: number; noted: number }>(statement, [
        hold.jobId,
        hold.token,
        attempt,
        ...values,
      ]),
    )
    if (row?.held !== 1) throw lost(hold)
    if (row.noted !== 1)
      throw new Error(`job ${hold.jobId} has no such attempt ${attempt}, or with another call`)
  }

  #joined(row: JobRow): BegunJob {
    return { kind: 'joined', job: this.#jobOf(row) }
  }

  #jobOf(row: JobRow): ImageJob {
    return {
      id: row.job_id,
      ...ownerIn(row),
      batchId: row.batch_id ?? undefined,
      model: row.model,
      state: row.state,
      createdAtMs: row.created_at.getTime(),
      endedAtMs: row.ended_at?.getTime(),
      result: opened(row.result_key, row.result_sealed, ownerOfResult(row.job_id), this.#keys),
    }
  }

  #callOf(row: CallRow): ImageJobCall {
    const owner = ownerOfCall(row.job_id, row.attempt)
    return {
      attempt: row.attempt,
      callId: row.call_id,
      part: row.part,
      images: row.images,
      deployment: row.deployment,
      submitted: openedIfPossible(row.submitted_key, row.submitted_sealed, owner, this.#keys),
      state: row.state,
    }
  }
}

function opened(
  sealedKey: Buffer | null,
  sealedSecret: Buffer | null,
  owner: string,
  keys: SealingKeys,
): string | undefined {
  if (sealedKey === null || sealedSecret === null) return undefined
  return openSecret({ sealedKey, sealedSecret }, owner, keys).secret
}

/** Undefined also for what was sealed with another secret: one such job must not keep the others from being read. */
export function openedIfPossible(...sealed: Parameters<typeof opened>): string | undefined {
  try {
    return opened(...sealed)
  } catch (error) {
    if (error instanceof CredentialLost) return undefined
    throw error
  }
}

function begunJob(jobId: string): BegunJob {
  return { kind: 'begun', hold: { jobId, token: 1 } }
}

function lost({ jobId, token }: Hold): JobLost {
  return new JobLost(`holder ${token} of job ${jobId} holds it no more`)
}

function ownerOfRequest(jobId: string): string {
  return `${jobId}/request`
}

export function ownerOfResult(jobId: string): string {
  return `${jobId}/result`
}

function ownerOfCall(jobId: string, attempt: number): string {
  return `${jobId}/${attempt}`
}

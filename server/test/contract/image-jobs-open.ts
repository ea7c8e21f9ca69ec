/** Image jobs and webhook events on each engine that can keep them, empty, with a time that can be let pass. */
import type { Hold, ImageJobCall, ImageJobs, NewImageJob } from '#ports/image-jobs.ts'
import type { WebhookOutbox, WebhooksFor } from '#ports/webhooks.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { sealingKeysOf } from '#runtime/secret.ts'
import { MemoryImageJobs } from '#test/support/stores/image-jobs.ts'
import { MemoryWebhooks } from '#test/support/stores/webhooks.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { PostgresImageJobs } from '#stores/postgres/jobs/image-jobs.ts'
import { PostgresWebhooks } from '#stores/postgres/jobs/webhooks.ts'
import { testPglite } from '#test/support/pglite.ts'
import { reused } from '#test/support/reused-database.ts'
import { testPostgres } from '#test/support/servers.ts'

export interface JobsWorld {
  readonly jobs: ImageJobs
  /** The same store, as another node sees it. */
  readonly elsewhere: ImageJobs
  readonly outbox: WebhookOutbox
  readonly passes: (ms: number) => Promise<void>
}

/** A world that a test can look into. */
export interface DatabaseJobsWorld extends JobsWorld {
  readonly database: Database
}

const identifiers = uuidv7Identifiers(systemClock)
export const nextId = (): string => identifiers.next()

export const KEYS = sealingKeysOf({ current: 'the secret of these tests', previous: undefined })

/** A job like all others here, except for the overrides. */
export function aJob(overrides: Partial<NewImageJob> = {}): NewImageJob {
  return {
    id: nextId(),
    project: 'shop',
    keyId: 'shop/ci',
    player: undefined,
    model: 'painter',
    digest: 'digest-1',
    idempotencyKey: undefined,
    isRetry: false,
    request: '{"prompt":"a canary"}',
    nodeId: nextId(),
    ...overrides,
  }
}

export function aCall(attempt = 0): Omit<ImageJobCall, 'submitted' | 'state'> {
  return { attempt, callId: nextId(), part: 0, images: 2, deployment: 'painter/openai' }
}

export async function begunHold(jobs: ImageJobs, job: NewImageJob): Promise<Hold> {
  const begun = await jobs.begin(job)
  if (begun.kind !== 'begun') throw new Error(`not begun, but ${begun.kind}`)
  return begun.hold
}

/** The caller that began it waits no longer. */
export async function leave(jobs: ImageJobs, ...left: readonly NewImageJob[]): Promise<void> {
  for (const { id } of left) await jobs.callerLeft({ jobId: id, callerId: id })
}

/** Projects whose name ends in `+hooks` have two webhooks for all events. */
export const webhooksFor: WebhooksFor = (project) =>
  project.endsWith('+hooks') ? [{ url: 'https://one.example/hook' }, { url: 'https://two.example/hook' }] : []

export async function memoryJobs(): Promise<JobsWorld> {
  let nowMs = Date.UTC(2026, 10, 20)
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const outbox = new MemoryWebhooks(clock)
  const jobs = new MemoryImageJobs(clock, { outbox, webhooksFor })
  return {
    jobs,
    elsewhere: jobs,
    outbox,
    passes: async (ms) => void (nowMs += ms),
  }
}

const EMPTY = 'TRUNCATE image_jobs, image_job_calls, webhook_events, usage_events'

function jobsIn(database: Database): DatabaseJobsWorld {
  return {
    jobs: new PostgresImageJobs(database, KEYS, webhooksFor),
    elsewhere: new PostgresImageJobs(database, KEYS, webhooksFor),
    outbox: new PostgresWebhooks(database),
    passes: (ms) => pass(database, ms),
    database,
  }
}

/** The database has the time: letting it pass means that all there is was earlier. */
async function pass(database: Database, ms: number): Promise<void> {
  const earlier = (columns: readonly string[]): string =>
    columns.map((column) => `${column} = ${column} - interval '${ms} ms'`).join(', ')
  await database.query(
    `UPDATE image_jobs SET ${earlier(['created_at', 'ended_at', 'answered_at', 'lease_until', 'caller_seen_at'])};
     UPDATE webhook_events SET ${earlier(['created_at', 'due_at', 'ended_at'])}`,
  )
}

/** As many connections as it takes for begins to meet. */
const CONNECTIONS = 16

export const postgresJobs = () =>
  reused(async () => openPostgres((await testPostgres()).url, { poolSize: CONNECTIONS }), EMPTY, jobsIn)

export const pgliteJobs = () => reused(testPglite, EMPTY, jobsIn)

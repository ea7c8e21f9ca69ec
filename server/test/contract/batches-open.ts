/** Batches and webhook events on each engine that can keep them, empty, with a time that can be let pass. */
import { NOTHING, type ChunkCounts, type LineRange } from '#core/batch/chunk.ts'
import type { Batches, ChunkEnd, HeldChunk, JudgeMade, NewBatch } from '#ports/batches.ts'
import type { Files } from '#ports/files.ts'
import type { WebhookOutbox } from '#ports/webhooks.ts'
import { MemoryBatches } from '#test/support/stores/batches.ts'
import { MemoryFiles } from '#test/support/stores/files.ts'
import { MemoryWebhooks } from '#test/support/stores/webhooks.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { PostgresBatches } from '#stores/postgres/jobs/batches.ts'
import { PostgresFiles } from '#stores/postgres/jobs/files.ts'
import { PostgresWebhooks } from '#stores/postgres/jobs/webhooks.ts'
import { systemClock } from '#runtime/clock.ts'
import { testPglite } from '#test/support/pglite.ts'
import { reused } from '#test/support/reused-database.ts'
import { testPostgres } from '#test/support/servers.ts'
import { nextId, webhooksFor } from './image-jobs-open.ts'

export interface BatchesWorld {
  readonly batches: Batches
  /** The same store, as another node sees it. */
  readonly elsewhere: Batches
  readonly outbox: WebhookOutbox
  /** The files beside them. */
  readonly files: Files
  readonly passes: (ms: number) => Promise<void>
  /** Deployments whose vectors have left their space. */
  readonly left: Set<string>
  /** Deployments that no good probe has confirmed. */
  readonly unconfirmed: Set<string>
}

function judgeBy(left: ReadonlySet<string>, unconfirmed: ReadonlySet<string>): JudgeMade {
  return ({ deployment }) =>
    left.has(deployment) ? 'left' : unconfirmed.has(deployment) ? 'unconfirmed' : 'final'
}

export const HOUR_MS = 3_600_000

/** `count` chunks of ten lines. */
export function chunksOf(count: number): readonly LineRange[] {
  return Array.from({ length: count }, (_, index) => ({
    firstByte: index * 1000,
    bytes: 1000,
    firstLine: index * 10 + 1,
    lines: 10,
  }))
}

/** A batch like all others here, except for the overrides. */
export function aBatch(overrides: Partial<NewBatch> = {}): NewBatch {
  return {
    id: `batch_${nextId().replaceAll('-', '')}`,
    project: 'shop',
    keyId: 'shop/ci',
    player: undefined,
    terms: '{}',
    endpoint: '/v1/embeddings',
    inputFileId: 'file-in',
    outputFileId: `file-${nextId()}`,
    errorFileId: `file-${nextId()}`,
    model: 'small',
    digest: `digest ${nextId()}`,
    idempotencyKey: undefined,
    isRetry: false,
    windowMs: 24 * HOUR_MS,
    metadata: { corpus: 'wiki' },
    resultsKeptMs: 720 * HOUR_MS,
    chunks: chunksOf(2),
    errors: [],
    ...overrides,
  }
}

/** All lines of a chunk are done, except for the overrides. */
export function doneEnd({ hold, lines }: HeldChunk, counts: Partial<ChunkCounts> = {}): ChunkEnd {
  return {
    counts: {
      ...NOTHING,
      completed: lines,
      tokens: lines * 3,
      outputTokens: lines,
      costNanoUsd: BigInt(lines),
      ...counts,
    },
    part: { token: hold.token, headBytes: 5, outputBytes: lines * 8, errorBytes: 0 },
  }
}

/** The same, with vectors that a deployment made for this space. */
export function madeEnd(held: HeldChunk, deployment: string, space = 'small@8:00000001'): ChunkEnd {
  return { ...doneEnd(held), made: [{ space, deployment, fromMs: 1, untilMs: 2 }] }
}

export async function memoryBatches(): Promise<BatchesWorld> {
  let nowMs = Date.UTC(2026, 10, 20)
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const outbox = new MemoryWebhooks(clock)
  const left = new Set<string>()
  const unconfirmed = new Set<string>()
  const judge = judgeBy(left, unconfirmed)
  const files = new MemoryFiles(clock)
  const batches = new MemoryBatches(clock, { outbox, webhooksFor }, files, judge)
  return {
    batches,
    elsewhere: batches,
    outbox,
    files,
    passes: async (ms) => void (nowMs += ms),
    left,
    unconfirmed,
  }
}

const EMPTY = 'TRUNCATE batches, batch_chunks, webhook_events, files CASCADE'

function batchesIn(database: Database): BatchesWorld {
  const left = new Set<string>()
  const unconfirmed = new Set<string>()
  const judge = judgeBy(left, unconfirmed)
  return {
    batches: new PostgresBatches(database, webhooksFor, judge),
    elsewhere: new PostgresBatches(database, webhooksFor, judge),
    outbox: new PostgresWebhooks(database),
    files: new PostgresFiles(database, systemClock),
    passes: (ms) => pass(database, ms),
    left,
    unconfirmed,
  }
}

/** The database has the time: letting it pass means that all there is was earlier. */
async function pass(database: Database, ms: number): Promise<void> {
  const earlier = (...columns: readonly string[]): string =>
    columns.map((column) => `${column} = ${column} - interval '${ms} ms'`).join(', ')
  await database.query(
    `UPDATE batches SET ${earlier('created_at', 'expires_at', 'cancelling_at', 'ended_at', 'claimed_at', 'not_before')};
     UPDATE batch_chunks SET ${earlier('lease_until', 'done_at')}`,
  )
}

/** As many connections as it takes for creations and claims to meet. */
const CONNECTIONS = 16

export const postgresBatches = () =>
  reused(async () => openPostgres((await testPostgres()).url, { poolSize: CONNECTIONS }), EMPTY, batchesIn)

export const pgliteBatches = () => reused(testPglite, EMPTY, batchesIn)

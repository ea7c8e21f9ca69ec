/** The events of webhooks, as they are stored. */
import { createHash } from 'node:crypto'
import { usdOf } from '#core/money/price.ts'
import type { Batch } from '#ports/batches.ts'
import type { ImageJob, JobEnd } from '#ports/image-jobs.ts'
import type { WebhookEvent, WebhookEventType, WebhooksFor } from '#ports/webhooks.ts'

/** The public words for how a job ended. */
const STATUS = { settled: 'succeeded', failed: 'failed', unknown: 'unknown' } as const

type EndedJob = Pick<ImageJob, 'id' | 'project' | 'model' | 'createdAtMs'>

/** A job ends once, so its id identifies the event. */
export function jobEndEvents(
  job: EndedJob,
  state: JobEnd['state'],
  endedAtMs: number,
  webhooksFor: WebhooksFor,
): readonly WebhookEvent[] {
  const status = STATUS[state]
  return eventsOf({
    identity: job.id,
    project: job.project,
    type: `image.job.${status}`,
    atMs: endedAtMs,
    data: {
      id: job.id,
      object: 'image.job',
      status,
      model: job.model,
      created_at: seconds(job.createdAtMs),
      ended_at: seconds(endedAtMs),
    },
    webhooksFor,
  })
}

/** As OpenAI does it: only the id, by which the receiver fetches the rest. A batch ends once. */
export function batchEndEvents(
  { id, project, state, endedAtMs }: Pick<Batch, 'id' | 'project' | 'state' | 'endedAtMs'>,
  webhooksFor: WebhooksFor,
): readonly WebhookEvent[] {
  if (endedAtMs === undefined || state === 'in_progress' || state === 'cancelling') return []
  return eventsOf({
    identity: id,
    project,
    type: `batch.${state}`,
    atMs: endedAtMs,
    data: { id },
    webhooksFor,
  })
}

export interface ReachedBudget {
  readonly project: string
  readonly budgetId: string
  readonly windowStartMs: number
  readonly percent: number
  readonly spentNanoUsd: bigint
  readonly limitNanoUsd: bigint
}

/** Every node that notices the same mark of the same window creates the same event. */
export function budgetReachedEvents(
  reached: ReachedBudget,
  atMs: number,
  webhooksFor: WebhooksFor,
): readonly WebhookEvent[] {
  const { project, budgetId, windowStartMs, percent, spentNanoUsd, limitNanoUsd } = reached
  return eventsOf({
    identity: `${budgetId} ${windowStartMs} ${percent}`,
    project,
    type: 'budget.reached',
    atMs,
    data: { budget: budgetId, percent, spent_usd: usdOf(spentNanoUsd), limit_usd: usdOf(limitNanoUsd) },
    webhooksFor,
  })
}

/** What a project got of the vectors of a suspect window. */
export interface SuspectNews {
  readonly id: string
  readonly project: string
  readonly model: string
  readonly deployment: string
  readonly space: string
  readonly fromMs: number
  readonly untilMs: number | undefined
  readonly foundAtMs: number
  readonly vectors: number
  readonly requests: number
  readonly batchLines: number
}

/** Once per window and project. */
export function suspectEvents(news: SuspectNews, webhooksFor: WebhooksFor): readonly WebhookEvent[] {
  const { id, project, model, deployment, space, vectors, requests, batchLines } = news
  return eventsOf({
    identity: id,
    project,
    type: 'space.suspect',
    atMs: news.foundAtMs,
    data: {
      id,
      model,
      deployment,
      space,
      from: seconds(news.fromMs),
      ...(news.untilMs !== undefined && { until: seconds(news.untilMs) }),
      vectors,
      requests,
      batch_lines: batchLines,
    },
    webhooksFor,
  })
}

interface EventFacts {
  readonly identity: string
  readonly project: string
  readonly type: WebhookEventType
  readonly atMs: number
  readonly data: Readonly<Record<string, unknown>>
}

function eventsOf({
  webhooksFor,
  ...facts
}: EventFacts & {
  readonly type: WebhookEventType
  readonly webhooksFor: WebhooksFor
}): readonly WebhookEvent[] {
  const { project, type } = facts
  const urls = new Set(webhooksFor(project, type).map(({ url }) => url))
  if (urls.size === 0) return []
  const event = eventOf(facts)
  return [...urls].map((url) => ({ ...event, project, url, type }))
}

function eventOf({ identity, project, type, atMs, data }: EventFacts): Pick<WebhookEvent, 'id' | 'payload'> {
  const digest = createHash('sha256').update(JSON.stringify([type, project, identity]))
  const id = `evt_${digest.digest('hex').slice(0, ID_DIGITS)}`
  const payload = JSON.stringify({ id, object: 'event', created_at: seconds(atMs), type, data })
  return { id, payload }
}

/** 128 bits: no two events ever have the same. */
const ID_DIGITS = 32

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}

/** Image jobs, for their own list and for the requests that began them. Prompts are never among the answers. */
import { z } from 'zod'
import type { Player } from '#core/access/actor.ts'
import { assetIdOf, type ImageResult } from '#core/image/delivery.ts'
import { momentOf } from '#core/money/ledger.ts'
import type { ImageJobState } from '#ports/image-jobs.ts'
import { KIND_OF_ROUTE } from '#ports/request-reports.ts'
import { openedIfPossible, ownerOfResult } from '#stores/postgres/jobs/image-jobs.ts'
import { lowestIdAt } from '#core/money/id-range.ts'
import { time, usd } from './fields.ts'
import type { ControlNode } from './node.ts'
import { answersOf } from './rows.ts'
import { isoOf } from './times.ts'

export const imageJobStatus = z.enum(['queued', 'running', 'succeeded', 'failed', 'unknown'])

const jobStep = z.object({
  name: z.enum(['written', 'reserved', 'sent', 'delivered', 'kept', 'posted', 'ended', 'answered']),
  at: time,
})

export type JobStep = z.output<typeof jobStep>

export const imageJob = z
  .object({
    id: z.uuid(),
    status: imageJobStatus,
    kind: z.enum(['generation', 'edit']),
    project: z.string(),
    key: z.string(),
    model: z.string(),
    created_at: time,
    ended_at: time.nullable(),
    expires_at: time.nullable().describe('Its images are kept until then.'),
    duration_ms: z.number().nullable(),
    cost_usd: usd.nullable(),
    cost_in_files: z
      .boolean()
      .describe(
        'Its day of the ledger was dropped from the database, so `cost_usd` is null. `GET /requests/{id}` reads its cost from the files.',
      ),
    fault: z.string().nullable(),
    pictures: z.array(
      z.object({
        asset: z.string(),
        width: z.int(),
        height: z.int(),
        format: z.string(),
        bytes: z.int(),
      }),
    ),
    steps: z.array(jobStep),
    holders: z.array(z.object({ node: z.string(), from: time })),
  })
  .meta({ id: 'ReportedImageJob' })

type Job = z.output<typeof imageJob>
type Status = Job['status']

const STATUS_OF: Readonly<Record<ImageJobState, Status>> = {
  leased: 'queued',
  dispatched: 'running',
  settled: 'succeeded',
  failed: 'failed',
  unknown: 'unknown',
}
const STATUS = `CASE state ${Object.entries(STATUS_OF)
  .map(([state, status]) => `WHEN '${state}' THEN '${status}'`)
  .join(' ')} END`

const EDITS = [...KIND_OF_ROUTE].flatMap(([route, kind]) => (kind === 'edit' ? [`'${route}'`] : []))

/** Its cost comes from the ledger, which has it also when the caller had left. $1: how long images are kept. */
const JOBS = `
SELECT job_id AS id, ${STATUS} AS status,
  CASE WHEN requests.route IN (${EDITS.join(', ')}) THEN 'edit' ELSE 'generation' END AS kind,
  jobs.project, jobs.key_id AS key, jobs.model, created_at, ended_at,
  coalesce((
    SELECT coalesce(batches.ended_at, now()) + results_kept_ms * interval '1 ms' FROM batches
    WHERE batches.batch_id = jobs.batch_id
  ), created_at + $1::float8 * interval '1 ms') AS expires_at,
  (SELECT sum(amount_nano)::bigint FROM usage_events WHERE usage_events.request_id = job_id) AS cost_nano,
  coalesce((
    SELECT jsonb_agg(jsonb_build_object('node', coalesce(nodes.host, left(held.one->>'node', 8)), 'from', held.one->>'from')
      ORDER BY held.one->>'from')
    FROM jsonb_array_elements(jobs.holders) AS held (one) LEFT JOIN nodes ON nodes.node_id = (held.one->>'node')::uuid
  ), '[]') AS holders,
  answered_at, result_key, result_sealed
FROM image_jobs AS jobs LEFT JOIN requests ON requests.request_id = job_id`

const LIST = `${JOBS}
WHERE ($2::text[] IS NULL OR jobs.project = ANY ($2)) AND ($3::text IS NULL OR (player_kind = $3 AND player_name = $9))
  AND ($4::text IS NULL OR jobs.model = $4) AND ($5::text[] IS NULL OR state = ANY ($5))
  AND ($6::uuid IS NULL OR job_id < $6) AND job_id >= $7::uuid
ORDER BY job_id DESC LIMIT $8`

const FIND = `${JOBS} WHERE job_id = $2`

type Row = Omit<Job, 'duration_ms' | 'cost_in_files' | 'fault' | 'pictures' | 'steps'> & {
  readonly expires_at: string
  readonly answered_at: string | null
  readonly result_key: Buffer | null
  readonly result_sealed: Buffer | null
}

export interface JobFilter {
  /** Undefined: all. */
  readonly projects?: readonly string[] | undefined
  /** Only those of this actor's playground. */
  readonly player?: Player | undefined
  readonly model?: string | undefined
  readonly status?: Status | undefined
  /** Begun then or later. */
  readonly sinceMs?: number | undefined
  /** The id of the last job of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

export type JobNode = Pick<ControlNode, 'reports' | 'jobKeys' | 'limits' | 'lake'>

/** Newest first. */
export async function listImageJobs(node: JobNode, filter: JobFilter): Promise<Job[]> {
  const { projects, player, model, status, sinceMs = 0, after, limit } = filter
  const states = Object.keys(STATUS_OF) as ImageJobState[]
  const jobs = await answersOf<Row>(node.reports, LIST, [
    node.limits.assetRetentionMs,
    projects ?? null,
    player?.kind ?? null,
    model ?? null,
    status === undefined ? null : states.filter((state) => STATUS_OF[state] === status),
    after ?? null,
    lowestIdAt(sinceMs),
    limit,
    player?.name ?? null,
  ])
  return jobsOf(jobs, node)
}

/** `steps`: those of the request that began the job. */
export async function findImageJob(
  node: JobNode,
  id: string,
  steps: readonly JobStep[],
): Promise<Job | null> {
  const rows = await answersOf<Row>(node.reports, FIND, [node.limits.assetRetentionMs, id])
  const [job] = await jobsOf(rows, node, steps)
  return job ?? null
}

/** A day that is dropped meanwhile is one: what is kept is read after the rows. */
async function jobsOf(rows: readonly Row[], node: JobNode, steps?: readonly JobStep[]): Promise<Job[]> {
  const isCostMissing = rows.some(({ cost_usd: cost }) => cost === null)
  const keptFromMs = isCostMissing ? await node.lake.cold.keptFromMs() : undefined
  return rows.map((row) => ({
    ...jobOf(row, node, steps),
    cost_in_files: row.cost_usd === null && momentOf(row.id) < (keptFromMs ?? 0),
  }))
}

function jobOf(row: Row, { jobKeys }: JobNode, between: readonly JobStep[] = []): Omit<Job, 'cost_in_files'> {
  const { answered_at: answeredAt, result_key: key, result_sealed: sealed, ...job } = row
  const { id, status, created_at: createdAt, ended_at: endedAt } = job
  const text = openedIfPossible(key, sealed, ownerOfResult(id), jobKeys)
  const result =
    text === undefined ? undefined : (JSON.parse(text) as ImageResult & { readonly code?: unknown })
  const pictures = status === 'succeeded' && result !== undefined ? picturesIn(id, result) : []
  const hasFailed = status === 'failed' || status === 'unknown'
  const steps = [
    { name: 'written' as const, at: createdAt },
    ...between,
    ...(endedAt === null ? [] : [{ name: 'ended' as const, at: endedAt }]),
    ...(answeredAt === null ? [] : [{ name: 'answered' as const, at: answeredAt }]),
  ]
  return {
    ...job,
    expires_at: pictures.length === 0 ? null : job.expires_at,
    duration_ms: endedAt === null ? null : Math.max(0, Date.parse(endedAt) - Date.parse(createdAt)),
    fault: hasFailed && typeof result?.code === 'string' ? result.code : null,
    pictures,
    steps: steps.toSorted((a, b) => a.at.localeCompare(b.at)),
    holders: job.holders.map(({ node, from }) => ({ node, from: isoOf(Date.parse(from)) })),
  }
}

function picturesIn(jobId: string, { pictures, batchId }: ImageResult): Job['pictures'] {
  return pictures.map((picture) => {
    const { width, height } = picture
    const { format, bytes } = picture.converted ?? picture
    return { asset: assetIdOf(jobId, picture, batchId), width, height, format, bytes }
  })
}

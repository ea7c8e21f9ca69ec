/** An image job as JSON. Its prompt, and what the upstream made of it, are never among it. */
import type { z } from 'zod'
import { assetIdOf, type ImageResult } from '#core/image/delivery.ts'
import { decimalOf } from '#core/price.ts'
import type { ReportedJob } from '#ports/image-job-reports.ts'
import type { ImageJobState } from '#ports/image-jobs.ts'
import { KIND_OF_ROUTE, type RequestDetail } from '#ports/request-reports.ts'
import { isoOf, timeOf } from '../wire/times.ts'
import type { imageJob, jobStep } from './jobs-schemas.ts'

type JobBody = z.output<typeof imageJob>
type Step = z.output<typeof jobStep>

export const STATUS_OF: Readonly<Record<ImageJobState, JobBody['status']>> = {
  leased: 'queued',
  dispatched: 'running',
  settled: 'succeeded',
  failed: 'failed',
  unknown: 'unknown',
}

/** `request`: what the log has of the request that began it, for the steps in between. */
export function jobBody(
  job: ReportedJob,
  retentionMs: number,
  request?: Pick<RequestDetail, 'atMs' | 'moments' | 'attempts' | 'booked' | 'reservation'>,
): JobBody {
  const { createdAtMs, endedAtMs, state, keptUntilMs = createdAtMs + retentionMs } = job
  const pictures = state === 'settled' ? picturesIn(job) : []
  return {
    id: job.id,
    status: STATUS_OF[state],
    kind: job.route !== undefined && KIND_OF_ROUTE.get(job.route) === 'edit' ? 'edit' : 'generation',
    project: job.project,
    key: job.key,
    model: job.model,
    created_at: isoOf(createdAtMs),
    ended_at: timeOf(endedAtMs),
    expires_at: pictures.length === 0 ? null : isoOf(keptUntilMs),
    duration_ms: endedAtMs === undefined ? null : Math.max(0, endedAtMs - createdAtMs),
    cost_usd: job.costNanoUsd === undefined ? null : decimalOf(job.costNanoUsd),
    fault: state === 'failed' || state === 'unknown' ? faultIn(job) : null,
    pictures,
    steps: stepsOf(job, request),
    holders: job.holders.map(({ node, fromMs }) => ({ node, from: isoOf(fromMs) })),
  }
}

function picturesIn({ id, result }: ReportedJob): JobBody['pictures'] {
  if (result === undefined) return []
  const { pictures, batchId } = JSON.parse(result) as ImageResult
  return pictures.map((picture) => {
    const { format, bytes } = picture.converted ?? picture
    const asset = assetIdOf(id, picture, batchId)
    return { asset, width: picture.width, height: picture.height, format, bytes }
  })
}

function faultIn({ result }: ReportedJob): string | null {
  if (result === undefined) return null
  const { code } = JSON.parse(result) as { readonly code?: unknown }
  return typeof code === 'string' ? code : null
}

function stepsOf(
  { createdAtMs, endedAtMs, answeredAtMs }: ReportedJob,
  request: Parameters<typeof jobBody>[2],
): Step[] {
  const steps: Step[] = [{ name: 'written', at: isoOf(createdAtMs) }]
  const add = (name: Step['name'], ms: number | undefined): void => {
    if (ms !== undefined) steps.push({ name, at: isoOf(ms) })
  }
  if (request !== undefined) {
    const { atMs, moments, attempts, booked, reservation } = request
    const [first] = attempts
    const delivered = attempts.findLast(({ outcome }) => outcome === 'ok')
    if (reservation !== undefined) add('reserved', at(atMs, moments.admitted))
    add('sent', at(atMs, first?.startMs))
    add('delivered', delivered && at(atMs, delivered.startMs + delivered.durationMs))
    add('kept', at(atMs, moments.gathered))
    add('posted', booked.find(({ kind }) => kind === 'post')?.atMs)
  }
  add('ended', endedAtMs)
  add('answered', answeredAtMs)
  return steps.toSorted((a, b) => a.at.localeCompare(b.at))
}

function at(startMs: number, ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : startMs + ms
}

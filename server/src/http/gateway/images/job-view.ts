/** An image job as callers see it. */
import { asciiJson } from '#core/text/json-text.ts'
import {
  assetIdOf,
  originalIdOf,
  provenanceOfPicture,
  provenanceOfPictures,
  type ResultPicture,
} from '#core/image/delivery.ts'
import type { Limits } from '#core/settings.ts'
import type { ImageJob, ImageJobState } from '#ports/image-jobs.ts'
import { outcomeOf } from '#request/images/outcome.ts'
import { faultBody } from '../../faults.ts'
import { imageBody, type AnswerOutside } from './answer.ts'

interface JobViewOutside extends AnswerOutside {
  readonly limits: Limits
  readonly docsUrl: () => string
}

const STATUS: Readonly<Record<ImageJobState, string>> = {
  leased: 'queued',
  dispatched: 'running',
  settled: 'succeeded',
  failed: 'failed',
  unknown: 'unknown',
}

/** The JSON text of a job in ASCII, in parts: its result may contain images. */
export async function* jobView(
  job: ImageJob,
  outside: JobViewOutside,
  keptUntilMs = job.createdAtMs + outside.limits.assetRetentionMs,
): AsyncGenerator<string, undefined> {
  const fields = {
    id: job.id,
    object: 'image.job',
    status: STATUS[job.state],
    created_at: Math.floor(job.createdAtMs / 1000),
    expires_at: Math.floor(keptUntilMs / 1000),
    model: job.model,
  }
  let before = asciiJson(fields).slice(0, -1)
  const outcome = outcomeOf(job)
  if (outcome?.kind === 'made') {
    before += ',"result":'
    for await (const part of imageBody(outcome.result, { jobId: job.id, held: outcome.held }, outside)) {
      yield before + part
      before = ''
    }
    const { extra = [], pictures } = outcome.result
    if (extra.length > 0)
      before = `,"extra":${asciiJson(extra.map((place) => linkedAsset(job, place, outside)))}`
    const provenance = provenanceOfPictures(pictures)
    if (provenance !== undefined) before += `,"provenance":${asciiJson(provenance)}`
    const converted = pictures.filter((picture) => provenanceOfPicture(picture) === 'dropped')
    if (converted.length > 0)
      before += `,"originals":${asciiJson(converted.map((place) => linkedAsset(job, place, outside, originalIdOf)))}`
  } else if (outcome?.kind === 'fault') {
    const { error } = JSON.parse(faultBody(outcome.fault, job.id, outside.docsUrl())) as {
      error: unknown
    }
    before += `,"error":${asciiJson(error)}`
  }
  yield `${before}}`
  return undefined
}

/** An image beyond the requested ones, or an original: paid for, and kept as long as the others. */
function linkedAsset(
  { id: jobId, batchId }: ImageJob,
  place: Pick<ResultPicture, 'attempt' | 'index'>,
  { linkOf }: AnswerOutside,
  idOf = (assetId: string) => assetId,
): object {
  const id = idOf(assetIdOf(jobId, place, batchId))
  return { id, url: linkOf(id) }
}

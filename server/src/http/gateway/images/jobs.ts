/** `GET /v1/images/jobs/{id}`: the state of an image request, and its result. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Fault } from '#core/fault/fault.ts'
import type { ImageJob } from '#ports/image-jobs.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { storeFault } from '#request/images/run.ts'
import { noticeFor, type ImagesDependencies } from './images.ts'
import { drained, headerText, writeParts } from '../caller/writing.ts'
import { jobView } from './job-view.ts'
import { keyOf } from '../caller/key-of.ts'

const JOB_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export async function serveJob(
  request: IncomingMessage,
  response: ServerResponse,
  jobId: string,
  requestId: string,
  dependencies: ImagesDependencies,
): Promise<void> {
  const key = await keyOf(request, dependencies)
  const job = JOB_ID.test(jobId) ? await found(jobId, key.project, dependencies) : undefined
  if (job === undefined)
    throw new Fault('not_found', `There is no image job '${jobId.slice(0, 80)}' in project '${key.project}'.`)
  const body = jobView(job, dependencies, await keptUntilMs(job, dependencies))
  const first = await body.next()
  const ends = noticeFor(job.model, dependencies)
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': requestId,
    ...(ends !== undefined && { 'x-torana-model-ends': headerText(ends) }),
  })
  if (!response.write(first.value ?? '', 'latin1')) await drained(response)
  await writeParts(response, body)
  response.end()
}

/**
 * Images of a batch are kept as long as its results, which are kept for their time after its end; for a batch in progress, as if it
 * ended now. Undefined for other images.
 */
async function keptUntilMs(
  { batchId, project }: ImageJob,
  { forBatches, clock }: ImagesDependencies,
): Promise<number | undefined> {
  const batch = batchId === undefined ? undefined : await reached(forBatches.batches.find(batchId, project))
  return batch && (batch.endedAtMs ?? clock.nowMs()) + batch.resultsKeptMs
}

async function found(
  jobId: string,
  project: string,
  { jobs }: ImagesDependencies,
): Promise<ImageJob | undefined> {
  return reached(jobs.find(jobId, project))
}

async function reached<Result>(asked: Promise<Result>): Promise<Result> {
  try {
    return await asked
  } catch (error) {
    throw error instanceof StoreUnreachable ? storeFault(error) : error
  }
}

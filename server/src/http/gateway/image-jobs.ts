/** `GET /v1/images/jobs/{id}`: how far an image request is, and what it came to. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Fault } from '#core/fault.ts'
import type { ImageJob, ImageJobState } from '#ports/image-jobs.ts'
import { StoreAway } from '#ports/store.ts'
import { authenticate } from '#request/authenticate.ts'
import { outcomeOf } from '#request/image-outcome.ts'
import { storeFault } from '#request/image-run.ts'
import { faultBody } from '../faults.ts'
import type { ImagesDependencies } from './images.ts'
import { drained } from './embeddings-answer.ts'
import { imageBody } from './images-answer.ts'
import { presentedKey } from './presented-key.ts'

const STATUS: Readonly<Record<ImageJobState, string>> = {
  leased: 'queued',
  dispatched: 'running',
  settled: 'succeeded',
  failed: 'failed',
  unknown: 'unknown',
}

const JOB_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export async function serveJob(
  request: IncomingMessage,
  response: ServerResponse,
  jobId: string,
  requestId: string,
  dependencies: ImagesDependencies,
): Promise<void> {
  const key = await authenticate(presentedKey(request.headers), dependencies.keys, dependencies.clock)
  const job = JOB_ID.test(jobId) ? await found(jobId, key.project, dependencies) : undefined
  if (job === undefined)
    throw new Fault('not_found', `There is no image job '${jobId.slice(0, 80)}' in project '${key.project}'.`)
  const body = jobView(job, dependencies)
  const first = await body.next()
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': requestId,
  })
  response.write(first.value ?? '', 'latin1')
  for await (const piece of body) if (!response.write(piece, 'latin1')) await drained(response)
  response.end()
}

async function found(
  jobId: string,
  project: string,
  { jobs }: ImagesDependencies,
): Promise<ImageJob | undefined> {
  try {
    return await jobs.find(jobId, project)
  } catch (error) {
    throw error instanceof StoreAway ? storeFault(error) : error
  }
}

/** The JSON text of a job, in pieces: its result may hold pictures. */
export async function* jobView(
  job: ImageJob,
  dependencies: ImagesDependencies,
): AsyncGenerator<string, undefined> {
  const { assetRetentionMs } = dependencies.limits
  const fields = {
    id: job.id,
    object: 'image.job',
    status: STATUS[job.state],
    created_at: Math.floor(job.createdAtMs / 1000),
    expires_at: Math.floor((job.createdAtMs + assetRetentionMs) / 1000),
    model: job.model,
  }
  let before = JSON.stringify(fields).slice(0, -1)
  const outcome = outcomeOf(job)
  if (outcome?.kind === 'made') {
    before += ',"result":'
    for await (const piece of imageBody(
      outcome.result,
      { jobId: job.id, held: outcome.held },
      dependencies,
    )) {
      yield before + piece
      before = ''
    }
  } else if (outcome?.kind === 'fault') {
    const { error } = JSON.parse(faultBody(outcome.fault, job.id, dependencies.docsUrl())) as {
      error: unknown
    }
    before += `,"error":${JSON.stringify(error)}`
  }
  yield `${before}}`
  return undefined
}

/** `/v1/batches`: the requests of a file, run in the background. */
import { isEdits, isOfPictures, readBatchRequest, type BatchRequest } from '#core/batch/request.ts'
import { Fault } from '#core/fault/fault.ts'
import type { KeyScope } from '#core/catalog/key-bounds.ts'
import { TAGS_HEADER, tagsInHeader } from '#core/request/labels.ts'
import type { Limits } from '#core/settings.ts'
import type { Batch } from '#ports/batches.ts'
import type { LargeJson } from '#ports/json.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { createBatch, type CreateDependencies } from '#request/batches/create.ts'
import { writeFault } from '../caller/caller.ts'
import { countFirst } from '../caller/count-request.ts'
import { handlerOf, type ListenerDependencies, type RequestHandler } from '../caller/journey.ts'
import { checkScope } from '../caller/key-bounds.ts'
import { checkTexts } from '../../gate/texts.ts'
import { gatewayBounds } from '../../gate/bounds.ts'
import { refuseEncoded } from '../../gate/encoding.ts'
import { parseBody } from '../../gate/parse-json.ts'
import { readBody, type ReadingBodyOutside } from '../caller/read-body.ts'
import { repetitionIn } from '../caller/repetition.ts'
import { idIn, type KnownRequest } from '../caller/served.ts'
import { writeJson } from '../caller/writing.ts'
import { batchView } from './view.ts'

export interface BatchesDependencies extends ListenerDependencies, ReadingBodyOutside {
  readonly json: LargeJson
  readonly limits: Limits
  /** Dependencies of batches. Grouped, because other routes use the same names for theirs. */
  readonly forBatches: CreateDependencies
}

export function createBatchHandler(dependencies: BatchesDependencies): RequestHandler {
  const { docsUrl, json, limits, forBatches } = dependencies
  const bodyLimit = gatewayBounds(limits)['POST /batches'].json
  return handlerOf<Buffer<ArrayBuffer>, BatchRequest, Batch>(
    {
      route: 'batches',
      scope: undefined,
      async receive(journey, key) {
        refuseEncoded(journey.request)
        // It creates something that is stored, even when its body is here already.
        await countFirst(journey, key, dependencies.limiter)
        return readBody(journey, key, bodyLimit, dependencies)
      },
      async read(body, { request: { headers } }, key) {
        const asker = { project: key.project, timeoutMs: limits.requestTimeoutMs }
        const { value } = await parseBody(body, json, asker)
        checkTexts(value)
        const asked = { ...readBatchRequest(value), tags: tagsInHeader(headers[TAGS_HEADER]) }
        checkScope(key, scopeOf(asked))
        return asked
      },
      run: (asked, key, { request }) =>
        reached(createBatch(asked, { key, ...repetitionIn(request) }, forBatches)),
      write(batch, _asked, { response, requestId }) {
        writeJson(response, batchView(batch), requestId)
        return undefined
      },
      fail(fault, _asked, { response, requestId, trace }) {
        trace.bytesOut = writeFault(response, fault, requestId, docsUrl())
        return undefined
      },
      fillRecord() {},
    },
    dependencies,
  )
}

export function scopeOf({ endpoint }: BatchRequest): KeyScope {
  if (!isOfPictures(endpoint)) return 'embeddings'
  return isEdits(endpoint) ? 'edits' : 'images'
}

/** A batch as it is, or as it is after its cancellation. */
export async function batchAnswer(
  { request, key: { project } }: KnownRequest,
  does: 'find' | 'cancel',
  { forBatches }: BatchesDependencies,
): Promise<object> {
  const id = idIn(request)
  return batchView((await reached(forBatches.batches[does](id, project))) ?? missing(id, project))
}

/** OpenAI's own bounds. */
const PAGE = { usual: 20, max: 100 }

export async function batchesAnswer(
  { request, key: { project } }: KnownRequest,
  { forBatches }: BatchesDependencies,
): Promise<object> {
  const { searchParams: query } = new URL(request.url, 'http://gateway')
  const limit = limitIn(query.get('limit'))
  const after = query.get('after') ?? undefined
  // One more than requested shows whether there are more.
  const found = await reached(forBatches.batches.list(project, { after, limit: limit + 1 }))
  if (found === undefined) return missing(after ?? '', project)
  const page = found.slice(0, limit)
  return {
    object: 'list',
    data: page.map(batchView),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: found.length > limit,
  }
}

function limitIn(text: string | null): number {
  if (text === null) return PAGE.usual
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE.max) return limit
  throw new Fault('invalid_parameter', `limit must be a whole number from 1 to ${PAGE.max}.`, {
    param: 'limit',
  })
}

function missing(id: string, project: string): never {
  throw new Fault('not_found', `There is no batch '${id.slice(0, 80)}' in project '${project}'.`)
}

async function reached<Result>(asked: Promise<Result>): Promise<Result> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof StoreUnreachable)) throw error
    throw new Fault('store_unreachable', 'Batches cannot be looked up or changed at the moment. Retry.', {
      cause: error,
    })
  }
}

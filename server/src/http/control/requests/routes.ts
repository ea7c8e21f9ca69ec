/** Routes of the request log: its rows, how many there are over time, and one request with its calls and its money. */
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import { nanoUsdOf } from '#core/price.ts'
import { UnreadableCursor, type RequestFilter, type RequestReports } from '#ports/request-reports.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { callerIn, checkSeen, visibleProjects, type Caller } from '../access/caller.ts'
import type { ImageJobsDependencies } from '../images/jobs.ts'
import { jobBody } from '../images/job-shapes.ts'
import { invalidField, notFound } from '../wire/faults.ts'
import type { Api } from '../wire/route.ts'
import {
  forgottenRequest,
  histogram,
  histogramQuery,
  requestDetail,
  requestList,
  requestPage,
  requestPath,
  type requestFilters,
} from './schemas.ts'
import { detailBody, forgottenBody, histogramBody, replayReason, rowBody } from './shapes.ts'

export interface RequestsDependencies {
  readonly reports: RequestReports
  readonly jobs: ImageJobsDependencies
  readonly nowMs: () => number
}

export function registerRequests(api: Api, { reports, jobs, nowMs }: RequestsDependencies): void {
  api.get('/requests', {
    config: { permission: 'requests.read' },
    schema: {
      operationId: 'listRequests',
      summary: 'What became of each request, newest first unless sorted otherwise',
      description:
        'A page may hold fewer rows than `limit`, or none, and still have a `next`: one page looks at 250,000 requests at most.',
      querystring: requestPage,
      response: { 200: requestList, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request) => {
      const { sort, limit, after } = request.query
      const filter = filterOf(request.query, callerIn(request), nowMs())
      const { rows, next } = await reports.list(filter, { sort, limit, after }).catch(refuseCursor)
      return { data: rows.map(rowBody), has_more: next !== undefined, next: next ?? null }
    },
  })

  api.get('/requests/histogram', {
    config: { permission: 'requests.read' },
    schema: {
      operationId: 'requestHistogram',
      summary: 'How many requests ended how, over time',
      querystring: histogramQuery,
      response: { 200: histogram, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request) => {
      const { slots, facets } = request.query
      const filter = filterOf(request.query, callerIn(request), nowMs())
      return histogramBody(await reports.histogram(filter, { slots, facets }))
    },
  })

  api.get('/requests/:id', {
    config: { permission: 'requests.read' },
    schema: {
      operationId: 'getRequest',
      summary:
        'One request: its steps, its calls, its money line by line. When its log was deleted: its rows in the ledger',
      params: requestPath,
      response: { 200: z.union([requestDetail, forgottenRequest]), ...faultAnswers([401, 404, 503]) },
    },
    handler: async (request) => {
      const found = await seen(request.params.id, callerIn(request), reports)
      if (!('status' in found)) return forgottenBody(found)
      const job = found.kind === 'embedding' ? undefined : await jobs.reports.find(found.id)
      return detailBody(found, job ? jobBody(job, jobs.retentionMs, found) : null)
    },
  })

  api.post('/requests/:id/replay', {
    config: { permission: 'playground.run' },
    schema: {
      operationId: 'replayRequest',
      summary: 'Send a request again. It is refused as long as inputs are not kept, which they are not',
      params: requestPath,
      response: { ...faultAnswers([401, 403, 404, 409, 503]) },
    },
    handler: async (request) => {
      const { project } = await seen(request.params.id, callerIn(request), reports)
      throw new Fault('conflict', `${replayReason(project)}: there is nothing that could be sent again.`)
    },
  })
}

async function seen(id: string, caller: Caller, reports: RequestReports) {
  const found = await reports.find(id)
  if (found === undefined) throw notFound(`There is no request ${id}.`)
  checkSeen(caller, found.project, `request ${id}`)
  return found
}

const DEFAULT_RANGE_MS = 3_600_000

type Filters = z.output<typeof requestFilters>

/** Of a caller that sees named projects, a filter never leaves them. */
export function filterOf(given: Filters, caller: Caller, nowMs: number): RequestFilter {
  const toMs = given.to === undefined ? nowMs : Date.parse(given.to)
  const fromMs = given.from === undefined ? toMs - DEFAULT_RANGE_MS : Date.parse(given.from)
  if (fromMs >= toMs) throw invalidField('from is not before to.', 'from')
  return {
    fromMs,
    toMs,
    projects: visibleProjects(caller, given.project),
    keys: given.key,
    models: given.model,
    deployment: given.deployment,
    kinds: given.kind,
    source: given.source,
    outcomes: given.outcome,
    status: given.status,
    faults: given.fault,
    slowerMs: given.slower_ms,
    dearerNanoUsd: given.dearer_usd === undefined ? undefined : nanoUsdOf(given.dearer_usd),
    tries: given.tries,
    client: given.client,
    user: given.user,
    tags: tagsOf(given.tag),
  }
}

function tagsOf(given: Filters['tag']): RequestFilter['tags'] {
  if (given === undefined) return undefined
  const pairs = given.map((tag): [string, string] => {
    const end = tag.indexOf(':')
    return [tag.slice(0, end), tag.slice(end + 1)]
  })
  const twice = pairs.find(([key], index) => pairs.findIndex(([other]) => other === key) !== index)
  if (twice !== undefined)
    throw invalidField(`tag asks for two values of ${twice[0]}; a request has one.`, 'tag')
  return Object.fromEntries(pairs)
}

function refuseCursor(error: unknown): never {
  if (!(error instanceof UnreadableCursor)) throw error
  throw invalidField(
    'after is not a cursor of this list. Take `next` of the page before, with the same sort.',
    'after',
  )
}

/** The request log: its rows, how many there are over time, and one request with its calls and its money. */
import { z } from 'zod'
import { nanoUsdOf } from '#core/money/price.ts'
import { callerIn, checkSeen, visibleProjects, type Caller } from '../shared/caller.ts'
import { invalidField, notFound } from '../shared/faults.ts'
import { findImageJob, type JobNode } from '../shared/image-job-queries.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { findRequest, forgottenRequest, requestDetail } from './detail-queries.ts'
import { requestFilters, type GivenFilter, type RequestFilter } from './filter-queries.ts'
import { histogram, requestHistogram } from './histogram-queries.ts'
import { listRequests, requestList } from './queries.ts'
import { detailOf, jobStepsOf } from './rules.ts'

/** Rows of one page. */
const MAX_ROWS = 200
/** Columns of a histogram: more than a screen can show apart. */
const MAX_SLOTS = 240

const requestPage = z.strictObject({
  ...requestFilters.shape,
  sort: z.enum(['-at', '-duration', '-cost']).default('-at'),
  limit: z.coerce.number().int().min(1).max(MAX_ROWS).default(50),
  after: z.string().max(200).optional(),
})

const histogramQuery = z.strictObject({
  ...requestFilters.shape,
  slots: z.coerce.number().int().min(1).max(MAX_SLOTS).default(120),
  facets: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
})

const requestPath = z.object({ id: z.uuid() })

export function registerRequests(api: Api, node: JobNode & Pick<ControlNode, 'clock'>): void {
  const { reports, clock, lake } = node
  const seen = async (id: string, caller: Caller) => {
    const found = await findRequest(reports, lake.cold, id)
    if (found === undefined) throw notFound(`There is no request ${id}.`)
    checkSeen(caller, found.project ?? undefined, `request ${id}`)
    return found
  }

  route(api, 'GET /requests', {
    permission: 'requests.read',
    id: 'listRequests',
    summary: 'What became of each request, newest first unless sorted otherwise',
    description:
      'A page may hold fewer rows than `limit`, or none, and still have a `next`: one page looks at 250,000 requests at most.',
    query: requestPage,
    answer: requestList,
    handler: async (request) => {
      const filter = filterOf(request.query, callerIn(request), clock.nowMs())
      return await listRequests(reports, filter, request.query)
    },
  })

  route(api, 'GET /requests/histogram', {
    permission: 'requests.read',
    id: 'requestHistogram',
    summary: 'How many requests ended how, over time',
    query: histogramQuery,
    answer: histogram,
    handler: async (request) => {
      const filter = filterOf(request.query, callerIn(request), clock.nowMs())
      return await requestHistogram(reports, filter, request.query)
    },
  })

  route(api, 'GET /requests/:id', {
    permission: 'requests.read',
    id: 'getRequest',
    summary:
      'One request: its steps, its calls and its cost lines. When its log was deleted: its rows in the ledger',
    params: requestPath,
    answer: z.union([requestDetail, forgottenRequest]),
    handler: async (request) => {
      const found = await seen(request.params.id, callerIn(request))
      if ('log' in found) return found
      const { kind, id } = found.row
      const job = kind === 'embedding' ? null : await findImageJob(node, id, jobStepsOf(found))
      return detailOf(found, job)
    },
  })
}

const DEFAULT_RANGE_MS = 3_600_000

/** For a caller that sees named projects, a filter never reaches beyond them. */
export function filterOf(given: GivenFilter, caller: Caller, nowMs: number): RequestFilter {
  const { from, to, project, tag, dearer_usd: dearerUsd, ...others } = given
  const toMs = to === undefined ? nowMs : Date.parse(to)
  const fromMs = from === undefined ? toMs - DEFAULT_RANGE_MS : Date.parse(from)
  if (fromMs >= toMs) throw invalidField('from is not before to.', 'from')
  return {
    ...others,
    fromMs,
    toMs,
    projects: visibleProjects(caller, project),
    dearerNanoUsd: dearerUsd === undefined ? undefined : nanoUsdOf(dearerUsd),
    tags: tagsOf(tag),
  }
}

function tagsOf(given: GivenFilter['tag']): RequestFilter['tags'] {
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

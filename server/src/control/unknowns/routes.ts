/** Calls with an unknown outcome: listed, summed up and resolved. */
import { z } from 'zod'
import { momentOf } from '#core/money/ledger.ts'
import { nanoUsdOf } from '#core/money/price.ts'
import { actorIn, callerIn, checkSeen, visibleProjects } from '../shared/caller.ts'
import { invalidField, notFound } from '../shared/faults.ts'
import { cursor, givenUsd, pageLimit, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { cursorPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import { isoOf } from '../shared/times.ts'
import { listUnknowns, projectOfUnknown, summaryOfUnknowns, unknown, unknownSummary } from './queries.ts'

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const uuid = z.string().regex(new RegExp(`^${UUID}$`), 'expected a UUID')
const NAME_CHARACTERS = 200
/** Length of a note: a sentence or two for readers of the audit. */
const NOTE_CHARACTERS = 500

const unknownPage = z.object({
  state: z
    .enum(['open', 'resolved'])
    .default('open')
    .describe('Open ones come oldest first, resolved ones of 30 days newest first.'),
  project: storable(NAME_CHARACTERS).optional(),
  after: z
    .string()
    .regex(new RegExp(`^${UUID}/\\d{1,4}$`), 'expected <request id>/<attempt>')
    .optional()
    .describe('`next` of the previous page.'),
  limit: pageLimit,
})

const unknownList = z
  .object({
    data: z.array(unknown),
    has_more: z.boolean(),
    next: cursor,
    summary: unknownSummary,
  })
  .meta({ id: 'UnknownList' })

const unknownPath = z.object({ request_id: uuid, attempt: z.coerce.number().int().min(0).max(32_767) })

const resolution = z
  .strictObject({
    action: z.enum(['post', 'void']).describe('`post`: the call was paid. `void`: it was not.'),
    cost_usd: givenUsd.optional().describe('What it cost. Default: the reserved amount. Only for `post`.'),
    tokens: z.int().min(0).optional().describe('Only for `post`.'),
    note: storable(NOTE_CHARACTERS)
      .trim()
      .min(1)
      .optional()
      .describe('Why you think so. The audit log shows it. People must give one; programs may.'),
  })
  .refine(({ action, cost_usd: cost, tokens }) => action === 'post' || (cost ?? tokens) === undefined, {
    message: 'a call that was not paid has no cost and no tokens: leave cost_usd and tokens out',
    path: ['action'],
  })
  .meta({
    id: 'Resolution',
    examples: [{ action: 'post', cost_usd: '0.03', note: 'on the invoice of November' }],
  })

const resolved = z
  .object({ request_id: z.string(), attempt: z.int(), action: z.enum(['post', 'void']) })
  .meta({ id: 'Resolved' })

export function registerUnknowns(
  api: Api,
  { reports, ledger, clock }: Pick<ControlNode, 'reports' | 'ledger' | 'clock'>,
): void {
  route(api, 'GET /unknowns', {
    permission: 'unknowns.read',
    id: 'listUnknowns',
    summary: 'Calls that may or may not have been charged, and those that were resolved',
    query: unknownPage,
    answer: unknownList,
    handler: async (request) => {
      const { state, project, after, limit } = request.query
      const projects = visibleProjects(callerIn(request), project)
      const nowMs = clock.nowMs()
      const [calls, summary] = await Promise.all([
        listUnknowns(reports, { state, projects, limit: limit + 1, after }, nowMs),
        summaryOfUnknowns(reports, projects, nowMs),
      ])
      return {
        ...cursorPage(calls, limit, {
          bodyOf: (call) => ({ ...call, requested_at: isoOf(momentOf(call.request_id)) }),
          cursorOf: (call) => `${call.request_id}/${call.attempt}`,
        }),
        summary,
      }
    },
  })

  route(api, 'POST /unknowns/:request_id/:attempt', {
    permission: 'unknowns.resolve',
    id: 'resolveUnknown',
    summary: 'Resolve a call with an unknown outcome: it was paid, or it was not',
    params: unknownPath,
    body: resolution,
    answer: resolved,
    faults: [409],
    handler: async (request) => {
      const { request_id: requestId, attempt } = request.params
      const { action, cost_usd: costUsd, tokens, note } = request.body
      const caller = callerIn(request)
      if (caller.member !== undefined && note === undefined)
        throw invalidField(
          'note: give your evidence. It is recorded in the audit log under your name.',
          'note',
        )
      if (caller.projects !== null) {
        const project = await projectOfUnknown(reports, requestId, attempt)
        checkSeen(caller, project, `open unknown ${requestId}/${attempt}`)
      }
      const isDone = await ledger.resolveUnknown({
        requestId,
        attempt,
        kind: action,
        costNanoUsd: costUsd === undefined ? undefined : nanoUsdOf(costUsd),
        tokens,
        note,
        actor: actorIn(request),
      })
      if (!isDone)
        throw notFound(
          `There is no open unknown ${requestId}/${attempt}: it does not exist, or it is already resolved.`,
        )
      return { request_id: requestId, attempt, action }
    },
  })
}

/** Routes about calls of which nobody knows whether they were paid. */
import type { z } from 'zod'
import { momentOf } from '#core/ledger.ts'
import { decimalOf, nanoUsdOf } from '#core/price.ts'
import type { LedgerStore } from '#ports/ledger.ts'
import type { UnknownCall, UnknownReader } from '#ports/unknown-report.ts'
import { UNKNOWN_POSTED_AFTER_MS } from '#ports/upkeep.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { actorIn, callerIn, checkSeen, visibleProjects } from '../access/caller.ts'
import { invalidField, notFound } from '../wire/faults.ts'
import { cursorPage } from '../wire/page.ts'
import type { Api } from '../wire/route.ts'
import { isoOf } from '../wire/times.ts'
import { resolution, resolved, unknownList, unknownPage, unknownPath, type unknown } from './schemas.ts'

export interface UnknownDependencies {
  readonly unknowns: UnknownReader
  readonly ledger: Pick<LedgerStore, 'resolveUnknown'>
}

export function registerUnknowns(api: Api, { unknowns, ledger }: UnknownDependencies): void {
  api.get('/unknowns', {
    config: { permission: 'unknowns.read' },
    schema: {
      operationId: 'listUnknowns',
      summary: 'Calls of which nobody knows whether they were paid, and those that were resolved',
      querystring: unknownPage,
      response: { 200: unknownList, ...faultAnswers([400, 401, 503]) },
    },
    handler: async (request) => {
      const { state, project, after, limit } = request.query
      const projects = visibleProjects(callerIn(request), project)
      const [requestId = '', attempt = ''] = after?.split('/') ?? []
      const last = after === undefined ? undefined : { requestId, attempt: Number(attempt) }
      const [calls, summary] = await Promise.all([
        unknowns.list({ state, projects, limit: limit + 1, after: last }),
        unknowns.summary(projects),
      ])
      return {
        ...cursorPage(calls, limit, {
          bodyOf: unknownBody,
          cursorOf: (call) => `${call.requestId}/${call.attempt}`,
        }),
        summary: {
          open: summary.open,
          reserved_usd: decimalOf(summary.openNanoUsd),
          resolved: summary.resolved,
        },
      }
    },
  })

  api.post('/unknowns/:request_id/:attempt', {
    config: { permission: 'unknowns.resolve' },
    schema: {
      operationId: 'resolveUnknown',
      summary: 'Resolve a call with an unknown outcome: it was paid, or it was not',
      params: unknownPath,
      body: resolution,
      response: { 200: resolved, ...faultAnswers([400, 401, 404, 409, 503]) },
    },
    handler: async (request) => {
      const { request_id: requestId, attempt } = request.params
      const { action, cost_usd: costUsd, tokens, note } = request.body
      const caller = callerIn(request)
      if (caller.member !== undefined && note === undefined)
        throw invalidField('note: say why you think so. It stands in the audit beside your name.', 'note')
      if (caller.projects !== null) {
        const project = await unknowns.projectOf(requestId, attempt)
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

function unknownBody(call: UnknownCall): z.output<typeof unknown> {
  const { reservedNanoUsd, writtenAtMs, remarks, resolved: how } = call
  return {
    request_id: call.requestId,
    attempt: call.attempt,
    call_id: call.callId,
    project: call.project,
    key_id: call.keyId,
    model: call.model,
    deployment: call.deployment,
    images: call.images,
    what: remarks?.what ?? null,
    reason: reasonOf(call),
    node: call.node,
    reserved_usd: usdOrNull(reservedNanoUsd),
    requested_at: isoOf(momentOf(call.requestId)),
    written_at: isoOf(writtenAtMs),
    posted_at: isoOf(writtenAtMs + UNKNOWN_POSTED_AFTER_MS),
    resolved: how
      ? {
          action: how.kind,
          by: how.by,
          at: isoOf(how.atMs),
          note: how.reason ?? null,
          cost_usd: usdOrNull(how.costNanoUsd),
        }
      : null,
  }
}

function reasonOf({ remarks, isOrphan, node }: UnknownCall): string {
  if (remarks?.reason !== undefined) return remarks.reason
  return isOrphan ? `${node} stopped before the call ended` : 'the call ended without a record'
}

function usdOrNull(nanoUsd: bigint | undefined): string | null {
  return nanoUsd === undefined ? null : decimalOf(nanoUsd)
}

/** Sends a captured request again, under a key of the member who asks and at the cost of the project that sent it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { momentOf } from '#core/money/ledger.ts'
import type { GatewayHandlers } from '#http/gateway/handlers.ts'
import { CAPTURED_MS, type CapturedInput } from '#ports/captures.ts'
import { KIND_OF_ROUTE, type RequestKind } from '#ports/request-reports.ts'
import { callerIn, playerOf, type Caller } from '../shared/caller.ts'
import { conflict, notFound } from '../shared/faults.ts'
import { callInside, type InnerAnswer } from '../shared/inner-call.ts'
import type { ControlNode } from '../shared/node.ts'
import { playerKey, type PlayersNode } from '../shared/players.ts'
import { route, type Api } from '../shared/route.ts'
import { isoOf } from '../shared/times.ts'
import type { forgottenRequest, LoggedRequest } from './detail-queries.ts'
import { costOf, refusalIn, replayOf, replayPreview, sendsOf } from './replay-rules.ts'

export type ReplayNode = PlayersNode & Pick<ControlNode, 'captures' | 'capturesInputs' | 'clock' | 'handlers'>

type Found = LoggedRequest | z.output<typeof forgottenRequest>
/** The request, if the caller may see it. */
type Seen = (id: string, caller: Caller) => Promise<Found>

const HANDLER_OF: Readonly<Record<RequestKind, keyof GatewayHandlers>> = {
  embedding: 'embeddings',
  generation: 'generations',
  edit: 'edits',
}

const requestPath = z.object({ id: z.uuid() })

const sentAgain = z
  .object({
    id: z.uuid().describe('The new request. Its own page has its steps, calls and cost.'),
    status: z.int(),
    fault: z.string().nullable().describe('The code of its error.'),
  })
  .meta({ id: 'SentAgain' })

/** Whether a request can be sent again, as its page says it. */
export async function replayOfLogged(
  { row, trace }: Pick<LoggedRequest, 'row' | 'trace'>,
  node: Pick<ReplayNode, 'captures' | 'capturesInputs' | 'clock'>,
) {
  const { id, project, source } = row
  const captures = project !== null && node.capturesInputs(project)
  const captured = captures ? await node.captures.find(id) : undefined
  const ageMs = node.clock.nowMs() - momentOf(id)
  const isCaptured = captured !== undefined
  return {
    ...replayOf({ project, source, ageMs, bytes: trace.bytesIn, isCaptured, captures }),
    capturedAtMs: captured?.capturedAtMs,
  }
}

export function registerReplay(api: Api, node: ReplayNode, seen: Seen): void {
  const found = async (id: string, caller: Caller): Promise<LoggedRequest> => {
    const request = await seen(id, caller)
    if ('log' in request) throw conflict('The log of this request was deleted, and its input before it.')
    return request
  }

  route(api, 'GET /requests/:id/replay', {
    permission: 'playground.run',
    id: 'previewReplay',
    summary: 'What sending a request again would send and cost at most, or why it is not possible',
    description: 'The cost is that of a dry run: no call to an upstream is made.',
    params: requestPath,
    answer: replayPreview,
    faults: [409],
    handler: async (request, reply) => {
      const caller = callerIn(request)
      const logged = await found(request.params.id, caller)
      const { capturedAtMs, ...replay } = await replayOfLogged(logged, node)
      const { project, id } = logged.row
      const input = replay.possible ? await node.captures.open(id) : undefined
      const nothing = { ...replay, project, expires_at: null, sends: null, cost: null, refusal: null }
      if (input === undefined || capturedAtMs === undefined) return nothing
      const { status, body } = await sent(input, logged, { request, reply, node, isDryRun: true })
      return {
        ...nothing,
        expires_at: isoOf(capturedAtMs + CAPTURED_MS),
        sends: sendsOf(input),
        ...costOf(status, body),
      }
    },
  })

  route(api, 'POST /requests/:id/replay', {
    permission: 'playground.run',
    id: 'replayRequest',
    summary: 'Send a request again. Its project pays; rights, limits and budgets are those of the playground',
    params: requestPath,
    answers: { 201: sentAgain },
    faults: [409],
    handler: async (request, reply) => {
      const logged = await found(request.params.id, callerIn(request))
      const replay = await replayOfLogged(logged, node)
      if (!replay.possible) throw conflict(replay.text ?? 'It can not be sent again.')
      const input = await node.captures.open(logged.row.id)
      if (input === undefined) throw conflict('Its input was deleted meanwhile.')
      const { status, requestId: id, body } = await sent(input, logged, { request, reply, node })
      const fault = status < 400 ? null : refusalIn(status, body).code
      return reply.code(201).send({ id, status, fault })
    },
  })
}

interface Sending {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly node: ReplayNode
  readonly isDryRun?: boolean
}

/** A search for the id of the first request finds all that were sent again. */
async function sent(
  { headers, body, path, route: name }: CapturedInput,
  { row, project }: LoggedRequest,
  { request, reply, node, isDryRun = false }: Sending,
): Promise<InnerAnswer> {
  const kind = KIND_OF_ROUTE.get(name)
  const caller = callerIn(request)
  const { address } = caller
  const key = project === null ? undefined : await playerKey(playerOf(caller), project, node)
  if (key === undefined || kind === undefined) throw notFound(`There is no project ${project ?? ''}.`)
  const left = new AbortController()
  const leave = (): void => left.abort()
  reply.raw.once('close', leave)
  try {
    return await callInside(node.handlers[HANDLER_OF[kind]], {
      headers: {
        ...headers,
        'x-client-request-id': `replay-of-${row.id}`,
        ...(isDryRun && { 'x-torana-dry-run': 'true' }),
      },
      body,
      path,
      key,
      address,
      signal: left.signal,
    })
  } finally {
    reply.raw.off('close', leave)
  }
}

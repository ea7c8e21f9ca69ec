/** Callers of the control API read the store in turn, so that no number of reports of one keeps the pages of another waiting. */
import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { FairShare, type Holding } from '#core/schedule/fair-share.ts'
import { CALLER, type Caller } from './caller.ts'
import { tooManyReads } from './faults.ts'

/** Handlers that read at the same time: twice the connections for reports, one of which each of them mostly waits for. */
const READERS = 4
/** One caller has at most as many as stay free: two of four. */
const HEADROOM = 1
/** A page asks for a dozen parts; a script that asks for more at a time is informed to slow down. */
const MAX_WAITING = 100
/** Long enough for a page of slow reports, shorter than readers wait. */
const MAX_WAIT_MS = 10_000

const TURN = 'readingTurn'

export function readInTurn(scope: FastifyInstance): void {
  const readers = new FairShare({ capacity: READERS, headroom: HEADROOM, maxWaiting: MAX_WAITING })
  scope.decorateRequest(TURN, null)
  scope.addHook('preHandler', async (request) => {
    const caller = request.getDecorator<Caller | null>(CALLER)
    if (caller === null || request.routeOptions.config.takesTurn !== true) return
    const late = new AbortController()
    const turn = await readers.takeBefore(caller.actor, 1, () =>
      setTimeout(MAX_WAIT_MS, undefined, { ref: false, signal: late.signal }).catch(
        () => new Promise(() => {}),
      ),
    )
    late.abort()
    if (turn === undefined) throw tooManyReads()
    request.setDecorator(TURN, turn)
  })
  // The answer is there, or its client has left before it was.
  scope.addHook('onSend', async (request) => endTurn(request))
  scope.addHook('onResponse', async (request) => endTurn(request))
}

/** A stream has slots of its own, and may be read for hours. */
export function endTurn(request: Pick<FastifyRequest, 'getDecorator'>): void {
  request.getDecorator<Holding | null>(TURN)?.[Symbol.dispose]()
}

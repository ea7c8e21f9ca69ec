/**
 * One request at the listener, in order: the key, the request, the work, the answer, and the record. The order is the same for
 * embeddings, image generations and image edits; each room has its own steps.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { PathModel } from '#core/request/path-model.ts'
import type { Fault } from '#core/fault/fault.ts'
import type { KeyScope } from '#core/catalog/key-bounds.ts'
import type { Identifiers } from '#ports/clock.ts'
import type { Key } from '#ports/keys.ts'
import { RequestTrace } from '#core/request/request-trace.ts'
import type { TraceContext } from '#core/request/trace-context.ts'
import type { Observer } from '#ports/observer.ts'
import type { RateLimiter } from '#ports/limiter.ts'
import type { TakenRates } from '#request/money/rates.ts'
import { recordOf, type OpenRecord } from '#request/request-record.ts'
import { callerLeft } from '#request/traffic/caller.ts'
import { toFault } from '../../faults.ts'
import { clientRequestId, isDryRun } from './caller.ts'
import { countFirst, countRefused } from './count-request.ts'
import { checkScope, type CallsAtOnce } from './key-bounds.ts'
import { keyOf, type KeysOutside } from './key-of.ts'
import { isUnread } from '../../gate/unread.ts'

/** Reads the request and writes its answer, without the framework in between. It never rejects for a caller's mistake. */
export type RequestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  path?: PathModel,
  /** The caller, where it is known without a secret: a member at the playground. */
  known?: Key,
) => Promise<void>

export interface ListenerDependencies extends KeysOutside {
  readonly identifiers: Identifiers
  readonly observer: Observer
  readonly limiter: RateLimiter
  readonly callsAtOnce: CallsAtOnce
  /** Whether answers carry `server-timing`. */
  readonly serverTiming?: boolean | undefined
  /** Undefined when traces are off. */
  readonly traceContextOf?: ((headers: IncomingHttpHeaders, requestId: string) => TraceContext) | undefined
  /** Base address of the error pages. */
  readonly docsUrl: () => string
}

/** What is known of a request before its body is read. */
export interface Journey {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: PathModel | undefined
  readonly route: string
  readonly requestId: string
  readonly trace: RequestTrace
  /** Memory that the body takes; given back at the end of the request, unless that was done before. */
  room: Disposable | undefined
  /** Media of the request on this node's disk, deleted at the end of the request. Undefined for nearly all. */
  media: AsyncDisposable | undefined
  /** Set once the request was counted: because its body had not arrived yet, or because it is a dry run. */
  counted: TakenRates | undefined
  /** The request may be answered by an earlier job, to which no rate limit applies. So it is not counted first. */
  mayJoin: boolean
}

/** The steps in which one kind of request differs from the others, in order. */
interface Room<Body, Asked, Outcome> {
  /** The kind of request in logs and metrics. */
  readonly route: string
  /** The scope that a key must have. Undefined where it depends on the body: then `read` checks it. */
  readonly scope: KeyScope | undefined
  /** Runs before anything else. Embeddings have none: their requests take less time than a turn of the event loop. */
  readonly turn?: () => Promise<unknown>
  /** Refuses what the headers alone rule out, and reads the body. */
  receive(journey: Journey, key: Key): Promise<Body>
  /** Parses the body. A promise only where that takes long. */
  read(body: Body, journey: Journey, key: Key): Asked | Promise<Asked>
  run(asked: Asked, key: Key, journey: Journey): Promise<Outcome>
  /** Undefined when the answer is written and there is nothing to wait for. */
  write(outcome: Outcome, asked: Asked, journey: Journey): Promise<void> | undefined
  /** `asked` is undefined when the request failed before it was read. */
  fail(fault: Fault, asked: Asked | undefined, journey: Journey): Promise<void> | undefined
  /** Adds the fields of this kind of request. The common fields are filled in already. */
  fillRecord(record: OpenRecord, asked: Asked, outcome: Outcome | undefined): void
}

/** It awaits nothing that is known at once: a known key, a small body, a small answer. */
export function handlerOf<Body, Asked, Outcome>(
  room: Room<Body, Asked, Outcome>,
  dependencies: ListenerDependencies,
): RequestHandler {
  const { callsAtOnce, clientAddress, clock, identifiers, limiter, observer, traceContextOf } = dependencies
  const { route, scope, turn } = room

  return async function serve(request, response, path, known) {
    const startedMs = clock.monotonicMs()
    const trace = new RequestTrace(startedMs)
    const requestId = identifiers.next()
    if (traceContextOf !== undefined) trace.context = traceContextOf(request.headers, requestId)
    const journey: Journey = {
      request,
      response,
      path,
      route,
      requestId,
      trace,
      room: undefined,
      media: undefined,
      counted: undefined,
      mayJoin: false,
    }
    let key: Key | undefined
    let asked: Asked | undefined
    let outcome: Outcome | undefined
    let fault: Fault | undefined
    let place: Disposable | undefined
    try {
      if (turn !== undefined) await turn()
      const found = known ?? keyOf(request, dependencies)
      key = found instanceof Promise ? await found : found
      trace.authenticatedMs = clock.monotonicMs()
      if (key.bounds !== undefined) {
        if (scope !== undefined) checkScope(key, scope)
        place = callsAtOnce.enter(key)
      }
      if (isDryRun(request)) await countFirst(journey, key, limiter)
      const read = room.read(await room.receive(journey, key), journey, key)
      asked = read instanceof Promise ? await read : read
      trace.readMs = clock.monotonicMs()
      outcome = await room.run(asked, key, journey)
      // True when there is an answer but the client is gone.
      let hasLeft = response.destroyed
      const written = room.write(outcome, asked, journey)
      if (written !== undefined) {
        await written
        hasLeft = response.destroyed && !response.writableFinished
      }
      if (hasLeft) fault = callerLeft()
    } catch (error) {
      fault = toFault(error)
      if (key !== undefined) fault = await countRefused(fault, journey, key, limiter)
      // After this, the bytes that came together with the headers are parsed, so a body that is already here does not cost the connection.
      if (isUnread(request)) await setImmediate()
      await room.fail(fault, asked, journey)
    } finally {
      place?.[Symbol.dispose]()
    }
    journey.room?.[Symbol.dispose]()
    if (journey.media !== undefined) await journey.media[Symbol.asyncDispose]()
    const status = response.statusCode
    const record = recordOf({
      requestId,
      route,
      clientRequestId: clientRequestId(request),
      clientAddress: clientAddress(request),
      trace,
      status,
      fault,
      key,
    })
    if (asked !== undefined) room.fillRecord(record, asked, outcome)
    record.durationMs = clock.monotonicMs() - startedMs
    observer.requestEnded(record)
  }
}

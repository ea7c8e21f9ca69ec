/** Composition of what a request on its way needs from outside. */
import { kindAtGateway } from '#core/security-event.ts'
import type { Observer, RequestRecord } from '#ports/observer.ts'
import type { TokenCounter } from '#ports/tokens.ts'
import type { EmbedOutside } from '#request/embeddings/outside.ts'
import { yieldLoop } from '#runtime/event-loop.ts'
import { LineBound } from '#telemetry/line-bound.ts'
import { telemetryObserver } from '#telemetry/observer.ts'
import type { SecurityLog } from '#telemetry/security-log.ts'
import type { Traces } from '#telemetry/traces/traces.ts'
import type { Accounts } from './accounts.ts'
import type { Basics } from './basics.ts'
import type { Live } from './live.ts'
import type { Stores } from './stores.ts'
import type { Upstreams } from './upstreams.ts'

export interface OutsideParts {
  readonly stores: Pick<Stores, 'logRequest'>
  readonly accounts: Pick<Accounts, 'money'>
  readonly upstreams: Pick<Upstreams, 'upstream'>
  readonly tokens: TokenCounter
  readonly live: Pick<Live, 'observer'>
  readonly traces: Traces | undefined
}

export function outsideOf(
  basics: Basics,
  { stores, accounts, upstreams, tokens, live, traces }: OutsideParts,
): EmbedOutside {
  const { clock, identifiers, limits } = basics
  return {
    ...accounts.money,
    upstream: upstreams.upstream,
    tokens,
    clock,
    identifiers,
    observer: observerOf(basics, { logRequest: stores.logRequest, live: live.observer, traces }),
    limits,
    yieldLoop: yieldLoop,
    bytesOf: (text) => Buffer.byteLength(text),
  }
}

interface ObserverParts extends Pick<Stores, 'logRequest'>, Pick<OutsideParts, 'traces'> {
  readonly live: Live['observer']
}

function observerOf(
  { log, metrics, security, clock }: Basics,
  { logRequest, live, traces }: ObserverParts,
): Observer {
  const telemetry = telemetryObserver(log, metrics, clock)
  const strangers = new LineBound(clock)
  return {
    callEnded(record) {
      telemetry.callEnded(record)
      live.callEnded(record)
    },
    overcounted(record) {
      telemetry.overcounted(record)
      live.overcounted(record)
    },
    undercounted: (record) => telemetry.undercounted(record),
    requestEnded(record) {
      live.requestEnded(record)
      if (record.fault !== undefined) noteRefusal(record, record.fault, security)
      if (isStrangers(record) && strangers.take() === undefined) {
        metrics.requestEnded(record)
        metrics.traffic.unwritten()
        return
      }
      telemetry.requestEnded(record)
      logRequest(record)
      traces?.requestEnded(record)
    },
  }
}

function noteRefusal(record: RequestRecord, fault: string, security: SecurityLog): void {
  const kind = kindAtGateway(fault)
  if (kind === undefined) return
  const { requestId, clientAddress: client, route, project, key, model } = record
  security.note({ kind, requestId, client, route, project, key, model })
}

/** Refused before anything was known of the caller. */
function isStrangers({ project, fault, status }: RequestRecord): boolean {
  return project === undefined && fault !== undefined && status < 500
}

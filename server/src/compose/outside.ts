/** Composition of what a request on its way needs from outside. */
import type { Observer, RequestRecord } from '#ports/observer.ts'
import type { TokenCounter } from '#ports/tokens.ts'
import type { EmbedOutside } from '#request/embeddings/outside.ts'
import { yieldLoop } from '#runtime/event-loop.ts'
import { telemetryObserver } from '#telemetry/observer.ts'
import type { Accounts } from './accounts.ts'
import type { Basics } from './basics.ts'
import type { Stores } from './stores.ts'
import type { Upstreams } from './upstreams.ts'

export interface OutsideParts {
  readonly stores: Pick<Stores, 'logRequest'>
  readonly accounts: Pick<Accounts, 'money'>
  readonly upstreams: Pick<Upstreams, 'upstream'>
  readonly tokens: TokenCounter
}

export function outsideOf(
  basics: Basics,
  { stores, accounts, upstreams, tokens }: OutsideParts,
): EmbedOutside {
  const { clock, identifiers, limits } = basics
  return {
    ...accounts.money,
    upstream: upstreams.upstream,
    tokens,
    clock,
    identifiers,
    observer: observerOf(basics, stores),
    limits,
    yieldLoop: yieldLoop,
    bytesOf: (text) => Buffer.byteLength(text),
  }
}

/** Refusals of strangers that are written down each second: enough to see who it is, too few to fill a disk or a table. */
const STRANGERS_A_SECOND = 20

function observerOf({ log, metrics, clock }: Basics, { logRequest }: OutsideParts['stores']): Observer {
  const telemetry = telemetryObserver(log, metrics, clock)
  let second = 0
  let written = 0
  const isOneTooMany = (): boolean => {
    const now = Math.floor(clock.monotonicMs() / 1000)
    if (now !== second) written = 0
    second = now
    written += 1
    return written > STRANGERS_A_SECOND
  }
  return {
    callEnded: (record) => telemetry.callEnded(record),
    requestEnded(record) {
      if (isStrangers(record) && isOneTooMany()) {
        metrics.requestEnded(record)
        metrics.traffic.unwritten()
        return
      }
      telemetry.requestEnded(record)
      logRequest(record)
    },
  }
}

/** Refused before anything was known of the caller. */
function isStrangers({ project, fault, status }: RequestRecord): boolean {
  return project === undefined && fault !== undefined && status < 500
}

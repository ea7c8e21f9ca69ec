/** Composition of what a request on its way needs from outside. */
import type { Observer } from '#ports/observer.ts'
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

function observerOf({ log, metrics, clock }: Basics, { logRequest }: OutsideParts['stores']): Observer {
  const telemetry = telemetryObserver(log, metrics, clock)
  return {
    callEnded: (record) => telemetry.callEnded(record),
    requestEnded(record) {
      telemetry.requestEnded(record)
      logRequest(record)
    },
  }
}

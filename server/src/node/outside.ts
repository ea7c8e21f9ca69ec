/** What a request on its way needs from outside. */
import type { TokenCounter } from '#ports/tokens.ts'
import type { EmbedOutside } from '#request/embeddings/outside.ts'
import { yieldLoop } from '#runtime/event-loop.ts'
import { LineBound } from '#telemetry/line-bound.ts'
import { telemetryObserver } from '#telemetry/observer.ts'
import type { Traces } from '#telemetry/traces/traces.ts'
import { nodeObserver } from '#worker/traffic/observer.ts'
import type { Accounts } from './accounts.ts'
import type { Basics } from './basics.ts'
import type { Live } from './live.ts'
import type { Stores } from './stores.ts'
import type { Upstreams } from './upstreams.ts'

interface OutsideParts {
  readonly stores: Stores
  readonly accounts: Accounts
  readonly upstreams: Upstreams
  readonly tokens: TokenCounter
  readonly live: Live
  readonly traces: Traces | undefined
}

export function outsideOf(
  { log, metrics, security, clock, identifiers, limits }: Basics,
  { stores, accounts, upstreams, tokens, live, traces }: OutsideParts,
): EmbedOutside {
  const strangers = new LineBound(clock)
  return {
    ...accounts.money,
    upstream: upstreams.upstream,
    tokens,
    clock,
    identifiers,
    observer: nodeObserver({
      telemetry: telemetryObserver(log, metrics, clock),
      traffic: live.observer,
      logRequest: stores.logRequest,
      traces,
      security,
      mayWriteStranger: () => strangers.take() !== undefined,
      countOnly(record) {
        metrics.requestEnded(record)
        metrics.traffic.unwritten()
      },
    }),
    limits,
    yieldLoop,
    bytesOf: (text) => Buffer.byteLength(text),
  }
}

/** What happens to requests, passed on to all that count, log or store it. */
import { kindAtGateway, type SecurityKind } from '#core/access/security-event.ts'
import type { Observer, RequestRecord } from '#ports/observer.ts'

export interface ObserverParts {
  /** Counts and logs. */
  readonly telemetry: Observer
  /** The traffic of this node. */
  readonly traffic: Pick<Observer, 'callEnded' | 'overcounted' | 'requestEnded'>
  readonly logRequest: (record: RequestRecord) => void
  /** Undefined: there is no receiver of traces. */
  readonly traces: { requestEnded(record: RequestRecord): void } | undefined
  readonly security: { note(event: SecurityEvent): void }
  /** Whether another line may be written about a caller that is not known. */
  readonly mayWriteStranger: () => boolean
  /** Counts a request about which nothing else is written. */
  readonly countOnly: (record: RequestRecord) => void
}

type SecurityEvent = { readonly kind: SecurityKind } & ReturnType<typeof factsOf>

export function nodeObserver(parts: ObserverParts): Observer {
  const { telemetry, traffic, logRequest, traces, security } = parts
  return {
    callEnded(record) {
      telemetry.callEnded(record)
      traffic.callEnded(record)
    },
    overcounted(record) {
      telemetry.overcounted(record)
      traffic.overcounted(record)
    },
    undercounted: (record) => telemetry.undercounted(record),
    requestEnded(record) {
      traffic.requestEnded(record)
      const kind = record.fault === undefined ? undefined : kindAtGateway(record.fault)
      if (kind !== undefined) security.note({ kind, ...factsOf(record) })
      if (isStrangers(record) && !parts.mayWriteStranger()) return parts.countOnly(record)
      telemetry.requestEnded(record)
      logRequest(record)
      traces?.requestEnded(record)
    },
  }
}

function factsOf({ requestId, clientAddress: client, route, project, key, model }: RequestRecord) {
  return { requestId, client, route, project, key, model }
}

/** Whether it was refused before its caller was known. */
function isStrangers({ project, fault, status }: RequestRecord): boolean {
  return project === undefined && fault !== undefined && status < 500
}

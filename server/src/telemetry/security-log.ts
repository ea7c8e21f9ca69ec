import { SECURITY_KINDS, type SecurityKind } from '#core/access/security-event.ts'
import type { Clock } from '#ports/clock.ts'
import { LineBound } from './line-bound.ts'
import type { Log } from './log.ts'
import { counters } from './series.ts'

export interface SecurityEvent {
  readonly kind: SecurityKind
  readonly requestId: string
  /** The address of the client. */
  readonly client: string | undefined
  /** Names of our own, never a secret. */
  readonly [fact: string]: string | number | undefined
}

/**
 * Security events among the lines of the log, marked by `"event":"security"`. All events are counted. Each
 * kind has a bound on its lines, so that a flood of one kind hides no other.
 */
export class SecurityLog {
  readonly #log: Pick<Log, 'info' | 'warn'>
  readonly #bounds: ReadonlyMap<SecurityKind, LineBound>
  readonly #counters = counters('torana_security_events_total')

  constructor(log: Pick<Log, 'info' | 'warn'>, clock: Clock) {
    this.#log = log
    this.#bounds = new Map(SECURITY_KINDS.map((kind) => [kind, new LineBound(clock)]))
    // From the start, so that the first event of a kind shows as a rise.
    for (const kind of SECURITY_KINDS) this.#counters.get({ kind })
  }

  note(event: SecurityEvent): void {
    const { kind } = event
    this.#counters.get({ kind }).value += 1
    const omitted = this.#bounds.get(kind)?.take()
    if (omitted === undefined) return
    const line = { event: 'security', ...event, ...(omitted > 0 && { omitted }) }
    if (kind === 'admin_request') this.#log.info(line, 'security event')
    else this.#log.warn(line, 'security event')
  }

  /** Prometheus' text form. */
  text(): string {
    return this.#counters.text()
  }
}

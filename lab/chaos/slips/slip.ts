import type { House } from '../cluster.ts'

/** The role of the gateways. It owns their tables and is no superuser, so that its rights count. */
export const GATEWAY_ROLE = 'gateway'

/** The parts of the cluster that a slip may change. */
export interface SlipStage extends House {
  /** Moves the clock of a gateway's machine by days. It reads them within a tenth of a second, and again at each start. */
  setClock(gateway: number, days: number): void
  /** The gateway that has run longest. */
  eldest(): number
  /** Runs statements on the database of the gateways. */
  asSuperuser(statements: string): Promise<void>
  /** Kills a gateway; resolves when the next one is ready. */
  restart(gateway: number): Promise<void>
}

/** One round: it begins and ends under load. After its end everything must come to rest by itself. */
export interface Slip {
  readonly name: string
  readonly begin: (stage: SlipStage) => Promise<void>
  readonly end: (stage: SlipStage) => Promise<void>
}

import type { CorsSettings, LedgerSettings, Limits, PlaygroundSettings, Settings } from '#core/settings.ts'
import type { BodyRoom } from '#http/gate/body-room.ts'
import { readManifest } from '#package/files.ts'
import type { Identifiers, NodeClock } from '#ports/clock.ts'
import type { NodeSecrets } from '#runtime/secret.ts'
import type { Log } from '#telemetry/log.ts'
import type { Metrics } from '#telemetry/metrics.ts'
import type { SecurityLog } from '#telemetry/security-log.ts'

const manifest = readManifest()

export const { version } = manifest

/** The commit that this program was built from. Empty: not known. */
export const commit: string = manifest.commit ?? ''

/** What every part of a node is opened with. */
export interface Basics {
  readonly settings: Settings
  /** The URL of a store for its next connection. Undefined: there is no such store. */
  readonly storeUrls: Readonly<Record<'database' | 'redis' | 'cache', (() => string) | undefined>>
  /** Limits of the configuration file, as they were at the start. */
  readonly limits: Limits
  /** As they were at the start, too. */
  readonly cors: CorsSettings | undefined
  readonly playground: PlaygroundSettings
  readonly ledger: LedgerSettings
  readonly secrets: NodeSecrets
  readonly clock: NodeClock
  readonly identifiers: Identifiers
  readonly log: Log
  readonly metrics: Metrics
  readonly security: SecurityLog
  /** The memory for bodies that arrive, on either port. */
  readonly bodyRoom: BodyRoom
}

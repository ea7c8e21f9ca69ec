/** Where a node keeps what it knows. */
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { PostgresAlertOutbox } from '#stores/postgres/alerts/outbox.ts'
import type { PostgresAlertRules } from '#stores/postgres/alerts/rules.ts'
import type { AuditLog } from '#ports/audit.ts'
import type { Batches, HasLeftSpace } from '#ports/batches.ts'
import type { TableReport, WriteLine } from '#ports/backup.ts'
import type { BudgetStore, SpendingReader } from '#ports/budgets.ts'
import type { StoreClock } from '#ports/clock.ts'
import type { CredentialStore } from '#ports/credentials.ts'
import type { DrainStore } from '#ports/drains.ts'
import type { Files } from '#ports/files.ts'
import type { FileUploads } from '#ports/file-uploads.ts'
import type { ImageJobs } from '#ports/image-jobs.ts'
import type { KeyFile } from '#ports/key-file.ts'
import type { KeyStore } from '#ports/key-store.ts'
import type { LakeStore } from '#ports/lake.ts'
import type { Ledger, LedgerStore } from '#ports/ledger.ts'
import type { RequestRecord } from '#ports/observer.ts'
import type { Database } from '#stores/postgres/database.ts'
import type { RequestTail } from '#ports/request-reports.ts'
import type { NodeSetup } from '#ports/node-setup.ts'
import type { NodeNews } from '#ports/node-news.ts'
import type { PriceStore } from '#ports/prices.ts'
import type { SpaceStore } from '#ports/spaces.ts'
import type { SuspectStore } from '#ports/suspects.ts'
import type { PostgresTrafficHistory } from '#stores/postgres/traffic-history.ts'
import type { NodeFigures } from '#ports/upkeep.ts'
import type { PostgresReconciler } from '#stores/postgres/ledger/reconciler.ts'
import type { PostgresUpkeep } from '#stores/postgres/ledger/upkeep.ts'
import type { StoredConfiguration } from '#ports/stored-configuration.ts'
import type { WebhookOutbox, WebhooksFor } from '#ports/webhooks.ts'
import type { Basics } from './basics.ts'
import type { Pulse } from '#worker/pulse.ts'

export interface Stores extends NodeLedger {
  readonly budgets: BudgetStore & SpendingReader
  readonly keys: KeyStore
  /** Most connections to PostgreSQL that this node opens. */
  readonly connections: number
  /** The copy of the keys on disk. */
  readonly keyFile: KeyFile
  readonly credentials: CredentialStore
  readonly configuration: StoredConfiguration
  readonly alerts: PostgresAlertRules
  readonly alertOutbox: PostgresAlertOutbox
  readonly audit: AuditLog
  readonly imageJobs: ImageJobs
  readonly files: Files
  readonly batches: Batches
  readonly fileUploads: FileUploads
  readonly webhooks: WebhookOutbox
  readonly spaces: SpaceStore
  readonly suspects: SuspectStore
  readonly drains: DrainStore
  readonly news: NodeNews
  readonly history: PostgresTrafficHistory
  readonly prices: PriceStore
  readonly lake: LakeStore
  /** Writes all tables as they were at one moment, for a backup. */
  readonly dump: (write: WriteLine) => Promise<readonly TableReport[]>
  /** Connections of their own for what people look at. */
  readonly reportDatabase: Database
  /** Where an operator resolves calls with an unknown outcome. */
  readonly ledgerStore: LedgerStore
}

/** The ledger as one node writes it. */
export interface NodeLedger extends AsyncDisposable {
  readonly nodeId: string
  readonly ledger: Ledger
  /** Adds entries where others may stand for the same calls. */
  readonly appendLate: (entries: readonly LedgerEntry[]) => Promise<void>
  /** Calls that were begun and not accounted for yet. */
  readonly openCalls: () => number
  /** Resolves when no entry waits in memory. */
  readonly settled: () => Promise<void>
  readonly logRequest: (record: RequestRecord) => void
  /** The newest requests of this node, for people who watch them live. */
  readonly requestTail: RequestTail
  /** Nodes that share the work, as of the last heartbeat. */
  readonly liveNodes: () => number
  /** Wakes the workers of this node. */
  readonly pulse: Pulse
  /** Whether this node does what one node does for all. */
  readonly isEldest: () => Promise<boolean>
  readonly storeClock: StoreClock
  /** Whether the store's clock has run for `STEADY_CLOCK_MS` without a jump. Nothing is deleted for its age before. */
  readonly isClockSteady: () => boolean
  readonly isStoreUnreachable: () => boolean
  /** Where ledger and sums differ, as of the last time that this node compared them. */
  readonly ledgerDifferences: () => number
  /** Why this node must get no requests, if so. */
  readonly failure: () => string | undefined
  /** What the heartbeats from now on say of this node's setup. */
  readonly describe: (setup: NodeSetup) => void
  /** What the control API shows of the ledger. */
  readonly forControl: LedgerForControl
}

export interface LedgerForControl {
  readonly reconciler: PostgresReconciler
  readonly upkeep: Pick<PostgresUpkeep, 'makePartitions'>
  /** Undefined: PostgreSQL does not answer, or the database is inside this process. */
  readonly isPoolerUnfit: () => Promise<boolean | undefined>
  /** What the ledger knows about this node. */
  readonly figures: () => Omit<NodeFigures, 'limiter' | 'hasConfigFile' | 'configRefusal'>
}

/** Opens the stores of a node. */
export type OpenStores = (basics: Basics, parts: StoreParts) => Promise<Stores>

export interface StoreParts {
  readonly webhooksFor: WebhooksFor
  readonly hasLeftSpace: HasLeftSpace
  /** An operator or another node ended this node: it must stop. */
  readonly onEnded: () => void
}

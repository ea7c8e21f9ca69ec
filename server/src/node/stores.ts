/** Where a node keeps what it knows. */
import type { ControlNode, ControlStores } from '#control/shared/node.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { JudgeMade } from '#ports/batches.ts'
import type { TableReport, WriteLine } from '#ports/backup.ts'
import type { BudgetStore, SpendingReader } from '#ports/budgets.ts'
import type { StoreClock } from '#ports/clock.ts'
import type { FileUploads } from '#ports/file-uploads.ts'
import type { ImageJobs } from '#ports/image-jobs.ts'
import type { KeyFile } from '#ports/key-file.ts'
import type { LakeStore } from '#ports/lake.ts'
import type { Ledger, LedgerStore } from '#ports/ledger.ts'
import type { RequestRecord } from '#ports/observer.ts'
import type { NodeSetup } from '#ports/node-setup.ts'
import type { NodeNews } from '#ports/node-news.ts'
import type { SpaceStore } from '#ports/spaces.ts'
import type { SuspectStore } from '#ports/suspects.ts'
import type { NodeFigures } from '#ports/upkeep.ts'
import type { WebhookOutbox, WebhooksFor } from '#ports/webhooks.ts'
import type { Basics } from './basics.ts'
import type { Pulse } from '#worker/pulse.ts'

export interface Stores extends NodeLedger, ControlStores {
  readonly budgets: BudgetStore & SpendingReader
  /** Most connections to PostgreSQL that this node opens. */
  readonly connections: number
  /** The copy of the keys on disk. */
  readonly keyFile: KeyFile
  readonly imageJobs: ImageJobs
  readonly fileUploads: FileUploads
  readonly webhooks: WebhookOutbox
  readonly spaces: SpaceStore
  readonly suspects: SuspectStore
  readonly news: NodeNews
  readonly lake: LakeStore
  /** Writes all tables as they were at one moment, for a backup. */
  readonly dump: (write: WriteLine) => Promise<readonly TableReport[]>
  /** Where an operator resolves calls with an unknown outcome. */
  readonly ledgerStore: LedgerStore
}

/** The ledger as one node writes it. */
export interface NodeLedger extends AsyncDisposable, Pick<ControlStores, 'requestTail' | 'liveNodes'> {
  readonly nodeId: string
  readonly ledger: Ledger
  /** Adds entries where others may stand for the same calls. */
  readonly appendLate: (entries: readonly LedgerEntry[]) => Promise<void>
  /** Calls that were begun and not accounted for yet. */
  readonly openCalls: () => number
  /** Resolves when no entry waits in memory. */
  readonly settled: () => Promise<void>
  readonly logRequest: (record: RequestRecord) => void
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

export interface LedgerForControl extends Pick<
  ControlNode,
  'reconciler' | 'makePartitions' | 'isPoolerUnfit'
> {
  /** What the ledger knows about this node. */
  readonly figures: () => Omit<NodeFigures, 'limiter' | 'hasConfigFile' | 'configRefusal'>
}

/** Opens the stores of a node. */
export type OpenStores = (basics: Basics, parts: StoreParts) => Promise<Stores>

export interface StoreParts {
  readonly webhooksFor: WebhooksFor
  readonly judgeMade: JudgeMade
  /** An operator or another node ended this node: it must stop. */
  readonly onEnded: () => void
}

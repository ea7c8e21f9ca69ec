/** Where a node keeps what it knows. `memory.ts` or `database.ts` opens it; no other part asks which. */
import type { LedgerEntry } from '#core/ledger.ts'
import type { PeopleDependencies } from '#http/control/access/people.ts'
import type { BooksDependencies } from '#http/control/books/books.ts'
import type { AttentionFigures } from '#ports/attention-figures.ts'
import type { AuditLog } from '#ports/audit.ts'
import type { Batches, HasLeftSpace } from '#ports/batches.ts'
import type { BatchReports } from '#ports/batch-reports.ts'
import type { BackupSource } from '#ports/backup.ts'
import type { BudgetStore, SpendingReader } from '#ports/budgets.ts'
import type { CredentialStore } from '#ports/credentials.ts'
import type { DrainStore } from '#ports/drains.ts'
import type { Files } from '#ports/files.ts'
import type { FileUploads } from '#ports/file-uploads.ts'
import type { ImageJobs } from '#ports/image-jobs.ts'
import type { KeyStore, SnapshotFile } from '#ports/key-store.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { RequestRecord } from '#ports/observer.ts'
import type { MoneyDependencies } from '#http/control/money/routes.ts'
import type { ModelFigures } from '#ports/model-figures.ts'
import type { Finder } from '#ports/finder.ts'
import type { KeyReports } from '#ports/key-reports.ts'
import type { ImageJobReports } from '#ports/image-job-reports.ts'
import type { RequestReports, RequestTail } from '#ports/request-reports.ts'
import type { StorageFigures } from '#ports/storage-figures.ts'
import type { NodeSetup } from '#ports/node-setup.ts'
import type { NodeNews } from '#ports/node-news.ts'
import type { PriceStore } from '#ports/prices.ts'
import type { SpaceStore } from '#ports/spaces.ts'
import type { TrafficHistory } from '#ports/traffic-history.ts'
import type { NodeFigures } from '#ports/upkeep.ts'
import type { StoredUpstreams } from '#ports/stored-upstreams.ts'
import type { WebhookOutbox, WebhooksFor } from '#ports/webhooks.ts'

export interface Stores extends NodeBooks {
  readonly budgets: BudgetStore & SpendingReader
  readonly keys: KeyStore
  /** Most connections to PostgreSQL that this node opens. */
  readonly connections: number
  /** A copy of the keys on disk, for a start without the store; undefined: none is kept. */
  readonly keyFile: SnapshotFile | undefined
  readonly credentials: CredentialStore
  /** Undefined: nothing is kept. */
  readonly upstreams: StoredUpstreams | undefined
  readonly audit: AuditLog
  readonly imageJobs: ImageJobs
  readonly files: Files
  readonly batches: Batches
  readonly fileUploads: FileUploads
  readonly webhooks: WebhookOutbox
  readonly spaces: SpaceStore
  readonly drains: DrainStore
  readonly news: NodeNews
  /** Undefined: nothing is kept. */
  readonly history: TrafficHistory | undefined
  readonly attention: AttentionFigures | undefined
  /** Undefined: nothing is kept that they could be read from. */
  readonly modelFigures: ModelFigures | undefined
  /** Undefined: nothing is kept, so nobody can sign in. */
  readonly people: PeopleStores | undefined
  /** Undefined: nothing is kept. */
  readonly storage: StorageFigures | undefined
  /** Undefined: nothing is kept. */
  readonly prices: PriceStore | undefined
  /** All of it, for a backup; undefined: nothing is kept. */
  readonly backup: BackupSource | undefined
  /** What people look at; undefined: nothing is kept. */
  readonly reports: Reports | undefined
}

/** Each asks over the connections for reports, never over those of the request path. */
export interface Reports {
  readonly requests: RequestReports
  readonly imageJobs: ImageJobReports
  readonly batches: BatchReports
  readonly money: Pick<MoneyDependencies, 'usage' | 'budgets' | 'unknowns' | 'ledger' | 'priceReports'>
  readonly keys: KeyReports
  readonly finder: Finder
}

type PeopleStores = Pick<
  PeopleDependencies,
  'members' | 'invitations' | 'sessions' | 'signOn' | 'adminTokens' | 'savedViews'
>

/** The books as one node writes them. */
export interface NodeBooks extends AsyncDisposable {
  readonly nodeId: string
  readonly ledger: Ledger
  /** Adds entries where others may stand for the same calls. */
  readonly appendLate: (entries: readonly LedgerEntry[]) => Promise<void>
  /** Calls that were begun and not accounted for yet. */
  readonly openCalls: () => number
  /** Resolves when no entry waits in memory. */
  readonly settled: () => Promise<void>
  readonly logRequest: (record: RequestRecord) => void
  /** For those who watch; undefined: nothing is written. */
  readonly requestTail: RequestTail | undefined
  /** Nodes that share the work, as of the last heartbeat. */
  readonly liveNodes: () => number
  /** Whether this node does what one node does for all. */
  readonly isEldest: () => Promise<boolean>
  readonly isStoreAway: () => boolean
  /** Where ledger and sums differ, as of the last time that this node compared them. */
  readonly ledgerDifferences: () => number
  /** Why this node must get no requests, if so. */
  readonly failure: () => string | undefined
  /** What the heartbeats from now on say of this node's setup. */
  readonly describe: (setup: NodeSetup) => void
  /** What the control API shows of the books; undefined: it shows none. */
  readonly forControl: ControlBooks | undefined
}

export interface ControlBooks extends Omit<BooksDependencies, 'nodeFigures'> {
  /** What the books know of this node. */
  readonly figures: () => Omit<NodeFigures, 'limiter' | 'hasConfigFile' | 'configRefusal'>
}

export interface StoreParts {
  readonly webhooksFor: WebhooksFor
  readonly hasLeftSpace: HasLeftSpace
  /** An operator or another node ended this node: it must stop. */
  readonly onEnded: () => void
}

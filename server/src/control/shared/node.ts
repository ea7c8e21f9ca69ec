/** What the features of the control plane take from a node. Each takes a few of these; none is optional. */
import type { FileHandle } from 'node:fs/promises'
import type { Catalog, EmbeddingModel, Model, Project } from '#core/catalog/catalog.ts'
import type { KnownProvider, TriedUpstream } from '#core/catalog/offer.ts'
import type { ReadPrice } from '#core/money/price-form.ts'
import type { Validity } from '#core/node/certificate-validity.ts'
import type { Scheduler } from '#core/schedule/scheduler.ts'
import type { Limits, PlaygroundSettings, Settings } from '#core/settings.ts'
import type { NodeSummary } from '#core/traffic/node-summary.ts'
import type { AlertTransport } from '#ports/alerts.ts'
import type { AuditLog } from '#ports/audit.ts'
import type { WrittenBackup } from '#ports/backup.ts'
import type { Batches } from '#ports/batches.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { SpendingReader } from '#ports/budgets.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { CredentialStore, SealingKeys } from '#ports/credentials.ts'
import type { DiskSpace } from '#ports/disk-room.ts'
import type { DrainStore } from '#ports/drains.ts'
import type { Files } from '#ports/files.ts'
import type { WorkerImageCodec } from '#runtime/image-codec.ts'
import type { TermsInForce } from '#ports/keys.ts'
import type { KeyStore, Peppers } from '#ports/key-store.ts'
import type { NodeLake } from '#ports/lake.ts'
import type { LedgerStore } from '#ports/ledger.ts'
import type { ModelListing } from '#ports/model-listing.ts'
import type { Passwords } from '#runtime/passwords.ts'
import type { PriceStore } from '#ports/prices.ts'
import type { RequestTail } from '#ports/request-reports.ts'
import type { TextSeal } from '#runtime/sealed-text.ts'
import type { IdentityProvider } from '#runtime/identity-provider.ts'
import type {
  ExportConfiguration,
  ExtendedCatalog,
  StoredConfiguration,
  StoredEntry,
  StoredObject,
} from '#ports/stored-configuration.ts'
import type { LimiterMemory, NodeFigures } from '#ports/upkeep.ts'
import type { CreateDependencies } from '#request/batches/create.ts'
import type { PostgresAlertOutbox } from '#stores/postgres/alerts/outbox.ts'
import type { PostgresAlertRules } from '#stores/postgres/alerts/rules.ts'
import type { PostgresReconciler } from '#stores/postgres/ledger/reconciler.ts'
import type { PostgresUpkeep } from '#stores/postgres/ledger/upkeep.ts'
import type { PostgresTrafficHistory } from '#stores/postgres/traffic-history.ts'
import type { EmbedOutside } from '#request/embeddings/outside.ts'
import type { SegmentsOf } from '#request/files/arriving-file.ts'
import type { ImageDependencies } from '#request/images/image.ts'
import type { UploadHandlers } from '#http/gateway/files/upload-routes.ts'
import type { GatewayHandlers } from '#http/gateway/handlers.ts'
import type { Database } from '#stores/postgres/database.ts'
import type { Callers } from './callers.ts'
import type { SignInLimits } from './sign-in-limits.ts'
import type { Transports } from './transport.ts'
import type { SpaceGuard } from './space-guard.ts'

/** The stores among them, under the names that the node itself has for them. */
export interface ControlStores {
  readonly alerts: PostgresAlertRules
  readonly alertOutbox: PostgresAlertOutbox
  readonly audit: AuditLog
  readonly batches: Batches
  readonly configuration: StoredConfiguration
  readonly credentials: CredentialStore
  readonly drains: DrainStore
  readonly files: Files
  readonly history: PostgresTrafficHistory
  readonly keyStore: KeyStore
  /** Nodes that share the work, as of the last heartbeat. */
  readonly liveNodes: () => number
  readonly prices: PriceStore
  /** Connections of their own for what people look at: a slow page never holds up a request. They reject with `StoreUnreachable`. */
  readonly reports: Database
  /** The newest requests of this node, as they end. */
  readonly requestTail: RequestTail
}

export interface ControlNode extends ControlStores {
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly version: string
  /** When this node started, in Unix milliseconds. */
  readonly startedAtMs: number
  /** Newest day on which a price of the built-in catalog was read. */
  readonly catalogDate: string
  /** Versions of the packages that Torana uses, by name. */
  readonly dependencies: Readonly<Record<string, string>>
  /** What the environment decides. */
  readonly settings: Settings
  /** Of the configuration file, as it was at the start. */
  readonly limits: Limits
  readonly playground: PlaygroundSettings
  readonly peppers: Peppers
  /** Makes a new secret of a key, in Torana's own form. */
  readonly newSecret: () => string
  readonly publicUrl: string
  readonly controlUrl: string
  /** The name of this node in rows of the request log. */
  readonly hostname: string
  /** A live topic failed to say what is new. Its stream goes on. */
  readonly onTopicFailure: (topic: string, error: unknown) => void

  /** The models in force, with those that were added at run time. */
  readonly catalog: () => Catalog
  /** What the configuration and the store declare, without the credentials of the store. */
  readonly declaredCatalog: () => Catalog
  /** Projects and keys of the configuration. */
  readonly declaredProjects: () => readonly Project[]
  /** Resolves when the changes of the store are in force on this node. */
  readonly refreshCatalog: () => Promise<void>
  /** The price that a form means for a model of this kind, or its problem. */
  readonly readPrice: (kind: Model['kind'], form: unknown) => ReadPrice
  /** The deployments as this node sees them. */
  readonly scheduler: Pick<Scheduler, 'states'>
  /** The handlers of the requests that callers pay for. */
  readonly handlers: GatewayHandlers
  /** The handlers of files that arrive in parts. */
  readonly uploads: UploadHandlers
  /** The catalog that these objects of the store would make. */
  readonly extendedBy: (objects: readonly StoredObject[]) => ExtendedCatalog
  /** One torana.yaml of the configuration in force and these parts. */
  readonly exported: ExportConfiguration
  readonly knownProviders: () => readonly KnownProvider[]
  /** By the same rules as torana.yaml's. */
  readonly tryUpstream: (name: string, entry: StoredEntry) => TriedUpstream
  readonly modelListing: ModelListing

  /** The last summary of each live node, this one included. */
  readonly summaries: () => Promise<readonly NodeSummary[]>
  /** Texts in a micro-batch of a model, on average over the life of this node. Undefined: there was none. */
  readonly averageItems: (model: string) => number | undefined
  /** The space that names the model's answers at this width. Undefined until the store was read once. */
  readonly nameSpace: (model: EmbeddingModel, width: number) => string | undefined
  readonly spaceGuard: SpaceGuard

  /** What this node knows about itself without asking a store. */
  readonly nodeFigures: () => NodeFigures
  /** Asks the Redis of the rate limits. Undefined: it does not answer, does not say, or is not configured. */
  readonly limiterMemory: () => Promise<LimiterMemory | undefined>
  readonly isDrained: (deployment: string) => boolean
  /** What calls to embedding models need. */
  readonly embedOutside: EmbedOutside
  /** What calls to image models need. */
  readonly imageOutside: ImageDependencies

  /** The disk of the data folder. Undefined: the system does not report it. */
  readonly diskSpace: () => Promise<DiskSpace | undefined>
  /** The store that images outlive this node in. */
  readonly imageStore: Pick<BlobStore, 'list'>
  /** Images on the disk of this node that wait for the image store. */
  readonly imagesWaiting: () => Promise<number>
  /** Undefined without TLS. */
  readonly certificate: () => Validity | undefined
  /** The vector cache that nodes share, with the reason why it can't be used. Undefined without CACHE_URL. */
  readonly sharedCache: () => { readonly trouble: string | undefined } | undefined
  /** Writes all tables, with images and files if `pictures` is set. */
  readonly writeBackup: (file: FileHandle, pictures: boolean) => Promise<WrittenBackup>

  readonly alertTransport: AlertTransport
  /** What makes batches of files. */
  readonly forBatches: CreateDependencies
  readonly reconciler: PostgresReconciler
  readonly makePartitions: PostgresUpkeep['makePartitions']
  /** Whether a pooler gives each statement another session of PostgreSQL. Undefined: it does not answer, or is built in. */
  readonly isPoolerUnfit: () => Promise<boolean | undefined>
  /** Where an operator resolves calls with an unknown outcome. */
  readonly ledger: LedgerStore
  /** Sealed days of the ledger in the blob store. */
  readonly lake: NodeLake
  /** What was spent under budgets. */
  readonly spending: SpendingReader
  /** Keys as they are now, for work that goes on after its request. */
  readonly terms: TermsInForce

  /** People and programs that hold a session or a token. */
  readonly callers: Callers
  readonly identityProvider: IdentityProvider
  /** Hears why a sign-on failed; the browser learns less. */
  readonly onSignOnTrouble: (trouble: { readonly problem: string; readonly cause?: unknown }) => void
  readonly passwords: Passwords
  /** Seals what a browser carries and must not read or change. */
  readonly seal: TextSeal
  /** Seal the secret of the sign-on in the store. */
  readonly sealingKeys: SealingKeys
  readonly signInLimits: SignInLimits
  readonly transports: Transports
  /** Images and records of deliveries, decrypted as they are read. */
  readonly imageBlobs: BlobStore
  readonly thumbnails: Pick<WorkerImageCodec, 'thumbnail'>
  /** Keys that open the results of image jobs. */
  readonly jobKeys: SealingKeys
  /** Bytes of files and of results of batches, and the segments of each file. */
  readonly fileBlobs: BlobStore
  readonly segmentsOf: SegmentsOf
}

/** Composition of what images need beside the journey: their jobs, their bytes, their conversion, and the worker beside them. */
import { join } from 'node:path'
import type { Catalog } from '#core/catalog.ts'
import type { Limits, Settings } from '#core/settings.ts'
import type { AssetDependencies } from '#http/gateway/images/assets.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { ImageJobs } from '#ports/image-jobs.ts'
import type { ImageUpstream, PictureFetcher } from '#ports/image-upstream.ts'
import type { Observer } from '#ports/observer.ts'
import { StoreAway } from '#ports/store.ts'
import type { ReadingOutside } from '#http/gateway/images/read-request.ts'
import { ByteBudget } from '#request/images/byte-budget.ts'
import type { Dispatch } from '#request/traffic/dispatch.ts'
import type { ImageDependencies } from '#request/images/image.ts'
import { RunningJobs } from '#request/images/running-jobs.ts'
import { assetSigner } from '#runtime/asset-signature.ts'
import { wait } from '#runtime/clock.ts'
import { hashing } from '#runtime/hashing.ts'
import { WorkerImageCodec } from '#runtime/image-codec.ts'
import { jobKeysOf, loadSecret } from '#runtime/secret.ts'
import { sharedTurns } from '#runtime/turns.ts'
import { DiskBlobs } from '#stores/blobs/disk.ts'
import { S3Blobs } from '#stores/blobs/s3.ts'
import { SpooledBlobs } from '#stores/blobs/spooled.ts'
import { DiskUploads } from '#stores/uploads/disk.ts'
import { MemoryImageJobs } from '#stores/memory/image-jobs.ts'
import { PostgresImageJobs } from '#stores/postgres/jobs/image-jobs.ts'
import type { Log } from '#telemetry/log.ts'
import { every, type Repeating } from '#worker/every.ts'
import { startImageWorker } from '#worker/image-jobs.ts'
import type { Accounts } from './accounts.ts'
import type { Webhooks } from './webhooks.ts'

/** How soon a store that came back gets what waited for it. */
const DRAIN_MS = 5000

export interface ImageParts {
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly log: Log
  readonly accounts: Accounts
  readonly limits: Limits
  readonly catalog: () => Catalog
  readonly observer: Observer
  readonly imageUpstream: ImageUpstream
  readonly fetcher: PictureFetcher
  readonly dispatch: Dispatch
  readonly publicUrl: () => string
  readonly webhooks: Pick<Webhooks, 'webhooksFor' | 'memory'>
}

export interface Images {
  /** What the gateway's handlers need. */
  readonly forGateway: Omit<ImageDependencies, keyof Accounts['money'] | 'bytesOf'> &
    Pick<AssetDependencies, 'linkOf' | 'verifyLink'> &
    Omit<ReadingOutside, 'json'>
  /** Lets the jobs under way end, for so long. */
  drain(forMs: number): Promise<void>
  stop(): Promise<void>
}

export async function openImages(settings: Settings, parts: ImageParts): Promise<Images> {
  const { clock, identifiers, log, accounts, limits } = parts
  const { assets } = settings
  const secrets = {
    current: loadSecret(settings.secret, settings.dataDir),
    previous: settings.previousSecret,
  }
  const signer = assetSigner(secrets)
  const { webhooksFor, memory } = parts.webhooks
  const blobs = await openBlobs(settings)
  const jobs: ImageJobs = accounts.database
    ? new PostgresImageJobs(accounts.database, jobKeysOf(secrets), webhooksFor)
    : new MemoryImageJobs(clock, memory && { outbox: memory, webhooksFor })
  const uploads = await DiskUploads.open(join(settings.dataDir, 'uploads'), { maxBytes: limits.uploadBytes })
  const codec = new WorkerImageCodec()
  const running = new RunningJobs()
  const unended = (jobId: string, error: unknown): void =>
    log.warn({ jobId, err: error }, 'an image job could not be ended in the store; it will be taken up again')
  const forGateway = {
    catalog: parts.catalog,
    limits,
    nodeId: accounts.nodeId,
    running,
    wait,
    unended,
    imageUpstream: parts.imageUpstream,
    dispatch: parts.dispatch,
    fetcher: parts.fetcher,
    uploads,
    // Hashing and writing 64 KB takes a fraction of a millisecond: fifty forms must not take their turns at once.
    arrivalTurn: sharedTurns(4),
    memory: new ByteBudget(limits.bufferedBytes),
    jobs,
    clock,
    identifiers,
    observer: parts.observer,
    blobs: blobs.store,
    codec,
    hashing,
    unkept: (name: string, error: unknown) =>
      log.error({ name, err: error }, 'a paid picture could not be stored; it is handed to who waits for it'),
    linkOf(assetId: string) {
      const expiresAtSeconds = Math.floor((clock.nowMs() + limits.assetLinkMs) / 1000)
      const signature = signer.sign(assetId, expiresAtSeconds)
      return `${parts.publicUrl()}/v1/assets/${assetId}?exp=${expiresAtSeconds}&sig=${signature}`
    },
    verifyLink: (...link: Parameters<typeof signer.verify>) => signer.verify(...link),
  }
  const worker = startImageWorker(
    {
      ...forGateway,
      ...accounts.money,
      bytesOf: (text) => Buffer.byteLength(text),
      appendLate: accounts.appendLate,
      // A folder is each node's own; a bucket is looked through once for all.
      mustForgetBlobs: async () => assets.kind === 'file' || accounts.isEldest(),
    },
    {
      tookOver: (jobId) => log.warn({ jobId }, 'an image job of another process is taken over'),
      deleted: (counts) => log.info(counts, 'old image jobs and pictures were deleted'),
      failed(what, error) {
        if (!(error instanceof StoreAway)) log.error({ what, err: error }, 'the image worker failed')
      },
    },
  )
  const { spooled } = blobs
  const draining: Repeating | undefined =
    spooled &&
    every(
      DRAIN_MS,
      async () => void (await spooled.drain()),
      (error) => {
        if (!(error instanceof StoreAway))
          log.error({ err: error }, 'spooled pictures could not be handed over')
      },
    )
  return {
    forGateway,
    async drain(forMs) {
      await Promise.race([running.settled(), new Promise((resolve) => setTimeout(resolve, forMs).unref())])
    },
    async stop() {
      await worker.stop()
      await draining?.stop()
      await jobs.release(accounts.nodeId).catch((error: unknown) => {
        if (!(error instanceof StoreAway)) throw error
      })
      await codec.close()
    },
  }
}

interface OpenBlobs {
  readonly store: BlobStore
  readonly spooled: SpooledBlobs | undefined
}

async function openBlobs({ assets, dataDir }: Settings): Promise<OpenBlobs> {
  if (assets.kind === 'file') return { store: await DiskBlobs.open(assets.folder), spooled: undefined }
  const spool = await DiskBlobs.open(join(dataDir, 'assets-spool'))
  const spooled = new SpooledBlobs(new S3Blobs(assets), spool)
  return { store: spooled, spooled }
}

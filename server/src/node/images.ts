/** Opens what images need: their jobs, their bytes, their conversion, and their worker. */
import { join } from 'node:path'
import { FairShare } from '#core/schedule/fair-share.ts'
import { tasksOf } from '#core/node/node-role.ts'
import type { Limits } from '#core/settings.ts'
import type { AssetDependencies } from '#http/gateway/images/assets.ts'
import type { ReadingBodyOutside } from '#http/gateway/caller/read-body.ts'
import type { ImagesDependencies } from '#http/gateway/images/images.ts'
import type { ReadingOutside } from '#http/gateway/images/read-request.ts'
import type { TermsInForce } from '#ports/keys.ts'
import type { Observer } from '#ports/observer.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { ImageDependencies } from '#request/images/image.ts'
import { RunningJobs } from '#request/images/running-jobs.ts'
import { WaitingCallers } from '#request/images/waiting-callers.ts'
import type { Dispatch } from '#request/traffic/dispatch.ts'
import { assetLinks } from '#runtime/asset-signature.ts'
import { wait, waitFor } from '#runtime/clock.ts'
import { jobKeysOf } from '#runtime/secret.ts'
import { MeasuredDisk } from '#runtime/disk-room.ts'
import { hashing } from '#runtime/hashing.ts'
import { WorkerImageCodec } from '#runtime/image-codec.ts'
import { sharedYield } from '#runtime/event-loop.ts'
import { placeOnce } from '#stores/blobs/place.ts'
import { SealedBlobs } from '#stores/blobs/sealed.ts'
import type { SpooledBlobs } from '#stores/blobs/spooled.ts'
import { DiskUploads } from '#stores/uploads/disk.ts'
import type { Log } from '#telemetry/log.ts'
import { every, type Repetition } from '#worker/every.ts'
import { startImageWorker, type ImageWorkerEvents } from '#worker/image-jobs.ts'
import type { Accounts } from './accounts.ts'
import { openBlobs } from './blobs.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import type { Stores } from './stores.ts'
import type { Upstreams } from './upstreams.ts'

/** Interval of attempts to move images from the spool to the store. */
const DRAIN_MS = 5000

interface ImageParts {
  readonly stores: Stores
  readonly accounts: Accounts
  readonly catalog: CatalogInForce
  readonly outside: { readonly observer: Observer }
  readonly upstreams: Upstreams
  readonly dispatch: Dispatch
  readonly terms: TermsInForce
  /** The address of the public listener, for links to images. */
  readonly publicUrl: string
}

export type Images = Awaited<ReturnType<typeof openImages>>

type ImagesOutside = Omit<ImageDependencies, keyof Accounts['money'] | 'bytesOf'> &
  Pick<AssetDependencies, 'linkOf' | 'verifyLink'> &
  Pick<ImagesDependencies, 'answerRoom'> &
  Omit<ReadingOutside, 'json' | keyof ReadingBodyOutside>

export async function openImages(basics: Basics, parts: ImageParts) {
  const { settings, log } = basics
  const { stores, accounts } = parts
  const blobs = await openBlobs(settings, basics.limits, basics.clock)
  const blobPlace = placeOnce(blobs.kept, () =>
    log.warn(
      'ASSETS_URL had pictures of others when Torana first used it, so Torana never deletes pictures there: ' +
        'give it a folder of its own, or see torana-place.txt in that folder',
    ),
  )
  // Marked before the first image comes, without waiting for a store that may be unreachable: it is asked again before a deletion.
  const marking = blobPlace().catch(() => {})
  const codec = new WorkerImageCodec()
  const sealed = new SealedBlobs(blobs.store, jobKeysOf(basics.secrets))
  /** For the gateway's handlers. */
  const forGateway: ImagesOutside = {
    ...(await imagesOutside(basics, parts)),
    blobs: sealed,
    codec,
    diskRoom: blobs.room,
  }
  const worker = startImageWorker(
    {
      ...forGateway,
      ...accounts.money,
      bytesOf: (text) => Buffer.byteLength(text),
      appendLate: stores.appendLate,
      takesOver: tasksOf(settings.role).doesChores,
      // A folder is each node's own; a bucket is looked through once for all nodes.
      isClockSteady: stores.isClockSteady,
      mustForgetBlobs: async () => settings.assets.kind === 'file' || stores.isEldest(),
      blobPlace,
      pulse: stores.pulse,
    },
    workerEvents(log),
  )
  const { spooled } = blobs
  if (spooled !== undefined) basics.metrics.node.readImageSpool(() => spooled.waiting())
  const draining = blobs.spooled && drainRepeatedly(blobs.spooled, log)
  return {
    forGateway,
    thumbnails: codec,
    /** The store of images, for a backup and for the doctor. */
    blobs,
    /** Waits up to `forMs` for the jobs in progress. */
    drain: (forMs: number) => waitFor(forGateway.running.settled(), forMs),
    async [Symbol.asyncDispose]() {
      await worker.stop()
      await marking
      await draining?.stop()
      await stores.imageJobs.release(stores.nodeId).catch((error: unknown) => {
        if (!(error instanceof StoreUnreachable)) throw error
      })
      await codec.close()
    },
  }
}

async function imagesOutside(
  { settings, secrets, limits, clock, identifiers, log }: Basics,
  { stores, catalog, upstreams, dispatch, outside, terms, publicUrl }: ImageParts,
): Promise<Omit<ImagesOutside, 'blobs' | 'codec' | 'diskRoom'>> {
  return {
    catalog: () => catalog.current,
    limits,
    terms,
    nodeId: stores.nodeId,
    running: new RunningJobs(limits, wait),
    waiting: new WaitingCallers(),
    wait,
    unended: (jobId, error) =>
      log.warn(
        { jobId, err: error },
        'the end of an image job could not be stored; a node will resume the job',
      ),
    imageUpstream: upstreams.imageUpstream,
    dispatch,
    fetcher: upstreams.fetcher,
    uploads: await DiskUploads.open(join(settings.dataDir, 'uploads'), {
      maxBytes: limits.uploadBytes,
      disk: new MeasuredDisk(settings.dataDir, limits.diskReserveBytes),
    }),
    // Hashing and writing 64 KB takes part of a millisecond: fifty forms must not take their turns at once.
    yieldOnArrival: sharedYield(4),
    memory: sharedMemory(limits),
    answerRoom: new FairShare({ capacity: ANSWER_BYTES, headroom: MEMORY_HEADROOM, maxWaiting: 0 }),
    jobs: stores.imageJobs,
    clock,
    identifiers,
    observer: outside.observer,
    hashing,
    unkept: (name, error) =>
      log.error({ name, err: error }, 'a paid image could not be stored; only the waiting client gets it'),
    ...assetLinks(secrets, { publicUrl, lifeMs: limits.assetLinkMs, nowMs: clock.nowMs }),
  }
}

/** A project gets at most three times the bytes that stay free: a call holds its bytes for minutes. */
const MEMORY_HEADROOM = 3

/** Bytes of images in answers that are written at the same time. Further images are read from the store, which takes longer. */
const ANSWER_BYTES = 64 * 1024 * 1024

/** Memory for images. Every call of every job may wait for it. */
function sharedMemory({ bufferedBytes, maxImageJobs, maxImages }: Limits): FairShare {
  const maxWaiting = maxImageJobs * maxImages
  return new FairShare({ capacity: bufferedBytes, headroom: MEMORY_HEADROOM, maxWaiting })
}

function workerEvents(log: Log): ImageWorkerEvents {
  return {
    tookOver: (jobId) => log.warn({ jobId }, 'this node resumes an image job of another process'),
    deleted: (counts) => log.info(counts, 'old image jobs and images were deleted'),
    failed(what, error) {
      if (!(error instanceof StoreUnreachable)) log.error({ what, err: error }, 'the image worker failed')
    },
  }
}

function drainRepeatedly(spooled: SpooledBlobs, log: Log): Repetition {
  return every(
    DRAIN_MS,
    async () => void (await spooled.drain()),
    (error) => {
      if (!(error instanceof StoreUnreachable))
        log.error({ err: error }, 'images in the spool could not be moved to ASSETS_URL')
    },
  )
}

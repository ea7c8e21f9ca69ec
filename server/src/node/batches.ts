/** Opens batches: what makes them of files, and the worker that runs them. */
import { CallSize } from '#core/schedule/call-size.ts'
import { tasksOf } from '#core/node/node-role.ts'
import { Semaphore } from '#core/structure/semaphore.ts'
import type { BatchesDependencies } from '#http/gateway/batches/batches.ts'
import { imageBody } from '#http/gateway/images/answer.ts'
import { fetchedMedia, readEmbeddingLine } from '#http/gateway/embeddings/read-line.ts'
import { readPictureLine } from '#http/gateway/images/read-line.ts'
import type { LargeJson } from '#ports/json.ts'
import type { TermsInForce } from '#ports/keys.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { InputBytes } from '#request/batches/input-bytes.ts'
import type { ChunkDependencies } from '#request/batches/run-chunk.ts'
import type { PictureDependencies } from '#request/batches/run-pictures.ts'
import type { EmbedOutside } from '#request/embeddings/outside.ts'
import { wait, waitFor } from '#runtime/clock.ts'
import { hashing } from '#runtime/hashing.ts'
import type { Log } from '#telemetry/log.ts'
import { BatchEndings } from '#worker/batch-endings.ts'
import { BatchWorker, type BatchWorkerEvents, type BatchWorkerParts } from '#worker/batches.ts'
import type { Basics } from './basics.ts'
import type { Blobs } from './blobs.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import type { Images } from './images.ts'
import type { SharedVectors } from './sharing.ts'
import type { Spaces } from './spaces.ts'
import type { Stores } from './stores.ts'
import type { Traffic } from './traffic.ts'

export interface BatchParts {
  readonly stores: Stores
  readonly blobs: Blobs
  readonly catalog: CatalogInForce
  readonly outside: EmbedOutside
  readonly traffic: Traffic
  readonly sharing: SharedVectors
  readonly spaces: Spaces
  readonly images: Images
  readonly json: LargeJson
  readonly terms: TermsInForce
  readonly publicUrl: string
}

export function openBatches(basics: Basics, parts: BatchParts) {
  const { settings, clock, identifiers, log } = basics
  const { stores, blobs, catalog } = parts
  const { batches, files } = stores
  const worker = tasksOf(settings.role).doesChores
    ? new BatchWorker(workerParts(parts, workerEvents(log)), workerEvents(log))
    : undefined
  return {
    forGateway: {
      forBatches: {
        batches,
        files,
        blobs: blobs.kept,
        catalog: () => catalog.current,
        clock,
        identifiers,
        hashing,
      },
    } satisfies Pick<BatchesDependencies, 'forBatches'>,
    /** Begins no further chunk, and waits up to `forMs` for those in progress. */
    drain: (forMs: number) => waitFor(worker?.stop() ?? Promise.resolve(), forMs),
    async [Symbol.asyncDispose]() {
      await worker?.stop()
    },
  }
}

function workerParts(parts: BatchParts, events: BatchWorkerEvents): BatchWorkerParts {
  const { nodeId, isEldest, isClockSteady, pulse } = parts.stores
  const forChunks = chunkDependencies(parts)
  return {
    ...forChunks,
    nodeId,
    mustForget: async () => isClockSteady() && (await isEldest()),
    knowsSpaces: () => parts.spaces.guard.hasRead,
    pulse,
    endings: new BatchEndings({
      batches: forChunks.batches,
      isEnder: isEldest,
      confirm: (deployment, largest) => parts.spaces.guard.confirm(deployment, largest),
      monotonicMs: () => parts.outside.clock.monotonicMs(),
      onTrouble: (error) => events.failed('end', error),
    }),
    forPictures: pictureDependencies(parts, forChunks),
  }
}

/** Answers with images in base64 that are made at once: each may have a hundred megabytes. */
const ASSEMBLED_AT_ONCE = 2

function pictureDependencies(
  { images, json, outside }: BatchParts,
  { batches, blobs, readInput, docsUrl }: ChunkDependencies,
): PictureDependencies {
  const { forGateway } = images
  const { linkOf } = forGateway
  return {
    ...outside,
    ...forGateway,
    batches,
    readInput,
    docsUrl,
    partBlobs: blobs,
    assembling: new Semaphore(ASSEMBLED_AT_ONCE),
    readLine: (endpoint, line, project) => readPictureLine(endpoint, line, project, { ...forGateway, json }),
    answerOf: ({ result, ...about }, untilMs) =>
      imageBody(result, about, { ...outside, ...forGateway, linkOf: (id) => linkOf(id, untilMs) }),
  }
}

function chunkDependencies(parts: BatchParts): ChunkDependencies {
  const { stores, blobs, catalog, outside, traffic, sharing, spaces, terms, publicUrl } = parts
  const { files, batches } = stores
  const { dispatch } = traffic
  const callSize = new CallSize()
  const input = new InputBytes(files, blobs.kept)
  const forLines = { ...parts.images.forGateway, json: parts.json }
  return {
    ...outside,
    catalog: () => catalog.current,
    dispatch,
    sharingOf: sharing.sharingOf,
    spaceNow: spaces.spaceNow,
    isQuarantined: (model, deployment) => spaces.guard.isOutside(model, deployment),
    batches,
    blobs: blobs.kept,
    diskRoom: blobs.room,
    readInput: (fileId, range) => input.read(fileId, range),
    readLine: (line, project) => readEmbeddingLine(line, project, forLines),
    fetchedMedia: (project) => fetchedMedia(project, forLines),
    callInputs: () => callSize.next(dispatch, outside.clock.monotonicMs()),
    docsUrl: () => publicUrl,
    terms,
    wait,
  }
}

function workerEvents(log: Log): BatchWorkerEvents {
  return {
    tookOver: (hold) => log.info(hold, 'a chunk of a batch is taken up again'),
    cancelled: (batchId, because) => log.warn({ batchId, because }, 'a batch was cancelled'),
    forgot: (count) => log.info({ batches: count }, 'old batches were deleted'),
    failed(what, error) {
      if (!(error instanceof StoreUnreachable)) log.error({ what, err: error }, 'the batch worker failed')
    },
  }
}

/** Makes a batch of a file from the scan that was done when the file arrived, without reading it again. */
import { canonicalBatch, isOfPictures, type BatchRequest } from '#core/batch/request.ts'
import type { Catalog } from '#core/catalog/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { fileIdOf } from '#core/files/blob-names.ts'
import type { FileScan } from '#core/files/scan-result.ts'
import type { Actor } from '#ports/audit.ts'
import type { Batch, BatchError, Batches } from '#ports/batches.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { Files } from '#ports/files.ts'
import type { Hashing } from '#runtime/hashing.ts'
import type { Key } from '#ports/keys.ts'
import { findEmbeddingModel, findImageModel } from '../access/find-model.ts'
import { storedKey } from '../access/stored-key.ts'
import { chunksOf } from '../files/content.ts'

export interface CreateDependencies {
  readonly batches: Batches
  readonly files: Files
  readonly blobs: BlobStore
  readonly catalog: () => Catalog
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly hashing: Hashing
}

export interface CreateOptions {
  readonly key: Key
  readonly idempotencyKey: string | undefined
  readonly isRetry: boolean
  /** The person who makes it in the console: the audit keeps who it was. */
  readonly by?: Actor | undefined
}

/** Open batches of a project. Every claim looks at each of them; larger files hold more work. */
const MAX_OPEN = 1000
/** Retry time of a caller whose project has too many open batches: one of them may have ended by then. */
const FULL_RETRY_MS = 60_000
/** Time for which the input's bytes are kept after the window, for the worker that expires the remaining lines. */
const AFTER_WINDOW_MS = 24 * 3_600_000

export async function createBatch(
  asked: BatchRequest,
  { key, idempotencyKey, isRetry, by }: CreateOptions,
  dependencies: CreateDependencies,
): Promise<Batch> {
  const { batches, files, blobs, clock, identifiers, hashing } = dependencies
  const id = `batch_${identifiers.next().replaceAll('-', '')}`
  const untilMs = clock.nowMs() + asked.windowMs + AFTER_WINDOW_MS
  const file = await files.hold(asked.inputFileId, key.project, { holder: id, untilMs })
  const scan = file?.source.kind === 'uploaded' ? await files.scan(file.id) : undefined
  // No batch will read the bytes.
  if (file !== undefined && scan === undefined) await files.release(file.id, id)
  if (file !== undefined && file.source.kind !== 'uploaded')
    throw new Fault(
      'invalid_parameter',
      `File '${file.id}' has the purpose '${file.purpose}'. Send the id of a file with the purpose 'batch'.`,
      { param: 'input_file_id' },
    )
  if (file === undefined || scan === undefined)
    throw new Fault(
      'not_found',
      `There is no file '${asked.inputFileId.slice(0, 80)}' in project '${key.project}'.`,
      { param: 'input_file_id' },
    )
  const errors = errorsOf(scan, asked.endpoint, key, dependencies.catalog())
  const [first] = scan.models
  const created = await batches.create(
    {
      id,
      project: key.project,
      keyId: key.id,
      player: key.player,
      terms: JSON.stringify(storedKey(key)),
      endpoint: asked.endpoint,
      inputFileId: file.id,
      outputFileId: fileIdOf(identifiers.next()),
      errorFileId: fileIdOf(identifiers.next()),
      model: scan.models.length === 1 ? first?.model : undefined,
      digest: hashing.sha256OfText(canonicalBatch(asked)),
      idempotencyKey,
      isRetry,
      windowMs: asked.windowMs,
      metadata: asked.metadata,
      tags: asked.tags,
      resultsKeptMs: asked.resultsKeptMs,
      chunks: errors.length > 0 ? [] : await chunksOf(file.id, blobs),
      errors,
    },
    MAX_OPEN,
    by,
  )
  // Only a running batch needs the bytes.
  if (created.kind !== 'created' || created.batch.state === 'failed') await files.release(file.id, id)
  if (created.kind === 'too-many') throw tooManyBatches(key.project)
  if (created.kind === 'conflict')
    throw new Fault(
      'idempotency_key_reused',
      'This Idempotency-Key was used for another batch. Send a new key for another batch.',
    )
  return created.batch
}

function tooManyBatches(project: string): Fault {
  return new Fault(
    'too_many_batches',
    `Project '${project}' has ${MAX_OPEN} batches that have not ended, which is as many as it may have.`,
    { retryAfterMs: FULL_RETRY_MS },
  )
}

/** The first error of each kind is enough to show what is wrong. */
function errorsOf(scan: FileScan, endpoint: string, key: Key, catalog: Catalog): readonly BatchError[] {
  const errors: BatchError[] = scan.errors.map(({ code, message, param, line }) => ({
    code,
    message,
    param: param ?? undefined,
    line: line ?? undefined,
  }))
  if (errors.length > 0) return errors
  if (scan.url !== undefined && scan.url !== endpoint)
    return [
      {
        code: 'url_mismatch',
        message: `The lines name the url '${scan.url}', and the batch is for '${endpoint}'.`,
        param: 'url',
        line: 1,
      },
    ]
  for (const { model, firstLine } of scan.models) {
    try {
      if (isOfPictures(endpoint)) findImageModel(model, key, catalog)
      else findEmbeddingModel(model, key, catalog)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      errors.push({ code: 'model_not_found', message: error.message, param: 'body.model', line: firstLine })
    }
  }
  return errors
}

/** A file uploaded in parts: begun, added to, completed in the order that its sender names, or cancelled. */
import { Fault } from '#core/fault/fault.ts'
import { chunksBlobName, fileBlobName, fileFolder, fileIdOf } from '#core/files/blob-names.ts'
import type { Clock } from '#ports/clock.ts'
import type { FileUpload, FileUploads, UploadPart } from '#ports/file-uploads.ts'
import type { StoredFile } from '#ports/files.ts'
import type { Key } from '#ports/keys.ts'
import { beginFile, receiveBytes, roomFor, type FilesOutside } from './arriving-file.ts'
import { bytesOf, segmentsWithin } from './content.ts'
import { SegmentWriter } from './segment-writer.ts'

export interface UploadsOutside extends FilesOutside {
  readonly fileUploads: FileUploads
  readonly clock: Clock
}

export interface UploadWish {
  readonly filename: string
  readonly bytes: number
  readonly expiresAfterMs: number
}

/** OpenAI's own limits: an hour, 64 MB per part. */
const UPLOAD_MS = 3_600_000
const MAX_PART_BYTES = 64 * 1024 * 1024
/** Parts of an upload: 8 GB in parts of one megabyte. */
const MAX_PARTS = 8192
/**
 * Largest ratio of received to announced bytes. A part may be sent twice when its answer was lost; bytes
 * beyond the announced ones need further quota.
 */
const MAX_SENT_RATIO = 2

export async function beginUpload(key: Key, wish: UploadWish, outside: UploadsOutside): Promise<FileUpload> {
  const { fileUploads, identifiers, clock, limits } = outside
  if (wish.bytes > limits.uploadFileBytes)
    throw new Fault(
      'file_too_large',
      `File is too large. bytes is ${wish.bytes}; at most ${limits.uploadFileBytes} are allowed.`,
      { param: 'bytes' },
    )
  const fileId = await beginFile(key, wish.bytes, outside)
  const createdAtMs = clock.nowMs()
  const upload: FileUpload = {
    id: plainId('upload', identifiers.next()),
    project: key.project,
    keyId: key.id,
    player: key.player,
    fileId,
    ...wish,
    createdAtMs,
    expiresAtMs: createdAtMs + UPLOAD_MS,
    state: 'pending',
  }
  await fileUploads.begin(upload)
  return upload
}

/** Throws a fault unless parts may be added and the upload may be completed. */
export function checkPending({ id, state, expiresAtMs }: FileUpload, { clock }: UploadsOutside): void {
  const now = state === 'pending' && clock.nowMs() >= expiresAtMs ? 'expired' : state
  if (now === 'pending') return
  throw new Fault('upload_not_pending', `Upload ${id} is ${now}. Begin another one.`)
}

export async function addPart(
  upload: FileUpload,
  source: AsyncIterable<Uint8Array>,
  outside: UploadsOutside,
): Promise<UploadPart> {
  const { files, fileUploads, fileBlobs, identifiers, clock } = outside
  checkPending(upload, outside)
  using _ = await roomFor(upload.project, outside)
  const id = plainId('part', identifiers.next())
  const file = { id: upload.fileId, project: upload.project }
  let takenBytes = 0
  const writer = new SegmentWriter({
    blobs: fileBlobs,
    nameOf: (segment) => fileBlobName(upload.fileId, `${id}-${segment}`),
    takeRoom: async (bytes) => {
      if ((await receiveBytes(file, bytes, outside)) === 'over') throw endedMeanwhile(upload)
      takenBytes += bytes
    },
    kept: async () => {},
  })
  try {
    for await (const chunk of source) {
      if (writer.bytes + chunk.length > MAX_PART_BYTES)
        throw new Fault('file_too_large', `The part has more than ${MAX_PART_BYTES} bytes.`, {
          param: 'data',
        })
      if (writer.bytes + chunk.length > upload.bytes)
        throw new Fault(
          'upload_mismatch',
          `The part has more than the ${upload.bytes} bytes that the upload announced.`,
          { param: 'data' },
        )
      await writer.write(chunk)
    }
    const segments = await writer.finish()
    if (writer.bytes === 0) throw new Fault('invalid_parameter', 'data is empty.', { param: 'data' })
    const part = { id, uploadId: upload.id, bytes: writer.bytes, segments, createdAtMs: clock.nowMs() }
    const bounds = { maxParts: MAX_PARTS, maxBytes: upload.bytes * MAX_SENT_RATIO }
    const added = await fileUploads.addPart(part, bounds)
    if (added === 'added') return part
    if (added === 'over') throw endedMeanwhile(upload)
    throw new Fault(
      'upload_mismatch',
      `The parts of this upload have more than twice the ${upload.bytes} bytes that it announced, or are more than ${MAX_PARTS}.`,
      { param: 'data' },
    )
  } catch (error) {
    await writer.stop()
    for (const { blob } of writer.segments) await fileBlobs.delete(blob)
    await files.giveBack(file.id, takenBytes)
    throw error
  }
}

/** Reads all parts in their order. Completing the same parts again returns the same answer. */
export async function completeUpload(
  upload: FileUpload,
  { partIds, md5 }: { readonly partIds: readonly string[]; readonly md5: string | undefined },
  outside: UploadsOutside,
): Promise<StoredFile> {
  const { files, fileUploads, fileBlobs, scanning } = outside
  if (upload.state === 'completed') {
    const file = await files.find(upload.fileId, upload.project)
    if (file !== undefined) return file
  }
  checkPending(upload, outside)
  const parts = inOrder(partIds, await fileUploads.parts(upload.id))
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  if (bytes !== upload.bytes)
    throw new Fault('upload_mismatch', `The parts have ${bytes} bytes; the upload announced ${upload.bytes}.`)
  const segments = parts.flatMap((part) => part.segments)
  using _ = await roomFor(upload.project, outside)
  const reading = scanning.begin({
    project: upload.project,
    again: (count) => bytesOf(segmentsWithin(segments, { first: 0, last: count - 1 }), fileBlobs),
  })
  try {
    // A copy, because the store may keep the buffer that it returned.
    for await (const part of bytesOf(segments, fileBlobs)) await reading.push(new Uint8Array(part))
    const { sha256, md5: found, scan, chunkList } = await reading.finish()
    if (md5 !== undefined && md5.toLowerCase() !== found)
      throw new Fault('upload_mismatch', 'The parts have another md5 than the one that was sent.', {
        param: 'md5',
      })
    const list = new TextEncoder().encode(chunkList)
    const { fileId: id, project, filename, expiresAfterMs } = upload
    if ((await receiveBytes({ id, project }, list.length, outside)) === 'over') throw endedMeanwhile(upload)
    await fileBlobs.put(chunksBlobName(id), list)
    const about = { purpose: 'batch', filename, sha256, scan, expiresAfterMs } as const
    const arrived = { ...about, bytes, segments, keptBytes: bytes + list.length }
    const file = await files.arrived(upload.fileId, arrived)
    const ended = await fileUploads.end(upload.id, 'completed')
    if (file === undefined || ended?.state !== 'completed') {
      await files.delete(upload.fileId, upload.project)
      throw endedMeanwhile(upload)
    }
    await deleteUnused(upload.fileId, new Set(segments.map(({ blob }) => blob)), outside)
    return file
  } finally {
    await reading.discard()
  }
}

/** Deletes the bytes with the file, which no caller has seen. */
export async function cancelUpload(upload: FileUpload, outside: UploadsOutside): Promise<FileUpload> {
  const { fileUploads, files } = outside
  checkPending(upload, outside)
  const ended = await fileUploads.end(upload.id, 'cancelled')
  if (ended?.state !== 'cancelled') throw endedMeanwhile(upload)
  await files.giveUp(upload.fileId)
  return ended
}

function endedMeanwhile({ id }: FileUpload): Fault {
  return new Fault('upload_not_pending', `Upload ${id} has ended meanwhile. Begin another one.`)
}

function inOrder(partIds: readonly string[], parts: readonly UploadPart[]): readonly UploadPart[] {
  const byId = new Map(parts.map((part) => [part.id, part]))
  return partIds.map((id) => {
    const part = byId.get(id)
    // An id that is named twice counts once.
    byId.delete(id)
    if (part === undefined)
      throw new Fault(
        'invalid_parameter',
        `part_ids names '${id.slice(0, 80)}', which is not a part of this upload, or names it twice.`,
        { param: 'part_ids' },
      )
    return part
  })
}

/** Deletes parts that were sent but not named. */
async function deleteUnused(
  fileId: string,
  used: ReadonlySet<string>,
  { fileBlobs }: UploadsOutside,
): Promise<void> {
  const limit = 1000
  for (let after: string | undefined; ;) {
    const listed = await fileBlobs.list({ prefix: fileFolder(fileId), after, limit })
    for (const { name } of listed)
      if (!used.has(name) && name !== chunksBlobName(fileId)) await fileBlobs.delete(name)
    if (listed.length < limit) return
    after = listed.at(-1)?.name
  }
}

function plainId(kind: 'upload' | 'part', uuid: string): string {
  return fileIdOf(uuid).replace('file-', `${kind}_`)
}

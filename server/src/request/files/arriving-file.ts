/**
 * One file while it is uploaded: its bytes go into the store and through the scanning process. At the end the
 * file exists or leaves nothing behind.
 */
import { Fault } from '#core/fault/fault.ts'
import type { FairShare } from '#core/schedule/fair-share.ts'
import { chunksBlobName, fileBlobName, fileFolder, fileIdOf } from '#core/files/blob-names.ts'
import type { FileWish } from '#core/files/create.ts'
import type { Limits } from '#core/settings.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { Identifiers } from '#ports/clock.ts'
import { FileUnreadable, type FileReading, type FileScanning } from '#ports/file-scan.ts'
import type { BegunFile, Files, FileSegment, StoredFile } from '#ports/files.ts'
import type { Key } from '#ports/keys.ts'
import { DiskLow, type DiskRoom } from '#ports/disk-room.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { diskFault } from './disk-fault.ts'
import { bytesOf, segmentsWithin } from './content.ts'
import { deleteFolder } from './delete-folder.ts'
import { SegmentWriter } from './segment-writer.ts'

export interface FilesOutside {
  readonly files: Files
  /** The store that all nodes share, without a disk in front of it: a file that only one node can read is useless. */
  readonly fileBlobs: BlobStore
  /** The disk that holds them. */
  readonly diskRoom: DiskRoom
  /** Slots for files that arrive concurrently: each holds two segments in memory. */
  readonly fileRoom: FairShare
  readonly limits: Limits
  readonly scanning: FileScanning
  readonly identifiers: Identifiers
  readonly wait: (ms: number) => Promise<unknown>
}

/** Longest wait for a slot: slots are freed within seconds. */
const ROOM_WAIT_MS = 5000

/** A file of which bytes arrive. Must be completed or discarded. */
export class ArrivingFile {
  readonly #id: string
  readonly #project: string
  readonly #outside: FilesOutside
  readonly #place: Disposable
  readonly #reading: FileReading
  readonly #writer: SegmentWriter
  #keptBytes = 0

  private constructor(
    { id, project }: Pick<BegunFile, 'id' | 'project'>,
    place: Disposable,
    outside: FilesOutside,
  ) {
    this.#id = id
    this.#project = project
    this.#place = place
    this.#outside = outside
    const { fileBlobs, scanning } = outside
    this.#writer = new SegmentWriter({
      blobs: fileBlobs,
      nameOf: (segment) => fileBlobName(id, String(segment)),
      takeRoom: (bytes) => this.#takeRoom(bytes),
      kept: (segment) => this.#reading.push(segment),
    })
    const { segments } = this.#writer
    this.#reading = scanning.begin({
      project,
      again: (bytes) => bytesOf(segmentsWithin(segments, { first: 0, last: bytes - 1 }), fileBlobs),
    })
  }

  /** `announcedBytes`: lower bound of the file's size. */
  static async begin(key: Key, announcedBytes: number, outside: FilesOutside): Promise<ArrivingFile> {
    const place = await roomFor(key.project, outside)
    try {
      const id = await beginFile(key, announcedBytes, outside)
      return new ArrivingFile({ id, project: key.project }, place, outside)
    } catch (error) {
      place[Symbol.dispose]()
      throw fileFault(error)
    }
  }

  async write(chunk: Uint8Array): Promise<void> {
    const { fileBytes } = this.#outside.limits
    if (this.#writer.bytes + chunk.length > fileBytes)
      throw new Fault('file_too_large', `File is too large. It has more than ${fileBytes} bytes.`, {
        param: 'file',
      })
    try {
      await this.#writer.write(chunk)
    } catch (error) {
      throw fileFault(error)
    }
  }

  async complete(filename: string, { purpose, expiresAfterMs }: FileWish): Promise<StoredFile> {
    const { files, fileBlobs } = this.#outside
    try {
      const segments = await this.#writer.finish()
      const { sha256, scan, chunkList } = await this.#reading.finish()
      const list = new TextEncoder().encode(chunkList)
      await this.#takeRoom(list.length)
      await fileBlobs.put(chunksBlobName(this.#id), list)
      const about = { purpose, filename, sha256, scan, expiresAfterMs }
      const arrived = { ...about, bytes: this.#writer.bytes, keptBytes: this.#keptBytes, segments }
      const file = await files.arrived(this.#id, arrived)
      // It was given up meanwhile.
      if (file === undefined) throw tookTooLong()
      this.#place[Symbol.dispose]()
      return file
    } catch (error) {
      throw fileFault(error)
    }
  }

  /** Bytes that can't be deleted now are deleted with the file's row, `ARRIVAL_MS` later. */
  async discard(): Promise<void> {
    const { files, fileBlobs } = this.#outside
    try {
      await this.#reading.discard()
      await this.#writer.stop()
      await deleteFolder(fileFolder(this.#id), fileBlobs)
      await files.forgotten(this.#id)
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
    } finally {
      this.#place[Symbol.dispose]()
    }
  }

  async #takeRoom(bytes: number): Promise<void> {
    const received = await receiveBytes({ id: this.#id, project: this.#project }, bytes, this.#outside)
    if (received === 'over') throw tookTooLong()
    this.#keptBytes += bytes
  }
}

/** Takes a slot for a file that arrives on this node. */
export async function roomFor(
  project: string,
  { fileRoom, wait }: Pick<FilesOutside, 'fileRoom' | 'wait'>,
): Promise<Disposable> {
  const place = await fileRoom.takeBefore(project, 1, () => wait(ROOM_WAIT_MS))
  if (place !== undefined) return place
  throw new Fault(
    'too_many_files_at_once',
    `This node has no memory for another file of project '${project}'. Retry.`,
    { retryAfterMs: ROOM_WAIT_MS },
  )
}

/** The id of a file that may arrive from here on. */
export async function beginFile(
  { project, id: keyId }: Pick<Key, 'id' | 'project'>,
  announcedBytes: number,
  {
    files,
    identifiers,
    limits,
    diskRoom,
  }: Pick<FilesOutside, 'files' | 'identifiers' | 'limits' | 'diskRoom'>,
): Promise<string> {
  await diskRoom.admit(announcedBytes)
  const id = fileIdOf(identifiers.next())
  const bounds = { maxFiles: limits.maxFiles, maxBytes: limits.filesBytes }
  const begun = await files.begin({ id, project, keyId, announcedBytes }, bounds)
  if (begun === 'begun') return id
  if (begun === 'too-many-bytes') throw await noRoomFor(project, announcedBytes, { files, limits })
  throw new Fault(
    'too_many_files',
    `Project '${project}' keeps ${limits.maxFiles} files already, which is the most it may. Delete files that you no longer need.`,
  )
}

/** Reserves quota for bytes of a file that arrives. `over` means that the file was given up meanwhile. */
export async function receiveBytes(
  { id, project }: Pick<BegunFile, 'id' | 'project'>,
  bytes: number,
  { files, limits, diskRoom }: Pick<FilesOutside, 'files' | 'limits' | 'diskRoom'>,
): Promise<'received' | 'over'> {
  await diskRoom.admit(bytes)
  const received = await files.receive(id, bytes, { maxBytes: limits.filesBytes })
  if (received === 'too-many-bytes') throw await noRoomFor(project, bytes, { files, limits })
  return received
}

async function noRoomFor(
  project: string,
  bytes: number,
  { files, limits }: Pick<FilesOutside, 'files' | 'limits'>,
): Promise<Fault> {
  const kept = await files.kept(project)
  return noRoom(`${kept.bytes} bytes`, { project, bytes }, limits)
}

/** `keeps`: the project's stored bytes and files, and its limits. */
export function noRoom(
  keeps: string,
  { project, bytes }: { readonly project: string; readonly bytes: number },
  { filesBytes }: Limits,
): Fault {
  const more = bytes === 0 ? 'more' : `${bytes} more`
  return new Fault(
    'too_many_files',
    `Project '${project}' keeps ${keeps}, counting files, uploads in progress and results of batches. There is no room for ${more}: it may keep ${filesBytes}. Delete files that you no longer need.`,
  )
}

function tookTooLong(): Fault {
  return new Fault('request_timeout', 'The file took longer to arrive than a file may. Send it again.')
}

/** Where the bytes of a file are, for uploaded files and results of batches alike. */
export type SegmentsOf = (file: StoredFile) => Promise<readonly FileSegment[]>

export function fileFault(error: unknown): unknown {
  if (error instanceof DiskLow) return diskFault(error)
  if (error instanceof FileUnreadable)
    return new Fault(
      'file_unreadable',
      'Torana stopped reading this file, since that took more memory or time than one file may take. Nothing of it is kept. Split it, or shorten its lines.',
      { param: 'file', cause: error },
    )
  if (!(error instanceof StoreUnreachable)) return error
  return new Fault('file_store_unreachable', 'Torana cannot reach the store of files. Retry.', {
    cause: error,
  })
}

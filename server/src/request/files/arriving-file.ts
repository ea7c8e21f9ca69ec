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
import { FileUnreadable, type FileScanning, type ReadFile } from '#ports/file-scan.ts'
import type { BegunFile, Files, FileSegment, StoredFile } from '#ports/files.ts'
import type { Key } from '#ports/keys.ts'
import { CorpusProblem } from '#ports/corpus.ts'
import { DiskLow, type DiskRoom } from '#ports/disk-room.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { diskFault } from './disk-fault.ts'
import { bytesOf, segmentsWithin } from './content.ts'
import { deleteFolder } from './delete-folder.ts'
import { SegmentWriter } from './segment-writer.ts'

export interface ArrivingOutside {
  readonly files: Files
  /** The store that all nodes share, without a disk in front of it: a file that only one node can read is useless. */
  readonly fileBlobs: BlobStore
  /** The disk that holds them. */
  readonly diskRoom: DiskRoom
  /** Slots for files that arrive concurrently: each holds two segments in memory. */
  readonly fileRoom: FairShare
  readonly limits: Limits
  readonly identifiers: Identifiers
  readonly wait: (ms: number) => Promise<unknown>
}

export interface FilesOutside extends ArrivingOutside {
  readonly scanning: FileScanning
}

/** Longest wait for a slot: slots are freed within seconds. */
const ROOM_WAIT_MS = 5000

/** How the bytes of a file are read as they arrive. */
export interface ArrivingReading<Read> {
  push(piece: Uint8Array<ArrayBuffer>): Promise<void>
  finish(): Promise<Read>
  discard(): Promise<void>
}

/** The bytes that are kept of a file, and what reading them found. */
export interface ArrivedBytes<Read> {
  readonly bytes: number
  /** With those of blobs beside its own. */
  readonly keptBytes: number
  readonly segments: readonly FileSegment[]
  readonly read: Read
}

/** A file of which bytes arrive. Must be completed or discarded. */
export class ArrivingBytes<Read> {
  readonly id: string
  readonly #project: string
  readonly #outside: ArrivingOutside
  readonly #place: Disposable
  readonly #reading: ArrivingReading<Read>
  readonly #writer: SegmentWriter
  #keptBytes = 0

  protected constructor(
    { id, project, place }: BegunBytes,
    outside: ArrivingOutside,
    reading: (segments: readonly FileSegment[]) => ArrivingReading<Read>,
  ) {
    this.id = id
    this.#project = project
    this.#place = place
    this.#outside = outside
    this.#writer = new SegmentWriter({
      blobs: outside.fileBlobs,
      nameOf: (segment) => fileBlobName(id, String(segment)),
      takeRoom: (bytes) => this.#takeRoom(bytes),
      kept: (segment) => this.#reading.push(segment),
    })
    this.#reading = reading(this.#writer.segments)
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

  /** Bytes that can't be deleted now are deleted with the file's row, `ARRIVAL_MS` later. */
  async discard(): Promise<void> {
    const { files, fileBlobs } = this.#outside
    try {
      await this.#reading.discard()
      await this.#writer.stop()
      await deleteFolder(fileFolder(this.id), fileBlobs)
      await files.forgotten(this.id)
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
    } finally {
      this.#place[Symbol.dispose]()
    }
  }

  /** `beside`: a blob that is kept of what was read. `complete` returns undefined when the file was given up meanwhile. */
  protected async completed<File>(
    beside: (read: Read) => { readonly name: string; readonly text: string },
    complete: (arrived: ArrivedBytes<Read>) => Promise<File | undefined>,
  ): Promise<File> {
    try {
      const segments = await this.#writer.finish()
      const read = await this.#reading.finish()
      const { name, text } = beside(read)
      const kept = new TextEncoder().encode(text)
      await this.#takeRoom(kept.length)
      await this.#outside.fileBlobs.put(name, kept)
      const bytes = this.#writer.bytes
      const file = await complete({ bytes, keptBytes: this.#keptBytes, segments, read })
      if (file === undefined) throw tookTooLong()
      this.#place[Symbol.dispose]()
      return file
    } catch (error) {
      throw fileFault(error)
    }
  }

  async #takeRoom(bytes: number): Promise<void> {
    const received = await receiveBytes({ id: this.id, project: this.#project }, bytes, this.#outside)
    if (received === 'over') throw tookTooLong()
    this.#keptBytes += bytes
  }
}

/** A file of requests. */
export class ArrivingFile extends ArrivingBytes<ReadFile> {
  readonly #files: Files

  private constructor(begun: BegunBytes, outside: FilesOutside) {
    super(begun, outside, (segments) =>
      outside.scanning.begin({
        project: begun.project,
        again: (bytes) => bytesOf(segmentsWithin(segments, { first: 0, last: bytes - 1 }), outside.fileBlobs),
      }),
    )
    this.#files = outside.files
  }

  /** `announcedBytes`: lower bound of the file's size. */
  static async begin(key: Key, announcedBytes: number, outside: FilesOutside): Promise<ArrivingFile> {
    return new ArrivingFile(await beginBytes(key, announcedBytes, outside), outside)
  }

  complete(filename: string, { purpose, expiresAfterMs }: FileWish): Promise<StoredFile> {
    return this.completed(
      ({ chunkList }) => ({ name: chunksBlobName(this.id), text: chunkList }),
      ({ read: { sha256, scan }, ...arrived }) =>
        this.#files.arrived(this.id, { ...arrived, purpose, filename, sha256, scan, expiresAfterMs }),
    )
  }
}

export interface BegunBytes {
  readonly id: string
  readonly project: string
  /** The slot of the file on this node. */
  readonly place: Disposable
}

/** `announcedBytes`: lower bound of the file's size. */
export async function beginBytes(
  owner: Pick<Key, 'id' | 'project'>,
  announcedBytes: number,
  outside: ArrivingOutside,
): Promise<BegunBytes> {
  const place = await roomFor(owner.project, outside)
  try {
    return { id: await beginFile(owner, announcedBytes, outside), project: owner.project, place }
  } catch (error) {
    place[Symbol.dispose]()
    throw fileFault(error)
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
  }: Pick<ArrivingOutside, 'files' | 'identifiers' | 'limits' | 'diskRoom'>,
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
  if (error instanceof CorpusProblem) return new Fault('invalid_parameter', error.message, { param: 'file' })
  if (!(error instanceof StoreUnreachable)) return error
  return new Fault('file_store_unreachable', 'Torana cannot reach the store of files. Retry.', {
    cause: error,
  })
}

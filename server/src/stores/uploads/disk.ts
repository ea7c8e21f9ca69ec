import { createHash, randomBytes } from 'node:crypto'
import { lstat, mkdir, open, readdir, rm, type FileHandle } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ENDLESS_ROOM, type DiskRoom } from '#ports/disk-room.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { Upload, Uploads, UploadWriter } from '#ports/uploads.ts'

/** Bytes of one read: what a slow reader holds in memory, and enough to fill a network. */
const PART_BYTES = 64 * 1024

/** The name of a file until it is unlinked, which is before its first byte is written. */
const NAME = /^[0-9a-f]{32}$/

/** Bytes between two checks of the disk: files arrive in parts of 64 KB, and a check takes as long as writing one. */
const LOOK_BYTES = 4 * 1024 * 1024

interface UploadsRoom {
  /** Limit for all files together. */
  readonly maxBytes: number
  readonly disk?: DiskRoom
}

/** The space that the files of one folder take together. */
class Space {
  readonly folder: string
  readonly #maxBytes: number
  readonly #disk: DiskRoom
  files = 0
  bytes = 0
  #unseenBytes = LOOK_BYTES

  constructor(folder: string, { maxBytes, disk = ENDLESS_ROOM }: UploadsRoom) {
    this.folder = folder
    this.#maxBytes = maxBytes
    this.#disk = disk
  }

  take(bytes: number): void {
    if (this.bytes + bytes > this.#maxBytes)
      throw new StoreUnreachable(
        `${this.folder}: uploads hold ${this.bytes} of ${this.#maxBytes} bytes already`,
      )
    this.bytes += bytes
  }

  /** Rejects with `DiskLow` when the disk has too little space for them. Taken space stays taken until its file is discarded. */
  async look(bytes: number): Promise<void> {
    this.#unseenBytes += bytes
    if (this.#unseenBytes < LOOK_BYTES) return
    await this.#disk.admit(bytes)
    this.#unseenBytes = 0
  }

  async away<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error)) throw error
      throw new StoreUnreachable(`${this.folder}: ${error.message}`, { cause: error })
    }
  }
}

/** Unlinked files: the system deletes them with the process, however it ends. */
export class DiskUploads implements Uploads {
  readonly #space: Space

  private constructor(space: Space) {
    this.#space = space
  }

  /**
   * Creates the folder, and deletes what a process left that was killed before it could unlink its file: an empty file with a name of
   * ours. All other files are foreign.
   */
  static async open(folder: string, room: UploadsRoom): Promise<DiskUploads> {
    const space = new Space(resolve(folder), room)
    return space.away(async () => {
      await mkdir(space.folder, { recursive: true, mode: 0o700 })
      for (const entry of await readdir(space.folder)) {
        if (!NAME.test(entry)) continue
        const path = join(space.folder, entry)
        // Undefined if another process of this folder has just unlinked it.
        const left = await lstat(path).catch(() => undefined)
        if (left?.isFile() && left.size === 0) await rm(path, { force: true })
      }
      return new DiskUploads(space)
    })
  }

  async create(): Promise<UploadWriter> {
    const space = this.#space
    return space.away(async () => {
      const path = join(space.folder, randomBytes(16).toString('hex'))
      const handle = await open(path, 'wx+', 0o600)
      try {
        await rm(path, { force: true })
      } catch (error) {
        await handle.close()
        throw error
      }
      return new DiskUpload(handle, space)
    })
  }

  inUse(): { readonly files: number; readonly bytes: number } {
    const { files, bytes } = this.#space
    return { files, bytes }
  }
}

class DiskUpload implements UploadWriter, Upload {
  readonly #handle: FileHandle
  readonly #space: Space
  readonly #hash = createHash('sha256')
  #closing: Promise<void> | undefined
  #isFinished = false
  size = 0
  sha256 = ''

  constructor(handle: FileHandle, space: Space) {
    this.#handle = handle
    this.#space = space
    space.files += 1
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#checkOpen()
    if (this.#isFinished) throw new Error('an upload was written to after its end')
    this.#space.take(chunk.length)
    const start = this.size
    this.size += chunk.length
    this.#hash.update(chunk)
    await this.#space.look(chunk.length)
    await this.#space.away(async () => {
      for (let done = 0; done < chunk.length;) {
        this.#checkOpen()
        const { bytesWritten } = await this.#handle.write(chunk, done, chunk.length - done, start + done)
        done += bytesWritten
      }
    })
  }

  async finish(): Promise<Upload> {
    this.#checkOpen()
    if (this.#isFinished) throw new Error('an upload was ended twice')
    this.#isFinished = true
    this.sha256 = this.#hash.digest('hex')
    return this
  }

  async *open(start = 0, end = this.size): AsyncGenerator<Uint8Array> {
    for (let position = start; position < end;) {
      // Each part belongs to the reader, to keep or to pass on to a socket: no buffer is reused.
      const part = Buffer.allocUnsafeSlow(Math.min(PART_BYTES, end - position))
      const bytesRead = await this.#read(part, position)
      position += bytesRead
      yield bytesRead === part.length ? part : part.subarray(0, bytesRead)
    }
    // A late reader must not take the end of the handle for the end of the file.
    this.#checkOpen()
  }

  discard(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #read(part: Buffer<ArrayBuffer>, position: number): Promise<number> {
    this.#checkOpen()
    const { bytesRead } = await this.#space.away(() => this.#handle.read(part, 0, part.length, position))
    this.#checkOpen()
    if (bytesRead === 0)
      throw new StoreUnreachable(`${this.#space.folder}: a file ends at ${position} of ${this.size} bytes`)
    return bytesRead
  }

  /** The system waits for operations in progress before it gives the number of the handle to another file. */
  async #close(): Promise<void> {
    try {
      await this.#space.away(() => this.#handle.close())
    } finally {
      this.#space.files -= 1
      this.#space.bytes -= this.size
    }
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StoreUnreachable('the upload was discarded')
  }
}

/** The media of an embeddings request: checked, hashed, and kept in memory or on disk until the request ends. */
import { createHash, type Hash } from 'node:crypto'
import type { Media } from '#core/content/content.ts'
import { Fault } from '#core/fault/fault.ts'
import { named } from '#core/fault/shown.ts'
import { excessOf } from '#core/media/bounds.ts'
import type { LiftedFile } from '#core/media/lift.ts'
import { MediaScan, type ScannedMedia } from '#core/media/media-scan.ts'
import { paramAt } from '#core/content/place.ts'
import type { Limits } from '#core/settings.ts'
import type { Upload, Uploads, UploadWriter } from '#ports/uploads.ts'

export interface TakingMediaOutside {
  readonly uploads: Uploads
  readonly limits: Limits
  /** Called after each step; shared by all requests whose files are written. */
  readonly yieldOnArrival: () => Promise<unknown>
}

/** Media of one request that stay in memory, fetched ones included. More go to the disk: a call to an upstream may take a minute. */
export const MAX_MEMORY_BYTES = 256 * 1024
/** Bytes that are read, hashed and written at once: a tenth of a millisecond of the event loop. */
const STEP_BYTES = 64 * 1024

type CheckedFile = LiftedFile & { readonly bytes: Uint8Array<ArrayBuffer> }

/** One file on disk holds all media that were taken together: requests may have thousands. */
interface Place {
  readonly start: number
  readonly end: number
}

export class TakenMedia implements AsyncDisposable {
  readonly #outside: TakingMediaOutside
  readonly #media = new Map<string, Media>()
  readonly #unread = new Set<string>()
  readonly #uploads: Upload[] = []
  #memoryBytes = 0

  constructor(outside: TakingMediaOutside) {
    this.#outside = outside
  }

  get isOnDisk(): boolean {
    return this.#uploads.length > 0
  }

  /** The media lifted from a place of the body. */
  readonly at = (place: string): Media | undefined => {
    this.#unread.delete(place)
    return this.#media.get(place)
  }

  /** Rejects with a fault for media that are not accepted. Bytes that were written to disk are freed. */
  async take(files: readonly LiftedFile[]): Promise<void> {
    const checked = files.map((file) => this.#checked(file))
    for (const { place } of checked) this.#unread.add(place)
    const bytes = checked.reduce((sum, file) => sum + file.bytes.length, 0)
    if (this.#memoryBytes + bytes > MAX_MEMORY_BYTES) return this.#write(checked)
    this.#memoryBytes += bytes
    for (const file of checked) {
      const held = file.bytes
      this.#add(
        file,
        this.#scanned(file),
        createHash('sha256').update(held).digest('hex'),
        async function* () {
          yield held
        },
      )
    }
  }

  /** Media were lifted wherever they were: those in a place that no one reads would be left out silently. */
  refuseUnread(): void {
    const [place] = this.#unread
    if (place === undefined) return
    const param = paramAt(place)
    throw new Fault(
      'invalid_input',
      `${param} has media in the field ${named(fieldOf(place))}, where Torana reads none. Send it as a part of a content, or remove it.`,
      { param },
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#uploads.splice(0).map((upload) => upload.discard()))
  }

  #checked({ place, bytes }: LiftedFile): CheckedFile {
    if (bytes === undefined)
      throw refused('invalid_media', place, 'is neither base64 nor an address (https://…)')
    const { contentPartBytes } = this.#outside.limits
    if (bytes.length > contentPartBytes)
      throw refused(
        'media_too_large',
        place,
        `has ${bytes.length} bytes; at most ${contentPartBytes} are allowed`,
      )
    return { place, bytes }
  }

  async #write(files: readonly CheckedFile[]): Promise<void> {
    const writer = await this.#outside.uploads.create()
    try {
      const written: (readonly [
        file: LiftedFile,
        scanned: ScannedMedia,
        sha256: string | undefined,
        at: Place,
      ])[] = []
      let start = 0
      for (const file of files) {
        const end = start + file.bytes.length
        // The digest of a file with one medium is that of the medium.
        const hash = files.length === 1 ? undefined : createHash('sha256')
        const scanned = await this.#writeOne(file, writer, hash)
        written.push([{ place: file.place, bytes: undefined }, scanned, hash?.digest('hex'), { start, end }])
        start = end
      }
      const upload = await writer.finish()
      this.#uploads.push(upload)
      for (const [file, scanned, sha256, at] of written)
        this.#add(
          file,
          scanned,
          sha256 ?? upload.sha256,
          () => upload.open(at.start, at.end),
          at.end - at.start,
        )
    } catch (error) {
      await writer.discard()
      throw error
    }
  }

  async #writeOne({ place, bytes }: CheckedFile, writer: UploadWriter, hash?: Hash): Promise<ScannedMedia> {
    const scan = new MediaScan()
    for (let at = 0; at < bytes.length; at += STEP_BYTES) {
      const step = bytes.subarray(at, at + STEP_BYTES)
      const words = scan.push(step)
      if (words !== undefined) throw refused('invalid_media', place, words)
      hash?.update(step)
      await writer.write(step)
      await this.#outside.yieldOnArrival()
    }
    const scanned = this.#accepted(place, scan)
    // The garbage collector may take long.
    bytes.buffer.transfer(0)
    return scanned
  }

  #scanned({ place, bytes }: CheckedFile): ScannedMedia {
    const scan = new MediaScan()
    scan.push(bytes)
    return this.#accepted(place, scan)
  }

  #accepted(place: string, scan: MediaScan): ScannedMedia {
    const scanned = scan.end()
    if (typeof scanned === 'string') throw refused('invalid_media', place, scanned)
    const excess = excessOf(scanned, this.#outside.limits)
    if (excess !== undefined) throw refused('media_too_large', place, excess)
    return scanned
  }

  #add(
    { place, bytes }: LiftedFile,
    scanned: ScannedMedia,
    sha256: string,
    open: Media['open'],
    size: number = bytes?.length ?? 0,
  ): void {
    this.#media.set(place, { ...scanned, size, sha256, open })
  }
}

function refused(code: 'invalid_media' | 'media_too_large', place: string, words: string): Fault {
  const param = paramAt(place)
  return new Fault(code, `${param} ${words}.`, { param })
}

function fieldOf(place: string): string {
  const name = place.split('/').findLast((step) => !/^\d+$/.test(step)) ?? place
  return name.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 80)
}

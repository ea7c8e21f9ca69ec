import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import type { ImageFormat } from '#core/catalog/catalog.ts'
import { pictureHeader } from '#core/image/header.ts'
import { ThreadBusy, type Asker } from '#ports/asker.ts'
import { CodecBusy, PictureUnreadable, THUMBNAIL_BYTES, type ImageCodec } from '#ports/image-codec.ts'
import { workerModule } from '#package/files.ts'
import { Thread, type ThreadLimits } from '#thread/thread.ts'
import { Turns } from '#thread/turns.ts'
import type { CodecAnswer, CodecWorks } from './image-codec-worker.ts'

/**
 * Pixels of images that are converted concurrently: as many as one may have. They take 200 MB, and some three
 * times that when they are interlaced and of 16 bits.
 */
const PIXELS_AT_ONCE = 50_000_000
/** Concurrent conversions: each takes a core, however small it is. */
const MAX_CONVERSIONS = 2
/** Waiting images of one project. They hold their bytes in memory, and the last one waits a minute. */
const MAX_WAITING = 32
/**
 * Pixels are libvips' own memory. Each of its steps ends after half a minute by itself, and an image takes at
 * most three.
 */
const LIMITS: ThreadLimits = { memoryMb: 128, maxTaskMs: 120_000 }
/** Bytes copied in one step, which takes a millisecond. */
const STEP_BYTES = 1024 * 1024

export class WorkerImageCodec implements ImageCodec {
  readonly #thread = new Thread<CodecWorks>(workerModule('runtime/image-codec-worker'), LIMITS)
  readonly #turns = new Turns({ atOnce: PIXELS_AT_ONCE, maxWaiting: MAX_WAITING })
  readonly #cores: number

  constructor(cores: number = availableParallelism()) {
    this.#cores = cores
  }

  async convert(
    bytes: Uint8Array<ArrayBuffer>,
    { format, quality }: { readonly format: ImageFormat; readonly quality: number | undefined },
    asker: Asker,
  ): Promise<Uint8Array<ArrayBuffer>> {
    if (quality !== undefined && !(Number.isInteger(quality) && quality >= 0 && quality <= 100))
      throw new RangeError(`not a quality from 0 to 100: ${quality}`)
    return this.#made(bytes, asker, (copy, options) =>
      this.#thread.ask('convert', { bytes: copy, format, quality }, options),
    )
  }

  /**
   * A WebP copy at most `width` pixels wide and twice as high, and at most `THUMBNAIL_BYTES` long. A smaller image keeps
   * its size. The rules of `ImageCodec` hold for it too.
   */
  thumbnail(bytes: Uint8Array<ArrayBuffer>, width: number, asker: Asker): Promise<Uint8Array<ArrayBuffer>> {
    return this.#made(bytes, asker, (copy, options) =>
      this.#thread.ask('thumbnail', { bytes: copy, width, mostBytes: THUMBNAIL_BYTES }, options),
    )
  }

  colourMask(
    bytes: Uint8Array<ArrayBuffer>,
    changed: 'white' | 'black',
    asker: Asker,
  ): Promise<Uint8Array<ArrayBuffer>> {
    return this.#made(bytes, asker, (copy, options) =>
      this.#thread.ask('mask', { bytes: copy, changed }, options),
    )
  }

  close(): Promise<void> {
    this.#turns.close()
    return this.#thread.close()
  }

  async #made(
    bytes: Uint8Array<ArrayBuffer>,
    asker: Asker,
    ask: (copy: Uint8Array<ArrayBuffer>, options: { transfer: ArrayBuffer[] }) => Promise<CodecAnswer>,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const making = async (): Promise<CodecAnswer> => {
      // Transferring the caller's buffer would empty it, and the original may still have to be stored.
      const copy = await copyOf(bytes)
      return ask(copy, { transfer: [copy.buffer] })
    }
    const answer = await this.#turns
      .run(asker, making, roomFor(bytes, this.#cores))
      .catch((error: unknown) => {
        throw error instanceof ThreadBusy ? new CodecBusy(error.message, { cause: error }) : error
      })
    if ('bytes' in answer) return answer.bytes
    throw errorOf(answer)
  }
}

/** The pixels that an image counts for. The decoder refuses what has no header. */
export function roomFor(bytes: Uint8Array, cores: number): number {
  const { width, height } = pictureHeader(bytes) ?? { width: 0, height: 0 }
  // One core is left to the event loop, if there is another.
  const conversions = Math.max(1, Math.min(MAX_CONVERSIONS, cores - 1))
  return Math.max(width * height, PIXELS_AT_ONCE / conversions)
}

async function copyOf(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.length)
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    if (at > 0) await setImmediate()
    copy.set(bytes.subarray(at, at + STEP_BYTES), at)
  }
  return copy
}

function errorOf({ trouble, message }: Exclude<CodecAnswer, { bytes: unknown }>): Error {
  if (trouble === 'late') return new CodecBusy(`the picture was not converted in time (${message})`)
  return trouble === 'unreadable' ? new PictureUnreadable(message) : new RangeError(message)
}

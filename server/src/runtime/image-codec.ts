import { setImmediate } from 'node:timers/promises'
import type { ImageFormat } from '#core/catalog.ts'
import { Semaphore } from '#core/semaphore.ts'
import { CodecBusy, PictureUnreadable, type ImageCodec } from '#ports/image-codec.ts'
import { Thread, type ThreadLimits } from '#thread/thread.ts'
import type { CodecAnswer, CodecWorks } from './image-codec-worker.ts'

/** Each takes a core, and 200 MB for 50 megapixels; some three times that when they are interlaced and of 16 bits. */
const MAX_CONVERSIONS = 2
/** Pictures that wait hold their bytes in memory, and the last of so many is a minute away. */
const MAX_WAITING = 32
/** Pixels are libvips' own memory. Each of its steps ends after half a minute by itself, and a picture takes three at most. */
const LIMITS: ThreadLimits = { memoryMb: 128, maxTaskMs: 120_000 }
/** Takes a millisecond; then others get the event loop. */
const PORTION_BYTES = 1024 * 1024

export class WorkerImageCodec implements ImageCodec {
  readonly #thread = new Thread<CodecWorks>(new URL('./image-codec-worker.ts', import.meta.url), LIMITS)
  readonly #places = new Semaphore(MAX_CONVERSIONS)

  async convert(
    bytes: Uint8Array<ArrayBuffer>,
    { format, quality }: { readonly format: ImageFormat; readonly quality: number | undefined },
  ): Promise<Uint8Array<ArrayBuffer>> {
    if (quality !== undefined && !(Number.isInteger(quality) && quality >= 0 && quality <= 100))
      throw new RangeError(`not a quality from 0 to 100: ${quality}`)
    return this.#made(bytes, (copy, options) =>
      this.#thread.ask('convert', { bytes: copy, format, quality }, options),
    )
  }

  colourMask(bytes: Uint8Array<ArrayBuffer>, changed: 'white' | 'black'): Promise<Uint8Array<ArrayBuffer>> {
    return this.#made(bytes, (copy, options) => this.#thread.ask('mask', { bytes: copy, changed }, options))
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  async #made(
    bytes: Uint8Array<ArrayBuffer>,
    ask: (copy: Uint8Array<ArrayBuffer>, options: { transfer: ArrayBuffer[] }) => Promise<CodecAnswer>,
  ): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#places.waiting >= MAX_WAITING)
      throw new CodecBusy(`${MAX_WAITING} pictures wait to be converted already`)
    const answer = await this.#places.run(async () => {
      // Handing the caller's buffer over would empty it, and the original may still have to be stored.
      const copy = await copyOf(bytes)
      return ask(copy, { transfer: [copy.buffer] })
    })
    if ('bytes' in answer) return answer.bytes
    throw errorOf(answer)
  }
}

async function copyOf(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.length)
  for (let at = 0; at < bytes.length; at += PORTION_BYTES) {
    if (at > 0) await setImmediate()
    copy.set(bytes.subarray(at, at + PORTION_BYTES), at)
  }
  return copy
}

function errorOf({ trouble, message }: Exclude<CodecAnswer, { bytes: unknown }>): Error {
  if (trouble === 'late') return new CodecBusy(`the picture was not converted in time (${message})`)
  return trouble === 'unreadable' ? new PictureUnreadable(message) : new RangeError(message)
}

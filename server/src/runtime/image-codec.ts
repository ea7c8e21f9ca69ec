import { setImmediate } from 'node:timers/promises'
import type { ImageFormat } from '#core/catalog.ts'
import { CodecBusy, PictureUnreadable, type ImageCodec } from '#ports/image-codec.ts'
import type { CodecReply, CodecRequest, CodecTask } from './image-codec-worker.ts'
import { Thread } from './thread.ts'

/** Each takes a core, and 200 MB for 50 megapixels; some three times that when they are interlaced and of 16 bits. */
const MAX_CONVERSIONS = 2
/** Pictures that wait hold their bytes in memory, and the last of so many is a minute away. */
const MAX_WAITING = 32
/** Takes a millisecond; then others get their turn. */
const PORTION_BYTES = 1024 * 1024

export class WorkerImageCodec implements ImageCodec {
  readonly #thread = new Thread<CodecRequest, CodecReply>(new URL('./image-codec-worker.ts', import.meta.url))
  readonly #waiting: (() => void)[] = []
  #running = 0

  async convert(
    bytes: Uint8Array<ArrayBuffer>,
    { format, quality }: { readonly format: ImageFormat; readonly quality: number | undefined },
  ): Promise<Uint8Array<ArrayBuffer>> {
    if (quality !== undefined && !(Number.isInteger(quality) && quality >= 0 && quality <= 100))
      throw new RangeError(`not a quality from 0 to 100: ${quality}`)
    return await this.#done(bytes, { task: 'convert', format, quality })
  }

  colourMask(bytes: Uint8Array<ArrayBuffer>, changed: 'white' | 'black'): Promise<Uint8Array<ArrayBuffer>> {
    return this.#done(bytes, { task: 'mask', changed })
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  async #done(bytes: Uint8Array<ArrayBuffer>, task: CodecTask): Promise<Uint8Array<ArrayBuffer>> {
    await this.#turn()
    try {
      // Handing the caller's buffer over would empty it, and the original may still have to be stored.
      const copy = await copyOf(bytes)
      const reply = await this.#thread.ask({ bytes: copy, ...task }, [copy.buffer])
      if ('bytes' in reply) return reply.bytes
      throw errorOf(reply)
    } finally {
      // The place goes to the next in line, or it could be taken before the next has heard of it.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }

  async #turn(): Promise<void> {
    if (this.#running < MAX_CONVERSIONS) this.#running += 1
    else if (this.#waiting.length < MAX_WAITING)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else throw new CodecBusy(`${MAX_WAITING} pictures wait to be converted already`)
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

function errorOf({ trouble, message }: Exclude<CodecReply, { bytes: unknown }>): Error {
  if (trouble === 'late') return new CodecBusy(`the picture was not converted in time (${message})`)
  return trouble === 'unreadable' ? new PictureUnreadable(message) : new RangeError(message)
}

/** The length of an Ogg: the position at which its last page ends. Only the end of the file is kept. */
import { little, startsWith } from '../image/bytes.ts'
import { RunningScan, type Scan, Source } from '../image/scan.ts'
import type { MediaFacts, MediaReader } from './reader.ts'
import { secondsOf } from './seconds.ts'

/** Two pages of the largest size: the last whole one is among them. */
const TAIL_BYTES = 2 * 65_307

interface Codec {
  /** Undefined: unknown. */
  readonly samplesPerSecond: number | undefined
  /** Samples that are not played. */
  readonly skipped: number
}

export class OggReader implements MediaReader {
  readonly #codec = new RunningScan(codecScan(new Source()))
  readonly #tail = new Uint8Array(2 * TAIL_BYTES)
  #tailLength = 0

  push(bytes: Uint8Array): string | undefined {
    this.#codec.push(bytes)
    this.#keep(bytes.subarray(Math.max(0, bytes.length - TAIL_BYTES)))
    const { outcome } = this.#codec
    return typeof outcome === 'string' ? outcome : undefined
  }

  end(): MediaFacts | string {
    const { outcome } = this.#codec
    if (outcome === undefined) return 'ends before its header does'
    if (typeof outcome === 'string') return outcome
    const { samplesPerSecond, skipped } = outcome
    const samples = lastPosition(
      this.#tail.subarray(Math.max(0, this.#tailLength - TAIL_BYTES), this.#tailLength),
    )
    if (samplesPerSecond === undefined || samples === undefined) return { seconds: undefined }
    return { seconds: secondsOf(samples - skipped, samplesPerSecond) }
  }

  #keep(bytes: Uint8Array): void {
    if (this.#tailLength + bytes.length > this.#tail.length) {
      const kept = Math.min(this.#tailLength, TAIL_BYTES)
      this.#tail.copyWithin(0, this.#tailLength - kept, this.#tailLength)
      this.#tailLength = kept
    }
    this.#tail.set(bytes, this.#tailLength)
    this.#tailLength += bytes.length
  }
}

const PAGE_HEADER_BYTES = 27

function* codecScan(source: Source): Scan<Codec | string> {
  yield* source.passTo(PAGE_HEADER_BYTES - 1)
  const [segments = 0] = yield* source.look(1)
  yield* source.passTo(PAGE_HEADER_BYTES + segments)
  const head = yield* source.look(16)
  if (startsWith(head, 0, '\x01vorbis')) return { samplesPerSecond: little(head, 12, 4), skipped: 0 }
  if (startsWith(head, 0, 'OpusHead')) return { samplesPerSecond: 48_000, skipped: little(head, 10, 2) }
  if (startsWith(head, 0, '\x80theora') || startsWith(head, 0, 'fishead'))
    return 'is an Ogg with video; only Ogg with sound is accepted'
  return { samplesPerSecond: undefined, skipped: 0 }
}

/** Of the last page that says one. */
function lastPosition(tail: Uint8Array): number | undefined {
  for (let at = tail.length - PAGE_HEADER_BYTES; at >= 0; at -= 1) {
    if (tail[at] !== 0x4f || !startsWith(tail, at, 'OggS\0')) continue
    const high = little(tail, at + 10, 4)
    // Every bit is set on a page in which no packet ends.
    if (high < 2 ** 20) return high * 2 ** 32 + little(tail, at + 6, 4)
  }
  return undefined
}

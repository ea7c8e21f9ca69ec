/**
 * Unpacks a compressed answer. Calls ask for `identity`, since unpacking costs CPU, but a server or a proxy
 * in front of it may compress nevertheless. The reader counts the unpacked bytes, so that a compression bomb
 * ends at the same limit.
 */
import type { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import { BrokenAnswer } from '#core/fault/broken-answer.ts'
import type { Flow } from './rounds.ts'

/** 8 MB, as much as RFC 9659 allows a sender of this coding. A decoder would otherwise allocate up to 128 MB. */
const ZSTD_WINDOW_LOG = 23
/** The low half of the first byte of zlib's own format. Some servers send `deflate` without that format around it. */
const ZLIB_METHOD = 8

const DECODERS: Readonly<Record<string, (first: number) => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
  deflate: (first) => ((first & 0x0f) === ZLIB_METHOD ? createInflate() : createInflateRaw()),
}

/** The coding of an answer's bytes. Undefined when they are not compressed. */
export function codingIn(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string | undefined {
  const header = headers['content-encoding']
  if (header === undefined) return undefined
  const codings = String(header)
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  return codings.length === 0 ? undefined : codings.join(', ')
}

/** Takes the unpacked bytes. */
export interface UnpackedReader {
  push(bytes: Uint8Array): void
  /** Called after the last byte, or when bytes can't be unpacked. Nothing comes after it. */
  end(error?: BrokenAnswer): void
}

export class Unpacking implements Flow {
  readonly #coding: string
  readonly #make: (first: number) => Transform
  readonly #reader: UnpackedReader
  /** Made with the first byte: an answer without any is empty, which no coding writes as nothing. */
  #decoder: Transform | undefined
  #isOver = false

  /** Throws `BrokenAnswer` for an unknown coding, and for several codings. */
  constructor(coding: string, reader: UnpackedReader) {
    const make = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
    if (make === undefined)
      throw new BrokenAnswer(`an answer in the content coding ${JSON.stringify(coding.slice(0, 40))}`, {
        isLasting: true,
      })
    this.#coding = coding
    this.#make = make
    this.#reader = reader
  }

  /** Pauses `source` while the decoder has no space. */
  write(chunk: Uint8Array, source: Flow): void {
    if (this.#isOver || chunk.length === 0) return
    this.#decoder ??= this.#started(chunk[0] as number)
    if (this.#decoder.write(chunk)) return
    source.pause()
    this.#decoder.once('drain', () => source.resume())
  }

  /** Ends the input. */
  end(): void {
    if (this.#isOver) return
    if (this.#decoder === undefined) this.#finish()
    else this.#decoder.end()
  }

  /** Discards the rest. */
  stop(): void {
    this.#isOver = true
    this.#decoder?.destroy()
  }

  pause(): void {
    this.#decoder?.pause()
  }

  resume(): void {
    this.#decoder?.resume()
  }

  #started(first: number): Transform {
    const decoder = this.#make(first)
    decoder.on('data', (bytes: Uint8Array) => {
      if (!this.#isOver) this.#reader.push(bytes)
    })
    decoder.on('end', () => this.#finish())
    decoder.on('error', ({ message }) => {
      const isCut = message.includes('unexpected end of file')
      this.#finish(
        new BrokenAnswer(
          isCut ? 'an answer that was cut off' : `an answer that is not ${this.#coding}, as it says`,
        ),
      )
    })
    return decoder
  }

  #finish(error?: BrokenAnswer): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#reader.end(error)
  }
}

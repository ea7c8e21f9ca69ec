/** The parts of a multipart body, one after another. A part that cannot be read is refused: nothing is skipped. */
import { Dicer } from '@fastify/busboy'
import { Fault } from '#core/fault/fault.ts'
import type { IncomingBytes } from './incoming-bytes.ts'

/** Each name in lower case, its values in order, one character per byte. */
export type PartHeaders = Readonly<Record<string, readonly string[] | undefined>>

export interface Part {
  readonly headers: PartHeaders
  /** To be read to its end before the next part is requested. */
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A part whose beginning the parser has seen. */
interface Begun {
  /** Bytes of the body received by then. */
  readonly atBytes: number
  headers: PartHeaders | undefined
  readonly chunks: Uint8Array[]
  isWhole: boolean
}

/** A name, a file name and a content type are some hundred bytes. */
const MAX_HEADER_BYTES = 8 * 1024
const MAX_HEADERS = 16
/** Words before the first part, such as the sentence of mail programs for readers without MIME. */
const MAX_PREAMBLE_BYTES = 1024
/** Above the refused size, so that the excess is seen: the parser cuts longer headers silently. */
const PARSED_HEADER_BYTES = 2 * MAX_HEADER_BYTES

/**
 * Uses the layer below the form parser of the same package, which silently skips parts that it cannot read and never ends when a body
 * is cut off. This parser gets its next chunk only when the last one is used up, so one chunk is all that is held. Its own
 * backpressure is switched off: a part that ends in the very chunk that filled it could stop it for good.
 */
export class MultipartParts {
  readonly #body: IncomingBytes
  readonly #yieldLoop: () => Promise<unknown>
  readonly #parser: Dicer
  readonly #delimiter: string
  readonly #begun: Begun[] = []
  #isAtStart = true
  #isFinished = false
  /** The first boundary ends with LF, which the parser does not accept. */
  #hasUnixLines = false
  #hasMore = false

  constructor(body: IncomingBytes, boundary: string, yieldLoop: () => Promise<unknown>) {
    this.#body = body
    this.#yieldLoop = yieldLoop
    this.#delimiter = `--${boundary}`
    const config = {
      boundary,
      maxHeaderPairs: MAX_HEADERS,
      maxHeaderSize: PARSED_HEADER_BYTES,
      partHwm: Number.MAX_SAFE_INTEGER,
    }
    this.#parser = new Dicer(config)
    this.#parser.on('preamble', (stream) => this.#begin(stream))
    this.#parser.on('part', (stream) => this.#begin(stream))
    this.#parser.on('trailer', (bytes) => (this.#hasMore ||= !isBlank(bytes)))
    this.#parser.on('finish', () => (this.#isFinished = true))
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Part> {
    await this.#passPreamble()
    for (let begun = await this.#next(); begun !== undefined; begun = await this.#next())
      yield { headers: await this.#headersOf(begun), bytes: this.#bytesOf(begun) }
    await this.#passTrailer()
  }

  #begin(stream: Dicer.PartStream): void {
    const begun: Begun = { atBytes: this.#body.received, headers: undefined, chunks: [], isWhole: false }
    stream.on('header', (headers: object) => (begun.headers = headers as PartHeaders))
    stream.on('data', (chunk: Buffer | string) => begun.chunks.push(chunk as Buffer))
    stream.on('end', () => (begun.isWhole = true))
    this.#begun.push(begun)
  }

  async #feed(): Promise<void> {
    const chunk = await this.#body.next()
    if (chunk === undefined)
      throw malformed(
        this.#hasUnixLines
          ? 'ends its lines with LF alone. A form needs CR LF at the end of each line of its boundaries and headers'
          : 'ends inside a part: the closing boundary (with two dashes after it) is missing',
      )
    this.#parser.write(this.#isAtStart ? this.#withoutEmptyLines(chunk) : chunk)
    // Its streams pass on their data a few ticks later.
    await this.#yieldLoop()
  }

  /** Some clients write an empty line before the first boundary and end it as Unix does, which the parser does not accept. */
  #withoutEmptyLines(chunk: Uint8Array): Uint8Array {
    const first = chunk.findIndex((byte) => byte !== LINE_FEED)
    this.#isAtStart = first < 0
    const begin = Buffer.from(chunk.subarray(first, first + this.#delimiter.length + 1)).toString('latin1')
    this.#hasUnixLines = begin === `${this.#delimiter}\n`
    return first < 0 ? EMPTY : chunk.subarray(first)
  }

  async #next(): Promise<Begun | undefined> {
    while (this.#begun.length === 0 && !this.#isFinished) await this.#feed()
    return this.#begun.shift()
  }

  async #headersOf(begun: Begun): Promise<PartHeaders> {
    while (begun.headers === undefined) {
      if (begun.isWhole) throw malformed('has a part without headers')
      if (this.#body.received - begun.atBytes > PARSED_HEADER_BYTES) throw headersTooLong()
      await this.#feed()
    }
    let bytes = 0
    for (const [name, values = []] of Object.entries(begun.headers))
      for (const value of values) bytes += name.length + value.length
    if (bytes > MAX_HEADER_BYTES) throw headersTooLong()
    return begun.headers
  }

  async *#bytesOf(begun: Begun): AsyncGenerator<Uint8Array> {
    for (;;) {
      for (const chunk of begun.chunks.splice(0)) yield chunk
      if (begun.isWhole) return
      await this.#feed()
    }
  }

  /**
   * The preamble means nothing. A body with another boundary shows by an endless preamble. A boundary inside the preamble belongs to
   * a part that is not delimited properly and would be skipped.
   */
  async #passPreamble(): Promise<void> {
    const preamble = await this.#next()
    if (preamble === undefined) return
    let words = ''
    const unbound = () => malformed('does not begin with the boundary that its content type names')
    try {
      for await (const chunk of this.#bytesOf(preamble)) {
        words += Buffer.from(chunk).toString('latin1')
        if (words.length > MAX_PREAMBLE_BYTES) throw unbound()
      }
    } catch (error) {
      const isCut = error instanceof Fault && error.code === 'invalid_parameter'
      throw isCut && words.trim() !== '' ? unbound() : error
    }
    if (words.includes(this.#delimiter)) throw unbound()
  }

  async #passTrailer(): Promise<void> {
    for (;;) {
      if (this.#hasMore) throw malformed('continues after its closing boundary')
      const chunk = await this.#body.next()
      if (chunk === undefined) return
      this.#hasMore = !isBlank(chunk)
    }
  }
}

const LINE_FEED = 0x0a
const EMPTY = new Uint8Array(0)
const BLANK = new Set(Buffer.from('\r\n\t '))

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => BLANK.has(byte))
}

export function malformed(words: string): Fault {
  return new Fault('invalid_parameter', `The multipart body ${words}.`)
}

function headersTooLong(): Fault {
  return malformed(`has a part with more than ${MAX_HEADER_BYTES} bytes of headers`)
}

/**
 * Reads an OpenAI-shaped embeddings answer as it arrives. Vectors are lifted out of the bytes one by one, checked, and
 * replaced by their ordinal; what remains, the skeleton, is small and is parsed as JSON at the end. So a 66 MB answer is
 * read in steps no longer than one chunk, and no number becomes an object that nobody asked for.
 *
 * A vector is what follows `"embedding":`. Inside a JSON string those quotes would be escaped, so the bytes can't be
 * mistaken; an answer odd enough to fool this fails the skeleton's own checks and is refused.
 */
import { BrokenAnswer } from '../fault/broken-answer.ts'
import { scanNumbers } from './number-scan.ts'
import {
  base64LengthOf,
  decodeBase64,
  faultIn,
  faultInBase64,
  widthFault,
  type Vector,
  type VectorFault,
  type VectorForm,
} from './vector.ts'

export interface ScanOptions {
  readonly width: number
  readonly wantedForm: VectorForm
  /** Bytes to text; the platform's decoders are not part of the language. */
  readonly decode: (bytes: Uint8Array, start: number, end: number, encoding: 'latin1' | 'utf8') => string
}

export interface ScannedAnswer {
  /** The answer's JSON text with each vector replaced by its ordinal in `vectors`. */
  readonly skeleton: string
  readonly vectors: readonly Vector[]
}

/** 16,384 dimensions at 24 bytes a number, with room: no single vector, nor the text between two, is longer. */
const MAX_PENDING_BYTES = 1024 * 1024
/** 2,048 items of a few hundred bytes beside their vectors. More would take too long to parse in one step. */
const MAX_SKELETON_LENGTH = 2 * 1024 * 1024

const NOTHING = new Uint8Array(0)
const KEY = Uint8Array.from('"embedding"', (character) => character.charCodeAt(0))
const QUOTE = 0x22
const COLON = 0x3a
const OPEN = 0x5b
const CLOSE = 0x5d
const SPACE = 0x20

export class AnswerScanner {
  readonly #options: ScanOptions
  readonly #vectors: Vector[] = []
  #skeleton = ''
  /** Bytes not yet dealt with, from `#from` on; `#resume` is where the search in them goes on. */
  #pending: Uint8Array = NOTHING
  #from = 0
  #resume = 0

  constructor(options: ScanOptions) {
    this.#options = options
  }

  push(chunk: Uint8Array): void {
    const isFirst = this.#pending === NOTHING
    const bytes = isFirst ? chunk : joined(this.#pending.subarray(this.#from), chunk)
    let from = 0
    let search = isFirst ? 0 : this.#resume - this.#from
    for (;;) {
      const value = findValue(bytes, search)
      if (value.kind === 'need-more') {
        search = value.resume
        break
      }
      const closing = bytes[value.start] === QUOTE ? QUOTE : CLOSE
      const end = bytes.indexOf(closing, value.start + 1)
      if (end === -1) {
        search = value.keyStart
        break
      }
      this.#keepSkeleton(bytes, from, value.start)
      this.#skeleton += String(this.#vectors.length)
      this.#vectors.push(this.#readVector(bytes, value.start, end + 1))
      from = end + 1
      search = from
    }
    this.#pending = bytes
    this.#from = from
    this.#resume = search
    if (bytes.length - from > MAX_PENDING_BYTES) throw new BrokenAnswer('a value of more than 1 MB')
  }

  end(): ScannedAnswer {
    this.#keepSkeleton(this.#pending, this.#from, this.#pending.length)
    return { skeleton: this.#skeleton, vectors: this.#vectors }
  }

  #keepSkeleton(bytes: Uint8Array, start: number, end: number): void {
    this.#skeleton += this.#options.decode(bytes, start, end, 'utf8')
    if (this.#skeleton.length > MAX_SKELETON_LENGTH)
      throw new BrokenAnswer('more than 2 MB beside its vectors')
  }

  #readVector(bytes: Uint8Array, start: number, end: number): Vector {
    return bytes[start] === QUOTE ? this.#readBase64(bytes, start, end) : this.#readNumbers(bytes, start, end)
  }

  #readBase64(bytes: Uint8Array, start: number, end: number): Vector {
    const { decode, width, wantedForm } = this.#options
    let base64 = decode(bytes, start + 1, end - 1, 'latin1')
    // Some JSON writers escape every slash.
    if (base64.length !== base64LengthOf(width)) base64 = base64.replaceAll(String.raw`\/`, '/')
    try {
      if (wantedForm === 'base64') {
        refuse(faultInBase64(base64, width))
        return { form: 'base64', base64 }
      }
      const values = decodeBase64(base64)
      refuse(faultIn(values, width))
      return { form: 'float32', values }
    } catch (error) {
      if (error instanceof BrokenAnswer) throw error
      throw new BrokenAnswer('a vector that is not base64 of float32 values')
    }
  }

  #readNumbers(bytes: Uint8Array, start: number, end: number): Vector {
    const { decode, width, wantedForm } = this.#options
    if (wantedForm === 'text') {
      const scan = scanNumbers(bytes, start, end)
      if (!scan) throw new BrokenAnswer('a vector that is not a JSON array of numbers')
      if (scan.count !== width) refuse(widthFault(scan.count, width))
      if (scan.plainlySound) return { form: 'text', text: bytes.subarray(start, end) }
    }
    const values = numbersOf(decode(bytes, start, end, 'latin1'))
    refuse(faultIn(values, width))
    return wantedForm === 'text'
      ? { form: 'text', text: bytes.subarray(start, end) }
      : { form: 'float32', values }
  }
}

type FoundValue =
  | { readonly kind: 'value'; readonly keyStart: number; readonly start: number }
  | { readonly kind: 'need-more'; readonly resume: number }

/** The next `"embedding"` key whose value is a string or an array. */
function findValue(bytes: Uint8Array, from: number): FoundValue {
  let quote = bytes.indexOf(QUOTE, from)
  while (quote !== -1) {
    let at = quote
    let matched = 0
    while (matched < KEY.length && bytes[at] === KEY[matched]) {
      at += 1
      matched += 1
    }
    if (matched === KEY.length) {
      at = skipSpace(bytes, at)
      if (bytes[at] === COLON) {
        at = skipSpace(bytes, at + 1)
        if (bytes[at] === QUOTE || bytes[at] === OPEN) return { kind: 'value', keyStart: quote, start: at }
      }
    }
    if (at >= bytes.length) return { kind: 'need-more', resume: quote }
    quote = bytes.indexOf(QUOTE, quote + 1)
  }
  return { kind: 'need-more', resume: bytes.length }
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while ((bytes[at] as number) <= SPACE) at += 1
  return at
}

function numbersOf(text: string): Float32Array {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new BrokenAnswer('a vector that is not a JSON array of numbers')
  }
  if (!Array.isArray(parsed) || !parsed.every((value) => typeof value === 'number')) {
    throw new BrokenAnswer('a vector that is not a JSON array of numbers')
  }
  return Float32Array.from(parsed)
}

function refuse(fault: VectorFault | undefined): void {
  if (fault !== undefined) throw new BrokenAnswer(fault.reason, fault.wrongWidth)
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + tail.length)
  bytes.set(head)
  bytes.set(tail, head.length)
  return bytes
}

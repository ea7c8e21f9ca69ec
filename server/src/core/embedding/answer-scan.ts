/**
 * Reads an OpenAI-shaped embeddings answer as it arrives. Vectors are lifted out of the bytes one by one, checked, and
 * replaced by their ordinal; the rest, the skeleton, is small and is parsed as JSON at the end. A 66 MB answer is therefore
 * read in steps no longer than one part, and no number becomes an object without need.
 *
 * A vector is the value of `"embedding":` in an item of the answer's own `data`. A field of that name elsewhere is a field
 * like any other. An answer odd enough to fool this fails the skeleton's own checks and is refused.
 */
import { BrokenAnswer } from '../fault/broken-answer.ts'
import { scanNumbers } from './number-scan.ts'
import { faultInTyped, type WholeType } from '../catalog/vector-type.ts'
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
  /** The width of an answer whose upstream ignored the requested one. Undefined: only `width` is valid. */
  readonly fullWidth?: number | undefined
  readonly wantedForm: VectorForm
  /** The type of the numbers that were asked for. Undefined: float32. */
  readonly outputType?: WholeType | undefined
  /** Bytes to text; the platform's decoders are not part of the language. */
  readonly decode: (bytes: Uint8Array, start: number, end: number, encoding: 'latin1' | 'utf8') => string
}

export interface ScannedAnswer {
  /** The answer's JSON text with each vector replaced by its ordinal in `vectors`. */
  readonly skeleton: string
  readonly vectors: readonly Vector[]
  /** Of all vectors. */
  readonly width: number
}

/** Longest single vector, and longest text between two: 16,384 dimensions at 24 bytes a number, with a margin. */
const MAX_PENDING_BYTES = 1024 * 1024
/**
 * Longest skeleton: 2,048 items of a few hundred bytes beside their vectors. More would take too long to parse in one step.
 */
const MAX_SKELETON_LENGTH = 2 * 1024 * 1024

const NOTHING = new Uint8Array(0)
const NO_STRING = -1
const KEY = Uint8Array.from('"embedding"', (character) => character.charCodeAt(0))
const DATA = Uint8Array.from('"data"', (character) => character.charCodeAt(0))
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
/** Nesting depth of the answer's fields, and of the fields of an item of its `data`. */
const FIELD_DEPTH = 1
const ITEM_FIELD_DEPTH = 3
const COLON = 0x3a
const OPEN = 0x5b
const CLOSE = 0x5d
const SPACE = 0x20

/** What is searched for: an `"embedding"` key, its colon, its value that is a string or an array, and the value's end. */
type Stage = 'key' | 'colon' | 'value' | 'end'

export class AnswerScanner {
  readonly #options: ScanOptions
  #width: number
  #form: VectorForm
  readonly #vectors: Vector[] = []
  #skeleton = ''
  /** Bytes that have arrived and are not processed yet, from `#from` on. */
  #bytes: Uint8Array = NOTHING
  /** `#bytes` is its start. It may have space for more. */
  #buffer: Uint8Array = NOTHING
  #from = 0
  #stage: Stage = 'key'
  /** Where the search continues: no byte is searched twice, however small the parts are. */
  #at = 0
  #keyStart = 0
  #valueStart = 0
  /** Start of the string that is being read; a string is read to its end before anything else. Negative: none is. */
  #stringStart = NO_STRING
  /** How many objects and arrays are open. */
  #depth = 0
  /** The last string among the answer's own fields was `data`, and the array behind it is open. */
  #isDataNext = false
  #isInData = false

  constructor(options: ScanOptions) {
    this.#options = options
    this.#width = options.width
    this.#form = options.wantedForm
  }

  push(chunk: Uint8Array): void {
    this.#append(this.#behindValue(chunk))
    while (this.#advance());
    if (this.#bytes.length - this.#from > MAX_PENDING_BYTES)
      throw new BrokenAnswer('a value of more than 1 MB')
  }

  end(): ScannedAnswer {
    this.#keepSkeleton(this.#bytes, this.#from, this.#bytes.length)
    return { skeleton: this.#skeleton, vectors: this.#vectors, width: this.#width }
  }

  /** A value that began in an earlier part is assembled alone. The bytes after it are read in place, not copied. */
  #behindValue(chunk: Uint8Array): Uint8Array {
    if (this.#stage !== 'end') return chunk
    const end = chunk.indexOf(this.#closing)
    if (end === -1) return chunk
    this.#append(chunk.subarray(0, end + 1))
    this.#advance()
    return chunk.subarray(end + 1)
  }

  /** The byte that ends the current value. */
  get #closing(): number {
    return this.#bytes[this.#valueStart] === QUOTE ? QUOTE : CLOSE
  }

  /**
   * Vectors are views of the bytes, so bytes that have arrived are never overwritten. A part that is smaller than the
   * pending bytes goes into a buffer with twice the space, so that the pending bytes are not copied for each such part.
   */
  #append(chunk: Uint8Array): void {
    const before = this.#bytes.length
    const pending = before - this.#from
    const length = pending + chunk.length
    if (pending > 0 && before + chunk.length <= this.#buffer.length) {
      this.#buffer.set(chunk, before)
      this.#bytes = this.#buffer.subarray(0, before + chunk.length)
      return
    }
    if (pending === 0) this.#buffer = chunk
    else {
      const buffer = new Uint8Array(chunk.length < pending ? 2 * length : length)
      buffer.set(this.#bytes.subarray(this.#from))
      buffer.set(chunk, pending)
      this.#buffer = buffer
    }
    this.#bytes = this.#buffer.length === length ? this.#buffer : this.#buffer.subarray(0, length)
    this.#at -= this.#from
    if (this.#stringStart !== NO_STRING) this.#stringStart -= this.#from
    this.#keyStart -= this.#from
    this.#valueStart -= this.#from
    this.#from = 0
  }

  /** Continues the search. Returns false when more bytes are needed. */
  #advance(): boolean {
    const bytes = this.#bytes
    switch (this.#stage) {
      case 'key':
        return this.#findKey(bytes)
      case 'colon':
      case 'value': {
        const at = skipSpace(bytes, this.#at)
        this.#at = at
        if (at >= bytes.length) return false
        this.#behindKey(bytes[at] as number)
        return true
      }
      case 'end': {
        const end = bytes.indexOf(this.#closing, this.#at)
        this.#at = end === -1 ? bytes.length : end + 1
        if (end === -1) return false
        this.#keepSkeleton(bytes, this.#from, this.#valueStart)
        this.#skeleton += String(this.#vectors.length)
        this.#vectors.push(this.#readVector(bytes, this.#valueStart, end + 1))
        this.#from = end + 1
        this.#stage = 'key'
        return true
      }
    }
  }

  /** Byte by byte: there is little text beside the vectors, and a native search takes longer to start. */
  #findKey(bytes: Uint8Array): boolean {
    let at = this.#at
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] as number
      if (this.#stringStart !== NO_STRING) {
        if (byte === BACKSLASH) at += 1
        else if (byte === QUOTE && this.#endString(bytes, at + 1)) {
          this.#at = at + 1
          return true
        }
      } else if (byte === QUOTE) this.#stringStart = at
      else if (byte === OPEN || byte === OPEN_OBJECT) {
        if (this.#depth === FIELD_DEPTH) this.#isInData = this.#isDataNext && byte === OPEN
        this.#depth += 1
      } else if (byte === CLOSE || byte === CLOSE_OBJECT) this.#depth -= 1
    }
    this.#at = at
    return false
  }

  /** Returns true when the string is the key of a vector. */
  #endString(bytes: Uint8Array, end: number): boolean {
    const start = this.#stringStart
    this.#stringStart = NO_STRING
    if (this.#depth === FIELD_DEPTH) this.#isDataNext = isText(bytes, start, end, DATA)
    if (this.#depth !== ITEM_FIELD_DEPTH || !this.#isInData || !isText(bytes, start, end, KEY)) return false
    this.#keyStart = start
    this.#stage = 'colon'
    return true
  }

  /** The first byte behind the key, or behind its colon, that is no space. */
  #behindKey(byte: number): void {
    if (this.#stage === 'colon' && byte === COLON) {
      this.#stage = 'value'
      this.#at += 1
    } else if (this.#stage === 'value' && (byte === QUOTE || byte === OPEN)) {
      this.#stage = 'end'
      this.#valueStart = this.#at
      this.#at += 1
    } else {
      // No key, or its value is neither a string nor an array.
      this.#stage = 'key'
      this.#at = this.#keyStart + KEY.length
    }
  }

  #keepSkeleton(bytes: Uint8Array, start: number, end: number): void {
    this.#skeleton += this.#options.decode(bytes, start, end, 'utf8')
    if (this.#skeleton.length > MAX_SKELETON_LENGTH)
      throw new BrokenAnswer('more than 2 MB beside its vectors')
  }

  #readVector(bytes: Uint8Array, start: number, end: number): Vector {
    const { outputType } = this.#options
    if (outputType !== undefined) return this.#readTyped(bytes, start, end, outputType)
    return bytes[start] === QUOTE ? this.#readBase64(bytes, start, end) : this.#readNumbers(bytes, start, end)
  }

  #readBase64(bytes: Uint8Array, start: number, end: number): Vector {
    const { decode } = this.#options
    let base64 = decode(bytes, start + 1, end - 1, 'latin1')
    // Some JSON writers escape every slash.
    if (base64.length !== base64LengthOf(this.#width)) base64 = base64.replaceAll(String.raw`\/`, '/')
    try {
      const isBase64 = this.#form === 'base64' || this.#form === 'base64Bytes'
      if (isBase64 && base64.length === base64LengthOf(this.#width)) {
        refuse(faultInBase64(base64, this.#width))
        const isAsSent = end - start - 2 === base64.length
        return this.#form === 'base64Bytes' && isAsSent
          ? { form: 'base64Bytes', bytes: bytes.subarray(start + 1, end - 1) }
          : { form: 'base64', base64 }
      }
      const values = decodeBase64(base64)
      this.#settle(values.length)
      refuse(faultIn(values, this.#width))
      return { form: 'float32', values }
    } catch (error) {
      if (error instanceof BrokenAnswer) throw error
      throw new BrokenAnswer('a vector that is not base64 of float32 values', { isLasting: true })
    }
  }

  #readNumbers(bytes: Uint8Array, start: number, end: number): Vector {
    const { decode } = this.#options
    if (this.#form === 'text') {
      const scan = scanNumbers(bytes, start, end)
      if (!scan) throw new BrokenAnswer('a vector that is not a JSON array of numbers')
      this.#settle(scan.count)
      if (scan.count !== this.#width) refuse(widthFault(scan.count, this.#width))
      if (this.#form === 'text' && scan.plainlySound)
        return { form: 'text', text: bytes.subarray(start, end) }
    }
    const values = numbersOf(decode(bytes, start, end, 'latin1'))
    this.#settle(values.length)
    refuse(faultIn(values, this.#width))
    return this.#form === 'text'
      ? { form: 'text', text: bytes.subarray(start, end) }
      : { form: 'float32', values }
  }

  /** Whole numbers of the type. A vector of zeros is one, since zero is a value of some scales. */
  #readTyped(bytes: Uint8Array, start: number, end: number, type: WholeType): Vector {
    const values = numbersOf(this.#options.decode(bytes, start, end, 'latin1'))
    if (values.length !== this.#width) refuse(widthFault(values.length, this.#width))
    const reason = faultInTyped(values, type)
    if (reason !== undefined) throw new BrokenAnswer(reason, { isLasting: true })
    return { form: 'float32', values }
  }

  /**
   * The first vector decides the width of all: an upstream that ignores `dimensions` does so for each of them. Such vectors
   * will be cut, so they are needed as values, and are parsed as they arrive.
   */
  #settle(count: number): void {
    if (this.#vectors.length > 0 || count !== this.#options.fullWidth) return
    this.#width = count
    this.#form = 'float32'
  }
}

function isText(bytes: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  if (end - start !== text.length) return false
  for (let index = 0; index < text.length; index += 1) if (bytes[start + index] !== text[index]) return false
  return true
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
  if (fault !== undefined) {
    const { reason, wrongWidth } = fault
    throw new BrokenAnswer(reason, { wrongWidth, isLasting: wrongWidth !== undefined })
  }
}

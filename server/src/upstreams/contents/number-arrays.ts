/**
 * Reads an answer whose vectors may be anywhere in it, as it arrives. Arrays that begin with a number are lifted out of the
 * bytes one by one and replaced by their ordinals; the rest is small, and is parsed as JSON at the end. An answer of many
 * megabytes is therefore read in steps no longer than one vector.
 */
import { BrokenAnswer } from '#core/fault/broken-answer.ts'
import type { Float32Vector } from '#core/embedding/vector.ts'

/** Longest array of numbers, and longest text between two: 16,384 dimensions at 24 bytes a number, with a margin. */
const MAX_PENDING_BYTES = 1024 * 1024
/** Longest answer without its vectors. More would take too long to parse in one step. */
const MAX_SKELETON_LENGTH = 2 * 1024 * 1024

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = 0x5b
const CLOSE = 0x5d
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const SPACE = 0x20

/** `opened`: behind a bracket, where a number makes it a vector. */
type Place = 'json' | 'string' | 'escape' | 'opened' | 'vector'

export class NumberArrays {
  readonly #vectors: Float32Vector[] = []
  #skeleton = ''
  #place: Place = 'json'
  /** Bytes that belong to the current text or vector, from earlier chunks. */
  #pending: Uint8Array[] = []
  #pendingBytes = 0

  push(chunk: Uint8Array): void {
    let start = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number
      if (this.#place === 'vector') {
        // Nothing but numbers can be inside.
        const end = chunk.indexOf(CLOSE, at)
        if (end === -1) break
        this.#keep(chunk.subarray(start, end + 1))
        this.#skeleton += String(this.#vectors.length)
        this.#vectors.push({ form: 'float32', values: numbersIn(this.#take('latin1')) })
        start = end + 1
        at = end
        this.#place = 'json'
      } else if (this.#place === 'opened' && isNumberStart(byte)) {
        this.#keep(chunk.subarray(start, at))
        // The bracket may have come with an earlier chunk, and with spaces behind it.
        const before = this.#take('utf8').trimEnd()
        this.#write(before.slice(0, -1))
        this.#keep(OPENING)
        start = at
        this.#place = 'vector'
      } else this.#place = placeAfter(this.#place, byte)
    }
    this.#keep(chunk.subarray(start))
  }

  end(): { readonly skeleton: string; readonly vectors: readonly Float32Vector[] } {
    this.#write(this.#take('utf8'))
    return { skeleton: this.#skeleton, vectors: this.#vectors }
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#pending.push(bytes)
    this.#pendingBytes += bytes.length
    if (this.#pendingBytes > MAX_PENDING_BYTES) throw new BrokenAnswer('a value of more than 1 MB')
  }

  #take(encoding: 'latin1' | 'utf8'): string {
    const text = Buffer.concat(this.#pending).toString(encoding)
    this.#pending = []
    this.#pendingBytes = 0
    return text
  }

  #write(text: string): void {
    this.#skeleton += text
    if (this.#skeleton.length > MAX_SKELETON_LENGTH)
      throw new BrokenAnswer('more than 2 MB beside its vectors')
  }
}

const OPENING = Uint8Array.of(OPEN)

function placeAfter(place: Place, byte: number): Place {
  switch (place) {
    case 'escape':
      return 'string'
    case 'string':
      if (byte === BACKSLASH) return 'escape'
      return byte === QUOTE ? 'json' : 'string'
    default:
      if (byte === QUOTE) return 'string'
      if (byte === OPEN) return 'opened'
      return place === 'opened' && byte <= SPACE ? 'opened' : 'json'
  }
}

function isNumberStart(byte: number): boolean {
  return byte === MINUS || (byte >= ZERO && byte <= NINE)
}

function numbersIn(text: string): Float32Array {
  let values: unknown
  try {
    values = JSON.parse(text)
  } catch {
    throw new BrokenAnswer('a vector that is not a JSON array of numbers')
  }
  if (Array.isArray(values) && values.every((value) => typeof value === 'number'))
    return Float32Array.from(values)
  throw new BrokenAnswer('a vector that is not a JSON array of numbers')
}

/**
 * Pages of a PDF, counted where they are readable without decompressing. A PDF with compressed objects may have more: its
 * pages are unknown unless its first object gives their number.
 */
import type { MediaFacts, MediaReader } from './reader.ts'

/** Bytes searched for the first object, which gives the number of pages where a PDF is made for reading while it arrives. */
const FIRST_BYTES = 1024
/** The longest name that matters is `ObjStm`. A longer one is another. */
const MAX_NAME_BYTES = 8
const SLASH = 0x2f

/** Where the search is: before a name, in one, or after `/Type`. */
type Place = 'outside' | 'name' | 'after type'

export class PdfReader implements MediaReader {
  #first = ''
  #place: Place = 'outside'
  #name = ''
  /** Whether the name before this one was `/Type`. */
  #isType = false
  #pages = 0
  #hasHidden = false

  push(bytes: Uint8Array): undefined {
    if (this.#first.length < FIRST_BYTES)
      this.#first += String.fromCharCode(...bytes.subarray(0, FIRST_BYTES - this.#first.length))
    for (let at = 0; at < bytes.length;) {
      if (this.#place === 'outside') {
        const slash = bytes.indexOf(SLASH, at)
        if (slash === -1) return
        this.#begin(false)
        at = slash + 1
        continue
      }
      this.#step(bytes[at] as number)
      at += 1
    }
  }

  end(): MediaFacts {
    if (this.#place === 'name') this.#endName()
    const announced = /\/Linearized\b/.test(this.#first)
      ? /\/N\s+(\d{1,6})\b/.exec(this.#first)?.[1]
      : undefined
    if (announced !== undefined) return { pages: Math.max(Number(announced), this.#pages) }
    return { pages: this.#hasHidden || this.#pages === 0 ? undefined : this.#pages }
  }

  #begin(isType: boolean): void {
    this.#place = 'name'
    this.#name = ''
    this.#isType = isType
  }

  #step(byte: number): void {
    if (this.#place === 'name') {
      if (isLetter(byte) && this.#name.length < MAX_NAME_BYTES) this.#name += String.fromCharCode(byte)
      else {
        this.#endName()
        this.#next(byte)
      }
    } else this.#next(byte)
  }

  #next(byte: number): void {
    if (byte === SLASH) this.#begin(this.#place === 'after type')
    else if (!isSpace(byte)) this.#place = 'outside'
  }

  #endName(): void {
    if (this.#isType && this.#name === 'Page') this.#pages += 1
    if (this.#isType && this.#name === 'ObjStm') this.#hasHidden = true
    this.#place = this.#name === 'Type' ? 'after type' : 'outside'
  }
}

function isLetter(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte === 0x0c || byte === 0
}

import { createHash } from 'node:crypto'
import { canonicalLine, HASHED_MS, LINE_SEPARATOR, type CanonicalRow } from '#core/money/canonical-entry.ts'

/** Characters that are hashed at once: a call for each line takes as long as the line itself. */
const HASHED_CHARACTERS = 64 * 1024

/** The hash of a sealed hour, from its entries in canonical order. */
export class HourHash {
  readonly #hash = createHash('sha256')
  #stretch = -1
  #part = createHash('sha256')
  #text = ''

  /** `moment`: Unix milliseconds of the request's id. */
  add(entry: CanonicalRow, moment: number): void {
    const stretch = Math.floor(moment / HASHED_MS)
    const isFirst = stretch !== this.#stretch
    if (isFirst) this.#endStretch()
    this.#stretch = stretch
    this.#text += `${isFirst ? '' : LINE_SEPARATOR}${canonicalLine(entry)}`
    if (this.#text.length > HASHED_CHARACTERS) this.#hashText()
  }

  /** In hex. */
  digest(): string {
    this.#endStretch()
    return this.#hash.digest('hex')
  }

  #endStretch(): void {
    if (this.#stretch === -1) return
    this.#hashText()
    this.#hash.update(this.#part.digest())
    this.#part = createHash('sha256')
    this.#stretch = -1
  }

  #hashText(): void {
    this.#part.update(this.#text)
    this.#text = ''
  }
}

/** Rows of equal length, sorted by their first bytes. */
import { setImmediate as pause } from 'node:timers/promises'
import type { RowForm } from './layout.ts'

/** The bytes of a file, or of memory. */
export interface ReadableBytes {
  readonly size: number
  /** Of the file. Undefined: they are in memory. */
  readonly identity: string | undefined
  /** Fills the start of `target`. Throws when there are fewer bytes. */
  read(target: Buffer, bytes: number, position: number): void
  close(): void
}

/** Rows of a bucket: one read of a page of the disk. */
const ROWS_PER_BUCKET = 16
/** Bits of a bucket's number: more would take more than 64 MB. */
const MAX_BITS = 24
/** A step of work over rows: about a millisecond. */
export const STEP_BYTES = 262_144

function bitsFor(buckets: number): number {
  return Math.min(MAX_BITS, Math.max(1, Math.ceil(Math.log2(Math.max(1, buckets)))))
}

/** Rows in a file. Digests are spread evenly, so the first bits of one say in which few rows it is. */
export class RowsInFile {
  readonly #bytes: ReadableBytes
  readonly #form: RowForm
  readonly #start: number
  readonly #shift: number
  /** The number of the first row of each bucket, and of the end. */
  readonly #firsts: Uint32Array
  #bucket = Buffer.allocUnsafeSlow(4096)

  private constructor(
    bytes: ReadableBytes,
    form: RowForm,
    start: number,
    firsts: Uint32Array,
    shift: number,
  ) {
    this.#bytes = bytes
    this.#form = form
    this.#start = start
    this.#firsts = firsts
    this.#shift = shift
  }

  static async open(bytes: ReadableBytes, form: RowForm, start: number, rows: number): Promise<RowsInFile> {
    const bits = bitsFor(rows / ROWS_PER_BUCKET)
    const shift = 32 - bits
    const firsts = new Uint32Array(2 ** bits + 1)
    const step = Buffer.allocUnsafeSlow(STEP_BYTES - (STEP_BYTES % form.bytes))
    for (let done = 0; done < rows * form.bytes; done += step.length) {
      const length = Math.min(step.length, rows * form.bytes - done)
      bytes.read(step, length, start + done)
      for (let at = 0; at < length; at += form.bytes) firsts[(step.readUInt32BE(at) >>> shift) + 1]! += 1
      await pause()
    }
    addUp(firsts)
    return new RowsInFile(bytes, form, start, firsts, shift)
  }

  /** Calls `use` with each row that begins with these bytes until it returns something. */
  find<Found>(key: Buffer, use: (row: Buffer) => Found | undefined): Found | undefined {
    const { bytes: rowBytes, keyBytes } = this.#form
    const prefix = key.readUInt32BE(0)
    const bucket = prefix >>> this.#shift
    const first = this.#firsts[bucket] as number
    const length = ((this.#firsts[bucket + 1] as number) - first) * rowBytes
    if (length > this.#bucket.length) this.#bucket = Buffer.allocUnsafeSlow(length)
    const rows = this.#bucket
    this.#bytes.read(rows, length, this.#start + first * rowBytes)
    for (let at = 0; at < length; at += rowBytes) {
      if (rows.readUInt32BE(at) !== prefix) continue
      if (rows.compare(key, 0, keyBytes, at, at + keyBytes) !== 0) continue
      const found = use(rows.subarray(at, at + rowBytes))
      if (found !== undefined) return found
    }
    return undefined
  }
}

function addUp(counts: Uint32Array): void {
  for (let bucket = 1; bucket < counts.length; bucket += 1) counts[bucket]! += counts[bucket - 1] as number
}

/** Rows that are collected in any order, as bytes and not as objects: there may be millions. */
export class CollectedRows {
  readonly #form: RowForm
  readonly #steps: Buffer[] = []
  #used = 0

  constructor(form: RowForm) {
    this.#form = form
  }

  get count(): number {
    const perStep = this.#perStep
    return this.#steps.length === 0 ? 0 : (this.#steps.length - 1) * perStep + this.#used / this.#form.bytes
  }

  get #perStep(): number {
    return Math.floor(STEP_BYTES / this.#form.bytes)
  }

  add(row: Buffer): void {
    const stepBytes = this.#perStep * this.#form.bytes
    if (this.#steps.length === 0 || this.#used === stepBytes) {
      this.#steps.push(Buffer.allocUnsafeSlow(stepBytes))
      this.#used = 0
    }
    row.copy(this.#steps.at(-1) as Buffer, this.#used)
    this.#used += this.#form.bytes
  }

  /** Spreads the rows over about as many buckets as there are rows, then sorts the few of each. */
  async sorted(): Promise<Buffer> {
    const { bytes: rowBytes } = this.#form
    const bits = bitsFor(this.count)
    const shift = 32 - bits
    const ends = new Uint32Array(2 ** bits + 1)
    const lengthOf = (step: Buffer): number => (step === this.#steps.at(-1) ? this.#used : step.length)
    for (const step of this.#steps) {
      for (let at = 0; at < lengthOf(step); at += rowBytes) ends[(step.readUInt32BE(at) >>> shift) + 1]! += 1
      await pause()
    }
    addUp(ends)
    const sorted = Buffer.allocUnsafeSlow(this.count * rowBytes)
    for (const step of this.#steps) {
      for (let at = 0; at < lengthOf(step); at += rowBytes) {
        const bucket = step.readUInt32BE(at) >>> shift
        // The first of a bucket moves with each row until it is the end of the bucket.
        const to = ends[bucket] as number
        ends[bucket] = to + 1
        step.copy(sorted, to * rowBytes, at, at + rowBytes)
      }
      await pause()
    }
    await this.#sortBuckets(sorted, ends)
    return sorted
  }

  /** By insertion. `ends`: of the buckets. */
  async #sortBuckets(sorted: Buffer, ends: Uint32Array): Promise<void> {
    const { bytes: rowBytes, keyBytes } = this.#form
    const moved = Buffer.allocUnsafeSlow(rowBytes)
    let start = 0
    for (const [bucket, end] of ends.entries()) {
      for (let row = start + 1; row < end; row += 1) {
        let to = row
        while (to > start && isAfter(sorted, (to - 1) * rowBytes, row * rowBytes, keyBytes)) to -= 1
        if (to === row) continue
        sorted.copy(moved, 0, row * rowBytes, (row + 1) * rowBytes)
        sorted.copyWithin((to + 1) * rowBytes, to * rowBytes, row * rowBytes)
        moved.copy(sorted, to * rowBytes)
      }
      start = end
      if (bucket % 65_536 === 65_535) await pause()
    }
  }
}

function isAfter(rows: Buffer, left: number, right: number, keyBytes: number): boolean {
  return rows.compare(rows, right, right + keyBytes, left, left + keyBytes) > 0
}

/**
 * Finds names that stand twice in a file of any length, in bounded memory: digests go into buckets on the disk, and each
 * bucket is looked through alone at the end. Ten million names take 240 MB of disk for as long as they are read.
 */
import { hash, randomBytes } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A bucket of twenty million names has 310,000, which are looked through in 12 MB. */
const BUCKETS = 64
/** 128 bits of the digest, by which names are told apart, and the number of the line. */
const DIGEST_BYTES = 16
const ENTRY_BYTES = DIGEST_BYTES + 8
/** Of one bucket, in memory until they are written at once. */
const BUFFERED_ENTRIES = 512
/** So many lines are named; the others are counted. */
const NAMED_LINES = 100
/** Lines that are remembered before all but the first hundred of them are forgotten again. */
const REMEMBERED_LINES = 10_000

export interface RepeatedLines {
  /** The first hundred lines whose name stands in an earlier line. */
  readonly lines: readonly number[]
  readonly count: number
}

/** What a process leaves that dies has no name, and is gone with it. */
export class RepeatedIds {
  readonly #folder: string
  readonly #buckets = Array.from({ length: BUCKETS }, () => new Bucket())

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Lines come in order. */
  add(customId: string, line: number): void {
    const digest = hash('sha256', customId, 'buffer')
    this.#buckets[(digest[DIGEST_BYTES] as number) % BUCKETS]?.add(digest, line, this.#folder)
  }

  repeated(): RepeatedLines {
    let lines: number[] = []
    let count = 0
    for (const bucket of this.#buckets)
      for (const line of bucket.repeated()) {
        count += 1
        lines.push(line)
        if (lines.length >= REMEMBERED_LINES) lines = firstOf(lines)
      }
    return { lines: firstOf(lines), count }
  }

  close(): void {
    for (const bucket of this.#buckets) bucket.close()
  }
}

function firstOf(lines: readonly number[]): number[] {
  return lines.toSorted((one, another) => one - another).slice(0, NAMED_LINES)
}

class Bucket {
  #buffered: Buffer | undefined
  #entries = 0
  /** Without a name. Undefined: all entries are in memory. */
  #file: number | undefined

  add(digest: Buffer, line: number, folder: string): void {
    this.#buffered ??= Buffer.allocUnsafeSlow(BUFFERED_ENTRIES * ENTRY_BYTES)
    const at = this.#entries * ENTRY_BYTES
    digest.copy(this.#buffered, at, 0, DIGEST_BYTES)
    this.#buffered.writeDoubleLE(line, at + DIGEST_BYTES)
    this.#entries += 1
    if (this.#entries === BUFFERED_ENTRIES) this.#spill(this.#buffered, folder)
  }

  *repeated(): Generator<number> {
    const entries = this.#all()
    const count = entries.length / ENTRY_BYTES
    const seen = new SeenDigests(entries, count)
    for (let entry = 0; entry < count; entry += 1)
      if (!seen.add(entry)) yield entries.readDoubleLE(entry * ENTRY_BYTES + DIGEST_BYTES)
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
    this.#buffered = undefined
    this.#entries = 0
  }

  #spill(buffered: Buffer, folder: string): void {
    this.#file ??= namelessFile(folder)
    for (let done = 0; done < buffered.length;)
      done += writeSync(this.#file, buffered, done, buffered.length - done)
    this.#entries = 0
  }

  #all(): Buffer {
    const inMemory = this.#buffered?.subarray(0, this.#entries * ENTRY_BYTES) ?? Buffer.alloc(0)
    if (this.#file === undefined) return inMemory
    const { size } = fstatSync(this.#file)
    const all = Buffer.allocUnsafeSlow(size + inMemory.length)
    for (let done = 0; done < size;) {
      const bytesRead = readSync(this.#file, all, done, size - done, done)
      if (bytesRead === 0) throw new Error('a bucket of names ends too early')
      done += bytesRead
    }
    inMemory.copy(all, size)
    return all
  }
}

function namelessFile(folder: string): number {
  const path = join(folder, randomBytes(16).toString('hex'))
  const file = openSync(path, 'wx+', 0o600)
  rmSync(path)
  return file
}

/** A table of places, twice as large as there are digests: whose place is taken looks at the next one. */
class SeenDigests {
  readonly #entries: Buffer
  /** The number of an entry and one, or 0 for none. */
  readonly #table: Uint32Array
  readonly #mask: number

  constructor(entries: Buffer, count: number) {
    this.#entries = entries
    const size = 2 ** Math.ceil(Math.log2(Math.max(2, count * 2)))
    this.#table = new Uint32Array(size)
    this.#mask = size - 1
  }

  /** False: an earlier entry has the same digest. */
  add(entry: number): boolean {
    const start = entry * ENTRY_BYTES
    let place = this.#entries.readUInt32LE(start) & this.#mask
    for (;;) {
      const taken = this.#table[place] as number
      if (taken === 0) break
      const other = (taken - 1) * ENTRY_BYTES
      if (
        this.#entries.compare(this.#entries, start, start + DIGEST_BYTES, other, other + DIGEST_BYTES) === 0
      )
        return false
      place = (place + 1) & this.#mask
    }
    this.#table[place] = entry + 1
    return true
  }
}

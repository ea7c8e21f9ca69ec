/**
 * Finds names that occur twice in a file of any length, in bounded memory: digests go into buckets on disk,
 * and each bucket is searched alone at the end. Ten million names take 240 MB of disk while they are read.
 */
import { hash, randomBytes } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** With twenty million names a bucket has 310,000, which are searched in 12 MB. */
const BUCKETS = 64
/** 128 bits of the digest, which identify a name, and the number of the line. */
const DIGEST_BYTES = 16
const ENTRY_BYTES = DIGEST_BYTES + 8
/** Entries of one bucket in memory before they are written together. */
const BUFFERED_ENTRIES = 512
/** Lines that are listed; the others are counted. */
const NAMED_LINES = 100
/** Lines remembered before all but the first hundred are dropped. */
const REMEMBERED_LINES = 10_000

export interface RepeatedLines {
  /** The first hundred lines whose name occurs in an earlier line. */
  readonly lines: readonly number[]
  readonly count: number
}

/** Its files are unnamed: a process that dies leaves nothing behind. */
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
  /** An unnamed file. Undefined while all entries are in memory. */
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

/** An open-addressing table, twice as large as the number of digests. */
class SeenDigests {
  readonly #entries: Buffer
  /** The number of an entry plus one, or 0 for none. */
  readonly #table: Uint32Array
  readonly #mask: number

  constructor(entries: Buffer, count: number) {
    this.#entries = entries
    const size = 2 ** Math.ceil(Math.log2(Math.max(2, count * 2)))
    this.#table = new Uint32Array(size)
    this.#mask = size - 1
  }

  /** False when an earlier entry has the same digest. */
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

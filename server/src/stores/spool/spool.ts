/**
 * Entries that wait on disk for the store. Each group is one frame (length, CRC-32, text) and is fsynced before it is reported as
 * safe. An unreadable frame delays no other; its file is kept for a person.
 */
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { open, readFile, rename, unlink, type FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { Spool } from '#ports/ledger.ts'
import { entryFrom, entryText } from '#core/money/entry-text.ts'
import { checkInPlace, segmentNumber, segmentPath, segmentsIn } from './segments.ts'

const NAME = 'spool'
/** Segments with unreadable frames, for a person to look at. */
const DAMAGED = 'damaged'

const HEADER_BYTES = 8
const LINE_FEED = 0x0a
/** Size at which a new file is begun: it is read into memory as a whole when it is drained. */
const SEGMENT_BYTES = 16 * 1024 * 1024
/** About 20 million entries: a day of 230 requests per second. Beyond it something else is wrong, and the disk must not fill up. */
const MAX_BYTES = 5 * 1024 * 1024 * 1024
/** More than an entry needs, and more than is left of the last block of a full disk. */
const PROBE = Buffer.alloc(4096)
/** Entries handed over at once. */
const PAGE_ENTRIES = 1000

export class FileSpool implements Spool {
  readonly #folder: string
  readonly #segmentBytes: number
  #number: number
  #file: FileHandle | undefined
  #fileBytes = 0
  #bytes: number
  #waiting = 0
  /** Segments of an earlier process that are not counted yet. There may be gigabytes, so they are counted only when needed. */
  readonly #uncounted: Set<string>
  #turn: Promise<unknown> = Promise.resolve()

  constructor(folder: string, segmentBytes = SEGMENT_BYTES) {
    this.#folder = folder
    this.#segmentBytes = segmentBytes
    mkdirSync(folder, { recursive: true })
    const segments = segmentsIn(folder, NAME)
    this.#number = 1 + Math.max(0, ...segments.map(segmentNumber))
    this.#bytes = segments.reduce((sum, path) => sum + statSync(path).size, 0)
    this.#uncounted = new Set(segments)
  }

  get waiting(): number {
    for (const path of this.#uncounted) this.#waiting += segmentOf(readFileSync(path)).entries
    this.#uncounted.clear()
    return this.#waiting
  }

  append(entries: readonly LedgerEntry[]): Promise<void> {
    if (entries.length === 0) return Promise.resolve()
    return this.#inTurn(async () => {
      const frame = frameOf(entries)
      await this.#write(frame)
      this.#fileBytes += frame.length
      this.#bytes += frame.length
      this.#waiting += entries.length
      if (this.#fileBytes > this.#segmentBytes) await this.#endSegment()
    })
  }

  prepare(): Promise<void> {
    return this.#inTurn(async () => checkInPlace(await (await this.#current()).stat(), this.#path()))
  }

  probe(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#write(PROBE)
      await this.#file?.truncate(this.#fileBytes)
    })
  }

  async drain(take: (entries: readonly LedgerEntry[]) => Promise<void>): Promise<void> {
    // A file that was opened in advance stays open.
    await this.#inTurn(async () => void (this.#fileBytes > 0 && (await this.#endSegment())))
    const end = this.#number
    for (const path of segmentsIn(this.#folder, NAME)) {
      // Later entries wait for the next time.
      if (segmentNumber(path) >= end) break
      const { groups, entries, bytes, isWhole } = segmentOf(await readFile(path))
      for (const page of pagesOf(groups)) await take(page)
      await (isWhole ? unlink(path) : rename(path, segmentPath(this.#folder, DAMAGED, segmentNumber(path))))
      this.#bytes -= bytes
      if (!this.#uncounted.delete(path)) this.#waiting -= entries
    }
  }

  close(): Promise<void> {
    return this.#inTurn(() => this.#endSegment())
  }

  async #current(): Promise<FileHandle> {
    if (this.#file !== undefined) return this.#file
    this.#file = await open(this.#path(), 'w', 0o600)
    // Otherwise a power cut could lose the name of the file, and all its contents.
    const folder = await open(this.#folder, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
    return this.#file
  }

  #path(): string {
    return segmentPath(this.#folder, NAME, this.#number)
  }

  /** Appends to the file and fsyncs. Nothing of it is left when it rejects. */
  async #write(bytes: Buffer): Promise<void> {
    if (this.#bytes + bytes.length > MAX_BYTES)
      throw new Error(`the spool holds ${this.#bytes} bytes: it is full`)
    const file = await this.#current()
    const atBytes = this.#fileBytes
    try {
      await writeWhole(file, bytes, atBytes)
      await file.datasync()
      checkInPlace(await file.stat(), this.#path())
    } catch (error) {
      await this.#giveUp(file, atBytes)
      throw error
    }
  }

  /**
   * Cuts off what was half written. Later entries begin a file of their own, unless this one is empty: creating a new one might fail.
   */
  async #giveUp(file: FileHandle, atBytes: number): Promise<void> {
    const isCut = await file.truncate(atBytes).then(
      () => true,
      () => false,
    )
    if (!isCut || atBytes > 0) await this.#endSegment()
  }

  async #endSegment(): Promise<void> {
    if (this.#file === undefined) return
    const file = this.#file
    this.#file = undefined
    this.#fileBytes = 0
    this.#number += 1
    await file.close()
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => {})
    return result
  }
}

export function isForPeople(file: string): boolean {
  return file.startsWith(`${DAMAGED}-`)
}

function frameOf(entries: readonly LedgerEntry[]): Buffer {
  const text = Buffer.from(entries.map(entryText).join('\n'))
  const frame = Buffer.allocUnsafe(HEADER_BYTES + text.length)
  frame.writeUInt32LE(text.length, 0)
  frame.writeUInt32LE(crc32(text), 4)
  text.copy(frame, HEADER_BYTES)
  return frame
}

async function writeWhole(file: FileHandle, bytes: Buffer, atBytes: number): Promise<void> {
  // A disk that is nearly full takes a part, and only the returned number shows it.
  for (let done = 0; done < bytes.length;)
    done += (await file.write(bytes, done, bytes.length - done, atBytes + done)).bytesWritten
}

interface Segment {
  /** The texts of all readable frames. */
  readonly groups: readonly Buffer[]
  /** The number of entries in them. */
  readonly entries: number
  readonly bytes: number
  /** Nothing in it was truncated or damaged. */
  readonly isWhole: boolean
}

function segmentOf(bytes: Buffer): Segment {
  const groups: Buffer[] = []
  let isWhole = true
  let at = 0
  while (at + HEADER_BYTES < bytes.length) {
    const end = at + HEADER_BYTES + bytes.readUInt32LE(at)
    const text = bytes.subarray(at + HEADER_BYTES, end)
    // An empty frame is never written: it is a stretch of zeros that the system left after a power cut.
    if (end > bytes.length || text.length === 0) break
    if (crc32(text) === bytes.readUInt32LE(at + 4)) groups.push(text)
    else isWhole = false
    at = end
  }
  const entries = groups.reduce((sum, text) => sum + linesIn(text), 0)
  return { groups, entries, bytes: bytes.length, isWhole: isWhole && at === bytes.length }
}

function linesIn(text: Buffer): number {
  let lines = 1
  for (let at = text.indexOf(LINE_FEED); at !== -1; at = text.indexOf(LINE_FEED, at + 1)) lines += 1
  return lines
}

/** Parsed on demand: a whole file at once would block the event loop. */
function* pagesOf(groups: readonly Buffer[]): Generator<readonly LedgerEntry[]> {
  let page: LedgerEntry[] = []
  for (const text of groups) {
    for (const line of text.toString('utf8').split('\n')) {
      page.push(entryFrom(line))
      if (page.length < PAGE_ENTRIES) continue
      yield page
      page = []
    }
  }
  if (page.length > 0) yield page
}

/**
 * Calls in progress, in a local file: a line when a call is about to be sent, a line when it is accounted for. What was handed to the
 * system survives `kill -9`; nothing is fsynced, so a lost machine loses it.
 */
import { closeSync, fstatSync, openSync, readFileSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import type { Journal, OpenCall } from '#ports/ledger.ts'
import { entryFrom, entryText } from '#core/money/entry-text.ts'
import { checkInPlace, segmentPath, segmentsIn } from './segments.ts'

const NAME = 'journal'
/** Size at which a new file is begun: reading it back takes well under a second. */
const SEGMENT_BYTES = 32 * 1024 * 1024
const NO_FILE = -1
/** More than a call needs, and more than is left of the last block of a full disk. Readers skip empty lines. */
const EMPTY_LINES = '\n'.repeat(4096)

/** The line of an open call, and of the others that its request has open. */
interface OpenLine {
  readonly attempt: number
  line: string
  next: OpenLine | undefined
}

export class FileJournal implements Journal {
  readonly #folder: string
  readonly #segmentBytes: number
  /** By request, of which nearly every one has one call. A joined name would be built and hashed twice for each. */
  readonly #open = new Map<string, OpenLine>()
  #size = 0
  #number = 0
  #file: number
  #bytes = 0
  #pending = ''
  #batch: PromiseWithResolvers<void> | undefined
  #isScheduled = false

  constructor(folder: string, segmentBytes = SEGMENT_BYTES) {
    this.#folder = folder
    this.#segmentBytes = segmentBytes
    this.#file = openSync(segmentPath(folder, NAME, 0), 'a', 0o600)
  }

  get size(): number {
    return this.#size
  }

  open(call: OpenCall): Promise<void> {
    const line = `+${entryText(call)}\n`
    this.#remember(call, line)
    this.#batch ??= Promise.withResolvers<void>()
    this.#add(line)
    return this.#batch.promise
  }

  close(requestId: string, attempt: number): void {
    if (this.#forget(requestId, attempt)) this.#add(`-${requestId}/${attempt}\n`)
  }

  has(requestId: string, attempt: number): boolean {
    return this.#lineOf(requestId, attempt) !== undefined
  }

  #remember({ requestId, attempt }: OpenCall, line: string): void {
    const known = this.#lineOf(requestId, attempt)
    if (known !== undefined) {
      known.line = line
      return
    }
    this.#open.set(requestId, { attempt, line, next: this.#open.get(requestId) })
    this.#size += 1
  }

  /** False when it is not open. */
  #forget(requestId: string, attempt: number): boolean {
    const first = this.#open.get(requestId)
    if (first === undefined) return false
    if (first.attempt === attempt) {
      if (first.next === undefined) this.#open.delete(requestId)
      else this.#open.set(requestId, first.next)
    } else {
      let before = first
      while (before.next !== undefined && before.next.attempt !== attempt) before = before.next
      if (before.next === undefined) return false
      before.next = before.next.next
    }
    this.#size -= 1
    return true
  }

  #lineOf(requestId: string, attempt: number): OpenLine | undefined {
    let line = this.#open.get(requestId)
    while (line !== undefined && line.attempt !== attempt) line = line.next
    return line
  }

  checkPlace(): void {
    checkInPlace(fstatSync(this.#file), segmentPath(this.#folder, NAME, this.#number))
  }

  async probe(): Promise<void> {
    this.checkPlace()
    this.#batch ??= Promise.withResolvers<void>()
    this.#add(EMPTY_LINES)
    await this.#batch.promise
  }

  end(): void {
    this.#flush()
    closeSync(this.#file)
    // The number may soon belong to another file, to which a late writer must not write.
    this.#file = NO_FILE
  }

  /** One write for all lines of a turn of the event loop. */
  #add(line: string): void {
    this.#pending += line
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#flush())
  }

  #flush(): void {
    this.#isScheduled = false
    const [text, batch] = [this.#pending, this.#batch]
    if (text === '') return
    this.#pending = ''
    this.#batch = undefined
    try {
      this.#bytes += writeWhole(this.#file, text)
    } catch (error) {
      // The file may now end in a part of a line. The calls of this turn are not sent; lines that end calls are tried again.
      const ends = text.split('\n').filter((line) => line.startsWith('-'))
      this.#pending = `\n${ends.map((line) => `${line}\n`).join('')}${this.#pending}`
      batch?.reject(error)
      return
    }
    batch?.resolve()
    if (this.#bytes > this.#segmentBytes) this.#beginSegment()
  }

  /** Repeats the open calls in the new file, and only then deletes the old one. */
  #beginSegment(): void {
    const path = segmentPath(this.#folder, NAME, this.#number + 1)
    let file: number | undefined
    let bytes: number
    try {
      file = openSync(path, 'w', 0o600)
      bytes = writeWhole(file, this.#openLines())
    } catch {
      // The disk has no room for it. The old file goes on, and half a new one must not be read after it; the next turn tries again.
      if (file !== undefined) closeSync(file)
      rmSync(path, { force: true })
      return
    }
    closeSync(this.#file)
    unlinkSync(segmentPath(this.#folder, NAME, this.#number))
    this.#file = file
    this.#bytes = bytes
    this.#number += 1
  }

  #openLines(): string {
    let text = ''
    for (const first of this.#open.values())
      for (let one: OpenLine | undefined = first; one !== undefined; one = one.next) text += one.line
    return text
  }
}

export interface OpenCalls {
  readonly calls: readonly OpenCall[]
  /** Lines that cannot be read: a full disk cut them off. Their calls were never sent. */
  readonly damagedLines: number
}

/**
 * The calls that the journals of a folder leave open. A truncated last line is not a call: a call is sent only after its line is
 * complete.
 */
export function readOpenCalls(folder: string): OpenCalls {
  const open = new Map<string, OpenCall>()
  let damagedLines = 0
  for (const path of segmentsIn(folder, NAME)) {
    const lines = readFileSync(path, 'utf8').split('\n')
    lines.pop()
    for (const line of lines) {
      if (line === '') continue
      if (line.startsWith('-')) {
        open.delete(line.slice(1))
        continue
      }
      try {
        const call = entryFrom(line.slice(1))
        open.set(`${call.requestId}/${call.attempt}`, call)
      } catch {
        damagedLines += 1
      }
    }
  }
  return { calls: [...open.values()], damagedLines }
}

function writeWhole(file: number, text: string): number {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
  return bytes.length
}

import { mkdir } from 'node:fs/promises'
import { workerModule } from '#package/files.ts'
import {
  FileUnreadable,
  type FileReading,
  type FileScanning,
  type ReadFile,
  type ScanRequest,
} from '#ports/file-scan.ts'
import { SideEnded, TookTooLong } from '#thread/asked.ts'
import { Process } from '#thread/process.ts'
import { Turns } from '#thread/turns.ts'
import type { FileScanWorks } from './file-scan-worker.ts'

export interface ScanLimits {
  /** Megabytes of JavaScript values in the process. */
  readonly heapMb: number
  /** Megabytes of the process in all. */
  readonly memoryMb: number
  /** Time for one segment, or for the final pass over all names of a file. */
  readonly maxTaskMs: number
  /** Time that the process may work on one file. */
  readonly maxFileMs: number
  /** Time that the process stays without a file. */
  readonly idleMs: number
}

const LIMITS: ScanLimits = {
  // The chunks of the sixteen largest files take 300 MB, and a line of 16 MB, as text and parsed, 100.
  heapMb: 512,
  // Sixteen arriving files, each in the middle of a line of 16 MB, take 256 MB beside the heap.
  memoryMb: 1024,
  // A segment of 4 MB takes part of a second, the final pass over ten million names a few seconds, on a busy
  // machine more.
  maxTaskMs: 120_000,
  // The largest file, of 8 GB, at a twentieth of the usual pace.
  maxFileMs: 30 * 60_000,
  // It holds 55 MB, most of them shared with the node; starting it blocks the node for up to a tenth of a
  // second, so it must not start for every file.
  idleMs: 60_000,
}

/**
 * Time for which the process remembers open files without a new segment: more than a segment takes at the
 * slowest accepted pace.
 */
const OPEN_IDLE_MS = 2 * 3_600_000
/** Bytes sent at once: the process reads the first while the next are in transit. */
const PART_BYTES = 1024 * 1024
/** Waiting segments of a project: more than the slots for arriving files. */
const MAX_WAITING = 64
/** Times a file is read again from its start because the process ended while it was at another file. */
const MAX_LOST = 3
/**
 * Times the process may end while it is at one file. Once may be the fault of another file, whose garbage was
 * not collected yet: the second time it had this file almost to itself.
 */
const MAX_ENDS = 2

/**
 * Reads files in one process: their lines are untrusted, and must not hold up or end another request. It
 * works on one segment at a time, so that it is known which file it was at when it ended: that file fails if
 * it ends the next process too. The others are read again from the store.
 */
export class ProcessFileScanning implements FileScanning {
  readonly #process: Process<FileScanWorks>
  readonly #turns = new Turns({ atOnce: 1, maxWaiting: MAX_WAITING })
  readonly #open = new Set<number>()
  readonly #maxFileMs: number
  #lastId = 0

  private constructor(folder: string, { maxFileMs, idleMs, ...limits }: ScanLimits) {
    const restMs = (): number => (this.#open.size > 0 ? OPEN_IDLE_MS : idleMs)
    this.#process = new Process(workerModule('runtime/file-scan-worker'), { ...limits, idleMs: restMs }, [
      folder,
    ])
    this.#maxFileMs = maxFileMs
  }

  /** Names of requests are kept in the folder while they are compared, in unnamed files. */
  static async open(folder: string, limits: ScanLimits = LIMITS): Promise<ProcessFileScanning> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return new ProcessFileScanning(folder, limits)
  }

  /** Whether there is no process at the moment. */
  get isAsleep(): boolean {
    return this.#process.isAsleep
  }

  begin(asked: ScanRequest): FileReading {
    this.#lastId += 1
    const { project } = asked
    let usedMs = 0
    return new ProcessFileReading(this.#lastId, asked, {
      process: this.#process,
      open: this.#open,
      turn: (work) =>
        this.#turns.run({ project, timeoutMs: Infinity }, async () => {
          const startedMs = performance.now()
          const answer = await work()
          usedMs += performance.now() - startedMs
          if (usedMs <= this.#maxFileMs) return answer
          throw new TookTooLong(`the process worked for this file for more than ${this.#maxFileMs} ms`)
        }),
    })
  }

  async close(): Promise<void> {
    this.#turns.close()
    await this.#process.close()
  }
}

interface ReadingOutside {
  readonly process: Process<FileScanWorks>
  /** Files that the process remembers. */
  readonly open: Set<number>
  /** Runs work for this file when the process is at no other. */
  readonly turn: <Answer>(work: () => Promise<Answer>) => Promise<Answer>
}

class ProcessFileReading implements FileReading {
  readonly #id: number
  readonly #again: ScanRequest['again']
  readonly #outside: ReadingOutside
  /** Bytes of the pushed segments. */
  #bytes = 0
  #isBegun = false
  #isDone = false

  constructor(id: number, { again }: ScanRequest, outside: ReadingOutside) {
    this.#id = id
    this.#again = again
    this.#outside = outside
  }

  async push(segment: Uint8Array<ArrayBuffer>): Promise<void> {
    this.#isBegun = true
    this.#outside.open.add(this.#id)
    await this.#remembered(() => this.#pushed(segment, this.#bytes))
    this.#bytes += segment.length
  }

  async finish(): Promise<ReadFile> {
    const { process, turn } = this.#outside
    this.#end()
    return this.#remembered(() => turn(() => process.ask('finish', { id: this.#id, at: this.#bytes })))
  }

  async discard(): Promise<void> {
    if (this.#isDone || !this.#isBegun) return
    const { process } = this.#outside
    this.#end()
    // Without a turn: it takes no time. A process that has ended has nothing to forget.
    if (!process.isAsleep) await process.ask('discard', this.#id)
  }

  /** Undefined when the process does not know the bytes before. */
  #pushed(segment: Uint8Array, at: number): Promise<true | undefined> {
    const { process, turn } = this.#outside
    return turn(async () => {
      const asked: Promise<true | undefined>[] = []
      for (let start = 0; start < segment.length; start += PART_BYTES) {
        const part = segment.subarray(start, start + PART_BYTES)
        asked.push(process.ask('push', { id: this.#id, at: at + start, segment: part }))
      }
      const answers = await Promise.all(asked)
      return answers.includes(undefined) ? undefined : true
    })
  }

  /** Undefined is the answer of a process that does not know the file: the one that did has ended. */
  async #remembered<Answer>(ask: () => Promise<Answer | undefined>): Promise<Answer> {
    let ends = 0
    for (let lost = 0; lost <= MAX_LOST;) {
      try {
        if (lost + ends > 0) await this.#readAgain()
        const answer = await ask()
        if (answer !== undefined) return answer
        lost += 1
      } catch (error) {
        if (!(error instanceof SideEnded)) throw error
        ends += 1
        if (ends === MAX_ENDS || error instanceof TookTooLong)
          throw new FileUnreadable(error.message, { cause: error })
      }
    }
    throw new FileUnreadable(`the process that read this file ended ${MAX_LOST + 1} times`)
  }

  async #readAgain(): Promise<void> {
    if (this.#bytes === 0) return
    const { open } = this.#outside
    open.add(this.#id)
    try {
      let at = 0
      for await (const segment of this.#again(this.#bytes)) {
        // It has ended once more: the next answer shows it.
        if ((await this.#pushed(segment, at)) === undefined) return
        at += segment.length
      }
    } finally {
      if (this.#isDone) open.delete(this.#id)
    }
  }

  /** Before the last question: with its answer the process may have nothing to remember. */
  #end(): void {
    this.#isDone = true
    this.#outside.open.delete(this.#id)
  }
}

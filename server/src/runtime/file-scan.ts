import { mkdir } from 'node:fs/promises'
import { workerModule } from '#package/files.ts'
import type { FileReading, FileScanning, ReadFile } from '#ports/file-scan.ts'
import { Thread } from '#thread/thread.ts'
import type { FileScanWorks, ScanFolder } from './file-scan-worker.ts'

/** Lines of 16 MB and what they are parsed into, the chunks of the largest files, and garbage that is not collected yet. */
const MEMORY_MB = 512
/** A piece takes part of a second, the last look at ten million names a few. Longer by this much, something has gone wrong. */
const MAX_TASK_MS = 120_000
/** Longer than a piece takes at the slowest pace that is let through: the thread remembers open files. */
const OPEN_IDLE_MS = 2 * 3_600_000
/** Files come seldom, some at once. Without one the thread holds 30 MB for nothing, and is there again within 100 ms. */
const IDLE_MS = 2000

/** Files are read in one thread: their lines are made of what others sent, and must not hold up anybody's request. */
export class ThreadFileScanning implements FileScanning {
  readonly #thread: Thread<FileScanWorks>
  readonly #open = new Set<number>()
  #lastId = 0

  private constructor(folder: string) {
    const workerData: ScanFolder = { folder }
    const idleMs = (): number => (this.#open.size > 0 ? OPEN_IDLE_MS : IDLE_MS)
    const limits = { memoryMb: MEMORY_MB, maxTaskMs: MAX_TASK_MS, idleMs }
    this.#thread = new Thread(workerModule('runtime/file-scan-worker'), limits, { workerData })
  }

  /** Names of requests lie in the folder while they are compared, in files without names. */
  static async open(folder: string): Promise<ThreadFileScanning> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return new ThreadFileScanning(folder)
  }

  /** Whether the thread holds nothing at the moment. */
  get isAsleep(): boolean {
    return this.#thread.isAsleep
  }

  begin(): FileReading {
    this.#lastId += 1
    return new ThreadFileReading(this.#thread, this.#open, this.#lastId)
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}

class ThreadFileReading implements FileReading {
  readonly #thread: Thread<FileScanWorks>
  /** Files that the thread remembers. */
  readonly #open: Set<number>
  readonly #id: number
  #begun: Promise<void> | undefined
  #isDone = false

  constructor(thread: Thread<FileScanWorks>, open: Set<number>, id: number) {
    this.#thread = thread
    this.#open = open
    this.#id = id
  }

  async push(piece: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#begin()
    await this.#thread.ask('push', { id: this.#id, piece }, { transfer: [piece.buffer] })
  }

  async finish(): Promise<ReadFile> {
    await this.#begin()
    this.#end()
    return this.#thread.ask('finish', this.#id)
  }

  async discard(): Promise<void> {
    if (this.#isDone || this.#begun === undefined) return
    this.#end()
    await this.#begun
    await this.#thread.ask('discard', this.#id)
  }

  #begin(): Promise<void> {
    if (this.#begun === undefined) this.#open.add(this.#id)
    this.#begun ??= this.#thread.ask('begin', this.#id)
    return this.#begun
  }

  /** Before the last question: with its answer the thread may have nothing to remember. */
  #end(): void {
    this.#isDone = true
    this.#open.delete(this.#id)
  }
}

import { TableReader } from 'torana-bulk/table-reader'
import { workerModule } from '#package/files.ts'
import type {
  EntryPage,
  LedgerFiles,
  LedgerFileSource,
  LedgerFileWriter,
  StoredEntry,
} from '#ports/ledger-files.ts'
import { Thread, type ThreadLimits } from '#thread/thread.ts'
import type { LedgerFileWorks } from './ledger-file-worker.ts'

/** A file of 45 MB, twice while it is handed over, and a row group as objects. A page or a file takes seconds at most. */
const LIMITS: ThreadLimits = { memoryMb: 1024, maxTaskMs: 60_000 }
/** Time that the thread stays without work, and with a day whose files are being uploaded. */
const IDLE_MS = 60_000
const OPEN_IDLE_MS = 3_600_000

/** Writes and reads ledger files in one thread. */
export class WorkerLedgerFiles implements LedgerFiles {
  readonly #thread = new Thread<LedgerFileWorks>(workerModule('runtime/ledger-file-worker'), {
    ...LIMITS,
    idleMs: () => (this.#open.size > 0 ? OPEN_IDLE_MS : IDLE_MS),
  })
  readonly #open = new Set<number>()
  #lastId = 0

  write(): LedgerFileWriter {
    const id = this.#nextId()
    const thread = this.#thread
    const begun = thread.ask('begin', id)
    // Its error is that of the first question after it.
    begun.catch(() => {})
    return {
      take: async (page: EntryPage) => {
        await begun
        return thread.ask('take', { id, page })
      },
      end: async () => {
        await begun
        return thread.ask('end', id)
      },
      discard: () => this.#discard(id),
    }
  }

  async totals(files: AsyncIterable<Uint8Array>) {
    const id = this.#nextId()
    try {
      await this.#thread.ask('beginSums', id)
      for await (const bytes of files)
        await this.#thread.ask('addUp', { id, bytes }, { transfer: [bytes.buffer as ArrayBuffer] })
      return await this.#thread.ask('sums', id)
    } finally {
      await this.#discard(id)
    }
  }

  async *entries(
    file: LedgerFileSource,
    fromId: string,
    endId: string,
  ): AsyncGenerator<readonly StoredEntry[]> {
    const { size } = file
    let [footerFirst, footer] = [size, new Uint8Array()]
    const table = await TableReader.open(size, async (first, end) => {
      if (first >= footerFirst) return footer.subarray(first - footerFirst, end - footerFirst)
      const bytes = await file.read(first, end)
      // The footer is read from the end, and more of it if it is large.
      footer = new Uint8Array(Buffer.concat([bytes, footer.subarray(end - footerFirst)]))
      footerFirst = first
      return bytes
    })
    for (let group = 0; group < table.groups; group += 1) {
      const [lowest, highest] = (table.bounds(group, 'request_id') ?? [fromId, fromId]) as [string, string]
      if (lowest >= endId || highest < fromId) continue
      const { first, end } = table.span(group)
      const bytes = new Uint8Array(await file.read(first, end))
      const rows = await this.#thread.ask('rows', { size, group, first, bytes, footerFirst, footer })
      yield rows.filter(({ request_id: id }) => id >= fromId && id < endId)
    }
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  #nextId(): number {
    this.#lastId += 1
    this.#open.add(this.#lastId)
    return this.#lastId
  }

  async #discard(id: number): Promise<void> {
    this.#open.delete(id)
    if (!this.#thread.isAsleep) await this.#thread.ask('discard', id)
  }
}

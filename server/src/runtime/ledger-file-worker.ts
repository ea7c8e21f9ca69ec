/** Runs in a worker thread: writes ledger files, reads them and adds them up. */
import { TableReader } from 'torana-bulk/table-reader'
import { CANONICAL_COLUMNS } from '#core/money/canonical-entry.ts'
import type { EntryPage, LedgerFile, StoredEntry } from '#ports/ledger-files.ts'
import { giveWay } from '#thread/give-way.ts'
import { serve, type ThreadCall } from '#thread/serve.ts'
import { LedgerFileWriter } from './ledger-file-writer.ts'
import { LedgerAdder, type AddedEntry } from './ledger-sums.ts'

const writers = new Map<number, LedgerFileWriter>()
const adders = new Map<number, LedgerAdder>()

function known<Value>(map: ReadonlyMap<number, Value>, id: number): Value {
  const value = map.get(id)
  if (value === undefined) throw new Error(`this thread has no work ${id}`)
  return value
}

function handedOver<File extends LedgerFile | undefined>(file: File, { handOver }: ThreadCall): File {
  if (file !== undefined) handOver([file.bytes.buffer as ArrayBuffer])
  return file
}

const works = {
  begin: (id: number): void => void writers.set(id, new LedgerFileWriter()),
  take: ({ id, page }: { id: number; page: EntryPage }, call: ThreadCall) =>
    handedOver(known(writers, id).take(page), call),
  end(id: number, call: ThreadCall) {
    const { file, totals } = known(writers, id).end()
    return { file: handedOver(file, call), totals }
  },
  beginSums: (id: number): void => void adders.set(id, new LedgerAdder()),
  async addUp({ id, bytes }: { id: number; bytes: Uint8Array }): Promise<void> {
    const adder = known(adders, id)
    const table = await TableReader.open(bytes.length, async (first, end) => bytes.subarray(first, end))
    for (let group = 0; group < table.groups; group += 1)
      for (const row of await table.rows(group, CANONICAL_COLUMNS)) adder.add(row as unknown as AddedEntry)
  },
  sums: (id: number) => known(adders, id).totals(),
  discard(id: number): void {
    writers.delete(id)
    adders.delete(id)
  },
  /** The entries of one row group, from its bytes and those of the footer. */
  async rows(part: {
    readonly size: number
    readonly group: number
    readonly first: number
    readonly bytes: Uint8Array
    readonly footerFirst: number
    readonly footer: Uint8Array
  }): Promise<readonly StoredEntry[]> {
    const { size, group, first, bytes, footerFirst, footer } = part
    const table = await TableReader.open(size, async (from, end) =>
      from >= footerFirst
        ? footer.subarray(from - footerFirst, end - footerFirst)
        : bytes.subarray(from - first, end - first),
    )
    return (await table.rows(group)) as unknown as StoredEntry[]
  },
}

export type LedgerFileWorks = typeof works
giveWay()
serve(works)

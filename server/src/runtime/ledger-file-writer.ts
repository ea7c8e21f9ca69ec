/** Writes ledger entries as Parquet files, and adds them up on the way. */
import { createHash } from 'node:crypto'
import { TableWriter } from 'torana-bulk/table'
import type { LedgerTotals } from '#core/money/lake.ts'
import type { EntryPage, LedgerFile } from '#ports/ledger-files.ts'
import { decoded, LEDGER_COLUMNS, valuesOf, type DecodedPage } from './ledger-columns.ts'
import { LedgerAdder, type AddedEntry } from './ledger-sums.ts'

/** Rows of a row group, at least: a look-up of one entry reads one group, about 3 MB. */
const GROUP_ROWS = 65_536
/** Rows of a file, at least: about 40 MB, which a node holds in memory to upload. */
const FILE_ROWS = 1_048_576

export class LedgerFileWriter {
  readonly #adder = new LedgerAdder()
  #open = openFile()
  #pages: DecodedPage[] = []
  #pageRows = 0

  /** A file that has become full. */
  take(page: EntryPage): LedgerFile | undefined {
    if (page.rows === 0) return undefined
    const read = decoded(page)
    for (const entry of entriesOf(read)) this.#adder.add(entry)
    this.#pages.push(read)
    this.#pageRows += read.rows
    if (this.#pageRows >= GROUP_ROWS) this.#writeGroup()
    return this.#open.rows >= FILE_ROWS ? this.#close() : undefined
  }

  end(): { readonly file: LedgerFile | undefined; readonly totals: LedgerTotals } {
    this.#writeGroup()
    return { file: this.#open.rows === 0 ? undefined : this.#close(), totals: this.#adder.totals() }
  }

  #writeGroup(): void {
    if (this.#pageRows === 0) return
    const file = this.#open
    const { request_id: first } = (this.#pages[0] as DecodedPage).ids
    const { request_id: last } = (this.#pages.at(-1) as DecodedPage).ids
    file.firstId ??= idAt(first.toString('hex', 0, 16), 0)
    file.lastId = idAt(last.toString('hex', last.length - 16), 0)
    file.parts.push(file.table.group(this.#pageRows, valuesOf(this.#pages)))
    file.rows += this.#pageRows
    this.#pages = []
    this.#pageRows = 0
  }

  #close(): LedgerFile {
    const { table, parts, rows, firstId = '', lastId = '' } = this.#open
    const bytes = new Uint8Array(Buffer.concat([table.head, ...parts, table.tail({ torana: 'ledger/1' })]))
    this.#open = openFile()
    return { bytes, sha256: createHash('sha256').update(bytes).digest('hex'), rows, firstId, lastId }
  }
}

interface OpenFile {
  readonly table: TableWriter
  readonly parts: Uint8Array[]
  rows: number
  firstId: string | undefined
  lastId: string | undefined
}

function openFile(): OpenFile {
  return { table: new TableWriter(LEDGER_COLUMNS), parts: [], rows: 0, firstId: undefined, lastId: undefined }
}

function* entriesOf({ rows, ids, longs, texts, sparse }: DecodedPage): Generator<AddedEntry> {
  const [requestIds, callIds, nodeIds] = [ids.request_id, ids.call_id, ids.node_id].map((all) =>
    all.toString('hex'),
  ) as [string, string, string]
  for (let row = 0; row < rows; row += 1)
    yield {
      request_id: idAt(requestIds, row),
      attempt: Number(longs.attempt.at(row)),
      kind: texts.kind[row] as string,
      call_id: idAt(callIds, row),
      node_id: idAt(nodeIds, row),
      project: texts.project[row] as string,
      key_id: texts.key_id[row],
      model: texts.model[row] as string,
      deployment: texts.deployment[row],
      usage: texts.usage[row],
      tokens: longs.tokens.at(row) ?? null,
      images: longs.images.at(row) ?? null,
      amount_nano: longs.amount_nano.at(row) ?? null,
      requests: longs.requests.at(row) ?? null,
      inputs: longs.inputs.at(row) ?? null,
      batch_id: sparse.batch_id.get(row) ?? null,
      hits: numberIn(sparse.hits.get(row)),
      saved_nano: numberIn(sparse.saved_nano.get(row)),
      unknown_nano: numberIn(sparse.unknown_nano.get(row)),
    }
}

function numberIn(text: string | undefined): bigint | null {
  return text === undefined ? null : BigInt(text)
}

/** The id of a row in the ids of a page, all in hex. */
function idAt(hex: string, row: number): string {
  const at = row * 32
  return `${hex.slice(at, at + 8)}-${hex.slice(at + 8, at + 12)}-${hex.slice(at + 12, at + 16)}-${hex.slice(at + 16, at + 20)}-${hex.slice(at + 20, at + 32)}`
}

/** What a corpus holds, gathered row by row while it is read once: enough to choose columns and to estimate a batch. */
import { DistinctTexts } from './distinct.ts'
import type { CorpusFormat } from './format.ts'

/** Columns of a corpus: a page could not show more, and each takes memory while the file is read. */
export const MAX_COLUMNS = 200
/** Rows shown to the person who chooses columns. */
const PREVIEW_ROWS = 5
const PREVIEW_CHARACTERS = 200
/** Rows whose texts are kept to count tokens: their average is within a few percent of that of all rows. */
const SAMPLE_ROWS = 500
/** Characters kept of a text of the sample, and of all of them. */
const SAMPLE_TEXT_CHARACTERS = 16 * 1024
const SAMPLE_CHARACTERS = 2 * 1024 * 1024
/** Texts that are compared with all others of their column: 16 bytes each. */
const MAX_COMPARED = 2_000_000
/** Steps of a length for each doubling of it. */
const STEPS = 8

/** Texts of similar length. */
interface LengthStep {
  /** Each of them has at least this many bytes, and fewer than the next number. */
  readonly fromBytes: number
  readonly belowBytes: number
  readonly texts: number
  readonly bytes: number
}

export interface ColumnProfile {
  readonly name: string
  /** Rows with a text in it. */
  readonly filled: number
  readonly bytes: number
  readonly longestBytes: number
  /** Texts that are there more than once, beyond the first of each. Undefined: there are too many texts to compare. */
  readonly duplicates: number | undefined
  /** Shortest first. */
  readonly lengths: readonly LengthStep[]
}

export interface UsualColumns {
  readonly text: string | undefined
  readonly id: string | undefined
}

export interface CorpusProfile {
  readonly format: CorpusFormat
  readonly rows: number
  readonly columns: readonly ColumnProfile[]
  /** The columns that a person probably means. */
  readonly usual: UsualColumns
  /** The first rows, cell by cell. */
  readonly preview: readonly (readonly string[])[]
  /** Cells of some rows, which are spread over all of them. */
  readonly sample: readonly (readonly string[])[]
  /** Whether the sample is the whole corpus, with its texts in full. */
  readonly isWhole: boolean
}

/** The corpus has more columns than may be. */
export class TooManyColumns extends Error {
  override readonly name = 'TooManyColumns'
}

interface OpenColumn {
  filled: number
  bytes: number
  longestBytes: number
  distinct: DistinctTexts | undefined
  readonly lengths: Map<number, { texts: number; bytes: number }>
}

export class CorpusProfiler {
  readonly #bytesOf: (text: string) => number
  readonly #columns = new Map<string, OpenColumn>()
  readonly #preview: ReadonlyMap<string, string>[] = []
  #sample: SampledRow[] = []
  /** One of this many rows is in the sample: a power of two. */
  #distance = 1
  #isWhole = true
  #compared = 0
  #rows = 0

  constructor(bytesOf: (text: string) => number) {
    this.#bytesOf = bytesOf
  }

  get rows(): number {
    return this.#rows
  }

  add(row: Readonly<Record<string, unknown>>): void {
    const cells = new Map<string, string>()
    for (const [name, value] of Object.entries(row)) {
      const text = cellText(value)
      cells.set(name, text)
      this.#count(this.#column(name), text)
    }
    if (this.#rows < PREVIEW_ROWS) this.#preview.push(cells)
    const place = scattered(this.#rows)
    if (place % this.#distance === 0) this.#keep(cells, place)
    this.#rows += 1
  }

  /** `usualOf`: columns that have their usual names. */
  result(format: CorpusFormat, usualOf: (names: readonly string[]) => UsualColumns): CorpusProfile {
    const names = [...this.#columns.keys()]
    const columns = [...this.#columns].map(([name, column]) => profileOf(name, column))
    const usual = usualOf(names)
    const inOrder = (cells: ReadonlyMap<string, string>, length: number): string[] =>
      names.map((name) => (cells.get(name) ?? '').slice(0, length))
    return {
      format,
      rows: this.#rows,
      columns,
      usual: { text: usual.text ?? longestOf(columns)?.name, id: usual.id },
      preview: this.#preview.map((cells) => inOrder(cells, PREVIEW_CHARACTERS)),
      sample: this.#sample.map(({ cells }) => inOrder(cells, SAMPLE_TEXT_CHARACTERS)),
      isWhole: this.#isWhole,
    }
  }

  #column(name: string): OpenColumn {
    const known = this.#columns.get(name)
    if (known !== undefined) return known
    if (this.#columns.size === MAX_COLUMNS)
      throw new TooManyColumns(`The file has more than ${MAX_COLUMNS} columns.`)
    const column = { filled: 0, bytes: 0, longestBytes: 0, distinct: new DistinctTexts(), lengths: new Map() }
    this.#columns.set(name, column)
    return column
  }

  #count(column: OpenColumn, text: string): void {
    if (text === '') return
    const bytes = this.#bytesOf(text)
    column.filled += 1
    column.bytes += bytes
    column.longestBytes = Math.max(column.longestBytes, bytes)
    const step = Math.floor(Math.log2(bytes) * STEPS)
    const length = column.lengths.get(step) ?? { texts: 0, bytes: 0 }
    column.lengths.set(step, { texts: length.texts + 1, bytes: length.bytes + bytes })
    if (column.distinct === undefined) return
    column.distinct.add(text)
    this.#compared += 1
    if (this.#compared > MAX_COMPARED) this.#stopComparing()
  }

  /** The column with the most texts is given up: short ones, such as ids, are worth more. */
  #stopComparing(): void {
    let fullest: OpenColumn | undefined
    for (const column of this.#columns.values())
      if (column.distinct && column.distinct.size >= (fullest?.distinct?.size ?? 0)) fullest = column
    this.#compared -= fullest?.filled ?? 0
    if (fullest) fullest.distinct = undefined
  }

  #keep(cells: ReadonlyMap<string, string>, place: number): void {
    const kept = new Map<string, string>()
    let characters = 0
    for (const [name, text] of cells) {
      const cut = text.slice(0, SAMPLE_TEXT_CHARACTERS)
      if (cut.length < text.length) this.#isWhole = false
      characters += cut.length
      kept.set(name, cut)
    }
    this.#sample.push({ cells: kept, place, characters })
    while (this.#isTooLarge()) {
      this.#isWhole = false
      this.#distance *= 2
      this.#sample = this.#sample.filter((row) => row.place % this.#distance === 0)
    }
  }

  #isTooLarge(): boolean {
    const characters = this.#sample.reduce((sum, row) => sum + row.characters, 0)
    return this.#sample.length > SAMPLE_ROWS || (this.#sample.length > 1 && characters > SAMPLE_CHARACTERS)
  }
}

/** The column with the most text is probably the one to embed. */
function longestOf(columns: readonly ColumnProfile[]): ColumnProfile | undefined {
  const [first, ...others] = columns
  return others.reduce((most, one) => (most && one.bytes > most.bytes ? one : most), first)
}

interface SampledRow {
  readonly cells: ReadonlyMap<string, string>
  readonly place: number
  readonly characters: number
}

/** A number of 32 bits without the pattern of the rows: languages of a corpus may alternate from row to row. */
function scattered(row: number): number {
  let mixed = Math.imul(row + 1, 0x9e37_79b1)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b_3c6d)
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a_2d39)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

function profileOf(name: string, column: OpenColumn): ColumnProfile {
  const { filled, bytes, longestBytes, distinct, lengths } = column
  const steps = [...lengths].sort(([one], [other]) => one - other)
  return {
    name,
    filled,
    bytes,
    longestBytes,
    duplicates: distinct?.repeated,
    lengths: steps.map(([step, length]) => ({
      fromBytes: Math.floor(2 ** (step / STEPS)),
      belowBytes: Math.ceil(2 ** ((step + 1) / STEPS)),
      ...length,
    })),
  }
}

/** A value as a cell of a table shows it. Parquet has large integers and times. */
export function cellText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  if (typeof value !== 'object') return String(value)
  if (value instanceof Date) return value.toISOString()
  const plain = ArrayBuffer.isView(value) ? [...(value as Uint8Array)] : value
  return JSON.stringify(plain, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner))
}

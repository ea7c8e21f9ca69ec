/** Runs in a separate process: reads files of rows as their bytes arrive. */
import { rowOf, usualColumns } from 'torana-bulk/corpus'
import { csvRows } from 'torana-bulk/csv'
import { jsonRows } from 'torana-bulk/jsonl'
import { CommandProblem } from 'torana-bulk/problem'
import { requestLine } from 'torana-bulk/request-line'
import { formatOf, type CorpusFormat } from '#core/corpus/format.ts'
import { CorpusProfiler, TooManyColumns, cellText, type CorpusProfile } from '#core/corpus/profile.ts'
import type { LongRow, LongRowAnswer, ReadRows, WantedLines } from '#ports/corpus.ts'
import { serve } from '#thread/serve.ts'

type Columns = Readonly<Record<string, unknown>>

/** What is wrong with a file is an answer: an error would end the question without its words. */
export interface Problem {
  readonly problem: string
}

/** Characters from which the format of a file is known. */
const START_CHARACTERS = 64 * 1024

/** Bytes that are pushed, read by a generator that pulls. */
class Feed {
  #wanted = Promise.withResolvers<void>()
  #piece = Promise.withResolvers<Uint8Array | undefined>()

  /** Resolves when the reader wants more than was given so far. */
  wanted(): Promise<void> {
    return this.#wanted.promise
  }

  give(piece: Uint8Array | undefined): void {
    this.#wanted = Promise.withResolvers()
    this.#piece.resolve(piece)
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      this.#wanted.resolve()
      const piece = await this.#piece.promise
      this.#piece = Promise.withResolvers()
      if (piece === undefined) return
      yield piece
    }
  }
}

/** Rejects where the bytes are no text: a wrong character would otherwise be embedded and paid for. */
async function* checked(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const piece of pieces) yield decoder.decode(piece, { stream: true })
    yield decoder.decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new CommandProblem('The file is not UTF-8 text. Save it as CSV in UTF-8, or as JSONL.')
  }
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) yield Buffer.from(text)
}

function rowsOf(format: CorpusFormat, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Columns> {
  const texts = checked(pieces)
  return format.kind === 'csv' ? csvRows(texts, format) : jsonRows(encoded(texts))
}

/** Reads the rows of pushed bytes, one after another. */
class PushedRows {
  readonly #feed = new Feed()
  readonly #done: Promise<void>
  #problem: unknown

  constructor(format: CorpusFormat, take: (row: Columns) => void) {
    this.#done = this.#read(format, take)
  }

  async push(piece: Uint8Array | undefined): Promise<void> {
    await Promise.race([this.#feed.wanted(), this.#done])
    if (this.#problem === undefined) this.#feed.give(piece)
    await (piece === undefined ? this.#done : Promise.race([this.#feed.wanted(), this.#done]))
    if (this.#problem !== undefined) throw this.#problem
  }

  async #read(format: CorpusFormat, take: (row: Columns) => void): Promise<void> {
    try {
      for await (const row of rowsOf(format, this.#feed.pieces())) take(row)
    } catch (error) {
      this.#problem = error
    }
  }
}

interface OpenProfile {
  readonly profiler: CorpusProfiler
  readonly format: CorpusFormat
  readonly rows: PushedRows
}

class Lines {
  readonly #rows: PushedRows
  readonly #wanted: WantedLines
  #row = 0
  #texts: { readonly row: number; readonly id: string; readonly text: string; readonly isLong: boolean }[] =
    []
  #firstEmpty: number | undefined

  constructor(wanted: WantedLines) {
    this.#wanted = wanted
    this.#rows = new PushedRows(wanted.format, (columns) => this.#take(columns))
  }

  async push(piece: Uint8Array | undefined): Promise<ReadRows> {
    await this.#rows.push(piece)
    const long: LongRow[] = this.#texts.filter(({ isLong }) => isLong).map(({ row, text }) => ({ row, text }))
    return { long, firstEmpty: this.#firstEmpty }
  }

  take(decided: readonly LongRowAnswer[]): Uint8Array<ArrayBuffer> {
    const { model, dimensions = null } = this.#wanted
    const answers = new Map(decided.map(({ row, text }) => [row, text]))
    const lines: string[] = []
    for (const { row, id, text, isLong } of this.#texts) {
      const sent = isLong ? answers.get(row) : text
      if (sent !== undefined)
        lines.push(requestLine({ row, id }, sent, { model, type: 'float32', dimensions }))
    }
    this.#texts = []
    return Buffer.from(lines.join(''))
  }

  #take(columns: Columns): void {
    const { textColumn, idColumn, longBytes = Infinity } = this.#wanted
    const { row, id } = rowOf(columns, this.#row, { text: undefined, id: idColumn })
    this.#row += 1
    const text = Object.hasOwn(columns, textColumn) ? cellText(columns[textColumn]) : ''
    if (text === '') this.#firstEmpty ??= row
    else this.#texts.push({ row, id, text, isLong: Buffer.byteLength(text) > longBytes })
  }
}

const profiles = new Map<number, OpenProfile>()
const conversions = new Map<number, Lines>()

/** Throws in a process that was started after the one that knew it ended. */
function remembered<Open>(open: ReadonlyMap<number, Open>, id: number): Open {
  const known = open.get(id)
  if (known === undefined) throw new Error(`this process has no reading ${id}`)
  return known
}

async function answered<Answer>(work: () => Promise<Answer>): Promise<Answer | Problem> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CommandProblem || error instanceof TooManyColumns) return { problem: error.message }
    throw error
  }
}

function openProfile(start: Uint8Array, { name, hasHeader }: ProfiledFile): OpenProfile {
  // The end may cut a character.
  const text = new TextDecoder().decode(start.subarray(0, START_CHARACTERS))
  const profiler = new CorpusProfiler((value) => Buffer.byteLength(value))
  const format = formatOf(name, text, hasHeader)
  return { profiler, format, rows: new PushedRows(format, (row) => profiler.add(row)) }
}

interface ProfiledFile {
  readonly name: string
  readonly hasHeader: boolean
}

const works = {
  profile({
    id,
    piece,
    file,
    isFirst,
  }: {
    id: number
    piece: Uint8Array
    file: ProfiledFile
    isFirst: boolean
  }) {
    return answered(async () => {
      if (isFirst) profiles.set(id, openProfile(piece, file))
      const open = remembered(profiles, id)
      await open.rows.push(piece)
      return undefined
    })
  },
  finishProfile(id: number): Promise<CorpusProfile | Problem> {
    return answered(async () => {
      const { rows, profiler, format } = remembered(profiles, id)
      profiles.delete(id)
      await rows.push(undefined)
      if (profiler.rows === 0)
        throw new CommandProblem('The file has no rows. The first line of a CSV names its columns.')
      return profiler.result(format, usualColumns)
    })
  },
  beginLines({ id, wanted }: { id: number; wanted: WantedLines }): void {
    conversions.set(id, new Lines(wanted))
  },
  read({ id, piece }: { id: number; piece: Uint8Array | undefined }) {
    return answered(() => remembered(conversions, id).push(piece))
  },
  take: ({ id, decided }: { id: number; decided: readonly LongRowAnswer[] }) =>
    remembered(conversions, id).take(decided),
  discard(id: number): void {
    profiles.delete(id)
    conversions.delete(id)
  },
}

export type CorpusWorks = typeof works
serve(works)

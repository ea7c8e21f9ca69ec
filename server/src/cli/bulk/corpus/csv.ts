/** A corpus as comma-separated values (RFC 4180) with the names of its columns in the first line. */
import { createReadStream, statSync } from 'node:fs'
import { CommandProblem } from '../../client/command-problem.ts'
import type { Columns, CorpusFile } from './corpus-file.ts'

const PIECE_BYTES = 1024 * 1024
/** A quote that nobody closed would otherwise take the rest of the file into memory. */
const MAX_FIELD_CHARACTERS = 16 * 1024 * 1024

export class CsvCorpus implements CorpusFile {
  readonly #file: string
  readonly #separator: string
  readonly #bytes: number
  #read = 0

  constructor(file: string, separator: string) {
    this.#file = file
    this.#separator = separator
    this.#bytes = statSync(file).size
  }

  fractionRead(): number {
    return this.#bytes === 0 ? 1 : this.#read / this.#bytes
  }

  async *rows(first: number): AsyncGenerator<Columns> {
    let names: readonly string[] | undefined
    let row = 0
    for await (const record of recordsIn(this.#pieces(), this.#separator)) {
      if (names === undefined) {
        names = record
        continue
      }
      if (row >= first) yield this.#columns(names, record, row)
      row += 1
    }
  }

  #columns(names: readonly string[], record: readonly string[], row: number): Columns {
    if (record.length !== names.length)
      throw new CommandProblem(
        `Row ${row + 1} of ${this.#file} has ${record.length} fields, and the first line names ${names.length} columns.`,
      )
    return Object.fromEntries(names.map((name, index) => [name, record[index]]))
  }

  async *#pieces(): AsyncGenerator<string> {
    // Takes the byte order mark away, and keeps characters whole that two pieces share.
    const decoder = new TextDecoder()
    for await (const piece of createReadStream(this.#file, { highWaterMark: PIECE_BYTES })) {
      this.#read += (piece as Buffer).length
      yield decoder.decode(piece as Buffer, { stream: true })
    }
    yield decoder.decode()
  }
}

/** What is being read: a field before its first character, one without quotes, one in quotes, one whose quotes were closed. */
type Place = 'begin' | 'bare' | 'quoted' | 'closed'

/** Records of a text that comes in pieces. Blank lines are none. */
export async function* recordsIn(
  pieces: AsyncIterable<string>,
  separator: string,
): AsyncGenerator<readonly string[]> {
  let fields: string[] = []
  let field = ''
  let place = 'begin' as Place
  for await (const piece of pieces) {
    let start = 0
    for (let at = 0; at < piece.length; at += 1) {
      const mark = piece[at]
      if (place === 'quoted') {
        if (mark !== '"') continue
        field += piece.slice(start, at)
        place = 'closed'
      } else if (mark === '"' && place !== 'bare') {
        // A second quote right behind the first is one of the text.
        if (place === 'closed') field += '"'
        place = 'quoted'
        start = at + 1
      } else if (mark === separator || mark === '\n') {
        if (place === 'bare') field += piece.slice(start, at)
        if (mark === '\n' && place !== 'closed' && field.endsWith('\r')) field = field.slice(0, -1)
        if (mark === separator || !isBlankEnd(fields, field, place)) fields.push(field)
        field = ''
        place = 'begin'
        if (mark === '\n' && fields.length > 0) {
          yield fields
          fields = []
        }
      } else if (place === 'begin') {
        place = 'bare'
        start = at
      } else if (place === 'closed' && mark !== '\r')
        throw new CommandProblem(
          'A field goes on behind its closing quote. Quotes of the text itself must be doubled.',
        )
    }
    if (place === 'bare' || place === 'quoted') field += piece.slice(start)
    if (field.length > MAX_FIELD_CHARACTERS)
      throw new CommandProblem('A field has more than 16 million characters. Is a quote not closed?')
  }
  if (place === 'quoted') throw new CommandProblem('The file ends inside of a quoted field.')
  if (fields.length > 0 || place !== 'begin') yield [...fields, field]
}

function isBlankEnd(fields: readonly string[], field: string, place: Place): boolean {
  return fields.length === 0 && field === '' && place !== 'closed'
}

/** A corpus as comma-separated values (RFC 4180) with the names of its columns in the first line. */
import { CommandProblem } from '../command-problem.ts'
import type { Columns } from './corpus-file.ts'

/** Longest field: an unclosed quote would otherwise read the rest of the file into memory. */
const MAX_FIELD_CHARACTERS = 16 * 1024 * 1024

/** Rows from `first` on, of a text that arrives in chunks. */
export async function* csvRows(
  chunks: AsyncIterable<string>,
  separator: string,
  first = 0,
): AsyncGenerator<Columns> {
  let names: readonly string[] | undefined
  let row = 0
  for await (const record of recordsIn(chunks, separator)) {
    if (names === undefined) {
      names = headerOf(record)
      continue
    }
    row += 1
    if (record.length !== names.length)
      throw new CommandProblem(
        `Row ${row} has ${record.length} fields, and there are ${names.length} columns.`,
      )
    if (row > first) yield Object.fromEntries(names.map((name, index) => [name, record[index]]))
  }
}

/** Two columns of one name would become one. */
function headerOf(record: readonly string[]): readonly string[] {
  const repeated = record.find((name, index) => record.indexOf(name) !== index)
  if (repeated === undefined) return record
  throw new CommandProblem(`The first line has two columns with the name "${repeated}".`)
}

/** State of the reader: before a field, in a bare field, in a quoted field, after its closing quote. */
type Place = 'begin' | 'bare' | 'quoted' | 'closed'

/** Records of a text that arrives in chunks, without blank lines. */
export async function* recordsIn(
  chunks: AsyncIterable<string>,
  separator: string,
): AsyncGenerator<readonly string[]> {
  let fields: string[] = []
  let field = ''
  let place = 'begin' as Place
  for await (const chunk of chunks) {
    let start = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const mark = chunk[at]
      if (place === 'quoted') {
        if (mark !== '"') continue
        field += chunk.slice(start, at)
        place = 'closed'
      } else if (mark === '"' && place !== 'bare') {
        // Two quotes are one quote of the text.
        if (place === 'closed') field += '"'
        place = 'quoted'
        start = at + 1
      } else if (mark === separator || mark === '\n') {
        if (place === 'bare') field += chunk.slice(start, at)
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
    if (place === 'bare' || place === 'quoted') field += chunk.slice(start)
    if (field.length > MAX_FIELD_CHARACTERS)
      throw new CommandProblem('A field has more than 16 million characters. Is a quote not closed?')
  }
  if (place === 'quoted') throw new CommandProblem('The file ends inside of a quoted field.')
  if (fields.length > 0 || place !== 'begin') yield [...fields, field]
}

function isBlankEnd(fields: readonly string[], field: string, place: Place): boolean {
  return fields.length === 0 && field === '' && place !== 'closed'
}

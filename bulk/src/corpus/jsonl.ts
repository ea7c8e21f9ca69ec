/** A corpus with one JSON object per line. */
import { CommandProblem } from '../command-problem.ts'
import { isRecord, linesIn, MAX_LINE_BYTES } from '../json-lines.ts'
import type { Columns } from './corpus-file.ts'

/** Rows from `first` on, of a text that arrives in chunks. */
export async function* jsonRows(chunks: AsyncIterable<string>, first = 0): AsyncGenerator<Columns> {
  let row = 0
  let number = 0
  for await (const line of linesIn(chunks)) {
    number += 1
    if (line === undefined) throw new CommandProblem(`Line ${number} has more than ${MAX_LINE_BYTES} bytes.`)
    if (/^[ \t\r]*$/.test(line)) continue
    // Rows sent by an earlier run are not parsed again.
    if (row >= first) yield columnsIn(line, number)
    row += 1
  }
}

function columnsIn(text: string, number: number): Columns {
  let line: unknown
  try {
    line = JSON.parse(text)
  } catch {
    line = undefined
  }
  if (isRecord(line)) return line
  if (typeof line === 'string') return { text: line }
  throw new CommandProblem(`Line ${number} is not a JSON object.`)
}

/** A corpus with one JSON object per line. */
import { createReadStream, statSync } from 'node:fs'
import { CommandProblem } from '../command-problem.ts'
import { isRecord, linesIn, MAX_LINE_BYTES } from '../json-lines.ts'
import type { Columns, CorpusFile } from './corpus-file.ts'

/** Bytes per read from the disk. */
const CHUNK_BYTES = 1024 * 1024
const BYTE_ORDER_MARK = '\uFEFF'

export class JsonlCorpus implements CorpusFile {
  readonly #file: string
  readonly #bytes: number
  #read = 0

  constructor(file: string) {
    this.#file = file
    this.#bytes = statSync(file).size
  }

  fractionRead(): number {
    return this.#bytes === 0 ? 1 : this.#read / this.#bytes
  }

  async *rows(first: number): AsyncGenerator<Columns> {
    yield* jsonRows(this.#chunks(), first)
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of createReadStream(this.#file, { highWaterMark: CHUNK_BYTES })) {
      this.#read += (chunk as Buffer).length
      yield chunk as Buffer
    }
  }
}

/** Rows from `first` on, of bytes that arrive in chunks. */
export async function* jsonRows(chunks: AsyncIterable<Uint8Array>, first = 0): AsyncGenerator<Columns> {
  let row = 0
  let number = 0
  for await (const line of linesIn(chunks)) {
    number += 1
    if (line === undefined) throw new CommandProblem(`Line ${number} has more than ${MAX_LINE_BYTES} bytes.`)
    const text = number === 1 && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line
    if (/^[ \t\r]*$/.test(text)) continue
    // Rows sent by an earlier run are not parsed again.
    if (row >= first) yield columnsIn(text, number)
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

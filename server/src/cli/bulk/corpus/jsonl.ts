/** A corpus with one JSON object in each line. */
import { createReadStream, statSync } from 'node:fs'
import { isBlank, LineSplitter, MAX_LINE_BYTES } from '#core/files/lines.ts'
import { isRecord } from '#core/record.ts'
import { CommandProblem } from '../../client/command-problem.ts'
import type { Columns, CorpusFile } from './corpus-file.ts'

/** Of the disk, at once. */
const PIECE_BYTES = 1024 * 1024

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
    let row = 0
    for await (const { number, content } of this.#lines()) {
      if (content === undefined)
        throw new CommandProblem(`Line ${number} of ${this.#file} has more than ${MAX_LINE_BYTES} bytes.`)
      if (isBlank(content)) continue
      // Lines that an earlier run has sent are not read again.
      if (row >= first) yield this.#columns(content, number)
      row += 1
    }
  }

  async *#lines() {
    const splitter = new LineSplitter()
    for await (const piece of createReadStream(this.#file, { highWaterMark: PIECE_BYTES })) {
      this.#read += (piece as Buffer).length
      yield* splitter.push(piece as Buffer)
    }
    yield* splitter.end()
  }

  #columns(content: Uint8Array, number: number): Columns {
    let line: unknown
    try {
      line = JSON.parse(Buffer.from(content.buffer, content.byteOffset, content.length).toString('utf8'))
    } catch {
      line = undefined
    }
    if (isRecord(line)) return line
    if (typeof line === 'string') return { text: line }
    throw new CommandProblem(`Line ${number} of ${this.#file} is not a JSON object.`)
  }
}

/** A corpus on the disk, by the ending of its name. */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { asyncBufferFromFile } from 'hyparquet'
import { CommandProblem } from '../command-problem.ts'
import { decodeText } from '../json-lines.ts'
import type { Columns, CorpusFile } from './corpus-file.ts'
import { csvRows } from './csv.ts'
import { jsonRows } from './jsonl.ts'
import { ParquetCorpus, type Compressors } from './parquet.ts'

export const CORPUS_ENDINGS = ['.jsonl', '.csv', '.tsv', '.parquet']

/** Bytes per read from the disk. */
const CHUNK_BYTES = 1024 * 1024

const COMPRESSORS: Compressors = {
  GZIP: (bytes) => gunzipSync(bytes),
  ZSTD: (bytes) => zstdDecompressSync(bytes),
  BROTLI: (bytes) => brotliDecompressSync(bytes),
}

export function isCorpusFile(file: string): boolean {
  return CORPUS_ENDINGS.includes(extname(file).toLowerCase())
}

export async function openCorpus(file: string): Promise<CorpusFile> {
  const format = extname(file).toLowerCase()
  if (!existsSync(file)) throw new CommandProblem(`There is no file ${file}.`)
  if (format === '.parquet') return ParquetCorpus.open(file, await asyncBufferFromFile(file), COMPRESSORS)
  if (format === '.jsonl') return new TextCorpus(file, jsonRows)
  const separator = format === '.tsv' ? '\t' : ','
  return new TextCorpus(file, (texts, first) => csvRows(texts, separator, first))
}

class TextCorpus implements CorpusFile {
  readonly #file: string
  readonly #rowsIn: (texts: AsyncIterable<string>, first: number) => AsyncIterable<Columns>
  readonly #bytes: number
  #read = 0

  constructor(file: string, rowsIn: (texts: AsyncIterable<string>, first: number) => AsyncIterable<Columns>) {
    this.#file = file
    this.#rowsIn = rowsIn
    this.#bytes = statSync(file).size
  }

  fractionRead(): number {
    return this.#bytes === 0 ? 1 : this.#read / this.#bytes
  }

  async *rows(first: number): AsyncGenerator<Columns> {
    yield* this.#rowsIn(decodeText(this.#chunks()), first)
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of createReadStream(this.#file, { highWaterMark: CHUNK_BYTES })) {
      this.#read += (chunk as Buffer).length
      yield chunk as Buffer
    }
  }
}

/** A corpus in a Parquet file, read one row group after another. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import {
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetReadObjects,
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
} from 'hyparquet'
import { CommandProblem } from '../command-problem.ts'
import type { Columns, CorpusFile } from './corpus-file.ts'

/** hyparquet itself reads Snappy. */
const COMPRESSORS: Compressors = {
  GZIP: (bytes) => gunzipSync(bytes),
  ZSTD: (bytes) => zstdDecompressSync(bytes),
  BROTLI: (bytes) => brotliDecompressSync(bytes),
}

export class ParquetCorpus implements CorpusFile {
  readonly #file: AsyncBuffer
  readonly #metadata: FileMetaData
  #rowsRead = 0

  private constructor(file: AsyncBuffer, metadata: FileMetaData) {
    this.#file = file
    this.#metadata = metadata
  }

  static async open(path: string): Promise<ParquetCorpus> {
    const file = await asyncBufferFromFile(path)
    try {
      return new ParquetCorpus(file, await parquetMetadataAsync(file))
    } catch (error) {
      throw new CommandProblem(`${path} can't be read as Parquet: ${(error as Error).message}`)
    }
  }

  fractionRead(): number {
    const all = Number(this.#metadata.num_rows)
    return all === 0 ? 1 : this.#rowsRead / all
  }

  async *rows(first: number): AsyncGenerator<Columns> {
    let begin = 0
    for (const group of this.#metadata.row_groups) {
      const end = begin + Number(group.num_rows)
      if (end > first) {
        const rowStart = Math.max(begin, first)
        const rows = await parquetReadObjects({
          file: this.#file,
          metadata: this.#metadata,
          compressors: COMPRESSORS,
          rowStart,
          rowEnd: end,
        })
        this.#rowsRead = rowStart
        for (const row of rows) {
          this.#rowsRead += 1
          yield row
        }
      }
      begin = end
    }
  }
}

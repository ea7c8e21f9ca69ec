/** Rows of a Parquet file, read one row group after another. */
import {
  parquetMetadataAsync,
  parquetReadObjects,
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
} from 'hyparquet'
import { CommandProblem } from '../command-problem.ts'
import type { Columns, CorpusFile } from './corpus-file.ts'

export type { AsyncBuffer, Compressors }

/** Codecs that hyparquet itself reads. */
const READ_CODECS: ReadonlySet<string> = new Set(['UNCOMPRESSED', 'SNAPPY'])

export class ParquetCorpus implements CorpusFile {
  readonly #file: AsyncBuffer
  readonly #metadata: FileMetaData
  readonly #compressors: Compressors
  #rowsRead = 0

  private constructor(file: AsyncBuffer, metadata: FileMetaData, compressors: Compressors) {
    this.#file = file
    this.#metadata = metadata
    this.#compressors = compressors
  }

  static async open(name: string, file: AsyncBuffer, compressors: Compressors): Promise<ParquetCorpus> {
    const metadata = await parquetMetadataAsync(file).catch((error: Error) => {
      throw new CommandProblem(`${name} can't be read as Parquet: ${error.message}`)
    })
    const codecs = metadata.row_groups.flatMap(({ columns }) =>
      columns.flatMap(({ meta_data: data }) => data?.codec ?? []),
    )
    const unread = codecs.find((codec) => !READ_CODECS.has(codec) && !(codec in compressors))
    if (unread === undefined) return new ParquetCorpus(file, metadata, compressors)
    throw new CommandProblem(
      `${name} is compressed with ${unread}, which can't be read here. Save it with SNAPPY.`,
    )
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
          compressors: this.#compressors,
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

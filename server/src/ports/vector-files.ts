/** Results of batches as files of vectors. */

export const VECTOR_FILE_FORMATS = ['jsonl', 'parquet', 'npy'] as const
export type VectorFileFormat = (typeof VECTOR_FILE_FORMATS)[number]

/** How the numbers of a vector are written. */
export type VectorNumbers = 'float32' | 'float16' | 'int8' | 'uint8' | 'binary' | 'ubinary'

export interface WantedVectorFile {
  readonly format: VectorFileFormat
  readonly model: string
  /** Empty: unknown. */
  readonly space: string
  readonly numbers: VectorNumbers
  /** Rows of a format that keeps a place for each. */
  readonly rows: number
  /** Custom ids begin with the number of the row that they belong to. Otherwise each line is the next row. */
  readonly hasRowIds: boolean
}

export interface VectorFiles {
  open(wanted: WantedVectorFile): VectorFile
}

/** One file that is being written. Must be discarded. Rejects with `VectorFileProblem`. */
export interface VectorFile {
  /**
   * Takes lines of results and errors, in any order. No line that comes later has a number below `before`: what is below
   * can be written.
   */
  take(lines: Uint8Array<ArrayBuffer>, before: number): Promise<void>
  /** The next bytes of the file, some megabytes. Undefined: there are none before more lines are taken. */
  next(): Promise<Uint8Array | undefined>
  /** There are no more lines: `next` returns the rest. */
  end(): Promise<void>
  /** May be called at any time, and more than once. */
  discard(): Promise<void>
}

/** Why the results do not fit one file of vectors, as a sentence. */
export class VectorFileProblem extends Error {
  override readonly name = 'VectorFileProblem'
}

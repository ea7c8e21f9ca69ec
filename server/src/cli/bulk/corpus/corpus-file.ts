/** What every format of a corpus can be asked. */

/** What a row has, by the names of its columns. */
export type Columns = Readonly<Record<string, unknown>>

export interface CorpusFile {
  /** Each row from the given one on. Rows count from 0; blank lines are none. */
  rows(first: number): AsyncGenerator<Columns>
  /** How much of the file has been read, from 0 to 1. */
  fractionRead(): number
}

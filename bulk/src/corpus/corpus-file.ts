/** The interface of all corpus formats. */

/** Values of a row by column name. */
export type Columns = Readonly<Record<string, unknown>>

export interface CorpusFile {
  /** Rows from `first` on, counted from 0 without blank lines. */
  rows(first: number): AsyncGenerator<Columns>
  /** Part of the file that has been read, from 0 to 1. */
  fractionRead(): number
}

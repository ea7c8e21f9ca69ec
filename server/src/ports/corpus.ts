/** Reads files of rows, isolated from everything else: a file may have any content. */
import type { CorpusProfile } from '#core/corpus/profile.ts'
import type { CorpusFormat } from '#core/corpus/format.ts'

export interface CorpusReader {
  /** Reads a file once, to know what it holds. */
  profile(file: { readonly name: string; readonly hasHeader: boolean }): CorpusReading
  /** Reads it again, and makes a line of a batch of each row. */
  lines(wanted: WantedLines): LineReading
}

/** One file that is being read. It must be finished or discarded. Rejects with `CorpusProblem` or `FileUnreadable`. */
export interface CorpusReading {
  /** The next bytes of the file, which the sender gives up. One call at a time. */
  push(piece: Uint8Array<ArrayBuffer>): Promise<void>
  finish(): Promise<CorpusProfile>
  /** Drops the reading. May be called at any time, and more than once. */
  discard(): Promise<void>
}

export interface WantedLines {
  readonly format: CorpusFormat
  readonly model: string
  readonly textColumn: string
  readonly idColumn: string | undefined
  readonly dimensions: number | undefined
  /** Rows with longer texts are asked about. Undefined: none is. */
  readonly longBytes: number | undefined
}

/** A row whose text has more bytes than `longBytes`. Rows count from 0. */
export interface LongRow {
  readonly row: number
  readonly text: string
}

/** What to do with a long row: its text as it is, another text, or no line at all. */
export type LongRowAnswer = { readonly row: number; readonly text: string | undefined }

export interface LineReading {
  /** The next bytes of the file; undefined: there are no more. The answer names the long rows among them. */
  push(piece: Uint8Array<ArrayBuffer> | undefined): Promise<ReadRows>
  /** The lines of the rows that were read since, with what was decided of the long ones. */
  take(decided: readonly LongRowAnswer[]): Promise<Uint8Array<ArrayBuffer>>
  discard(): Promise<void>
}

export interface ReadRows {
  readonly long: readonly LongRow[]
  /** The first row without a text. Undefined: each has one. */
  readonly firstEmpty: number | undefined
}

/** What is wrong with the file, as a sentence for the person who sent it. */
export class CorpusProblem extends Error {
  override readonly name = 'CorpusProblem'
}

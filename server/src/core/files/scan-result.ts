/** The result of reading a file of requests once, by `scan.ts`. */

/** In the words and codes of OpenAI's batches. */
export interface LineError {
  readonly code: LineErrorCode
  readonly message: string
  /** The field that is wrong. */
  readonly param: string | null
  /** Counts from 1, blank lines included. Null for an error of the file as a whole. */
  readonly line: number | null
}

type LineErrorCode =
  | 'invalid_json_line'
  | 'duplicate_custom_id'
  | 'url_mismatch'
  | 'empty_file'
  | 'too_many_tasks'
  | 'invalid_request'
  | 'missing_required_parameter'

/** Consecutive requests that may be worked on together: everything but their inputs is equal. */
export interface ScannedChunk {
  /** Offset of its first line in the file. */
  readonly firstByte: number
  /** Up to the end of its last line, including the line break if there is one. */
  readonly bytes: number
  /** The number of its first line in the file. Blank lines inside the chunk count too. */
  readonly firstLine: number
  /** Requests in it. */
  readonly lines: number
  /** Texts, lists of tokens or images that its requests ask for. */
  readonly inputs: number
}

/**
 * Largest stored scan: 100 names of models with 200 characters of at most three bytes, 100 messages of at most 500 bytes,
 * and the text around them. Each look at a batch's file reads it.
 */
export const MAX_SCAN_BYTES: number = 128 * 1024

export interface FileScan {
  /** Requests: lines that are not blank. */
  readonly lines: number
  readonly inputs: number
  readonly chunks: number
  /** The `url` of all requests: a line with another one is an error. Undefined when no line has one. */
  readonly url: string | undefined
  /** In the order they came, the first hundred. */
  readonly models: readonly ScannedModel[]
  /** The first hundred, by line. A file with errors has no chunks. */
  readonly errors: readonly LineError[]
  readonly errorCount: number
}

/** A model that lines name, as they name it. */
export interface ScannedModel {
  readonly model: string
  readonly firstLine: number
  readonly lines: number
}

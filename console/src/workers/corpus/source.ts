/** Rows of a file in the browser. They are read as its bytes are, so the file is never in memory as a whole. */
import { csvRows } from 'torana-bulk/csv'
import { decodeText } from 'torana-bulk/json-lines'
import { jsonRows } from 'torana-bulk/jsonl'
import { formatOf, type CorpusFormat } from './format.ts'

export type Columns = Readonly<Record<string, unknown>>

export interface Source {
  readonly format: CorpusFormat
  readonly rows: () => AsyncIterable<Columns>
  /** So far. */
  readonly readBytes: () => number
}

/** From which the format of a file is known. */
const START_BYTES = 64 * 1024

export async function openSource(file: File): Promise<Source> {
  const format = formatOf(file.name, await file.slice(0, START_BYTES).text())
  if (format.kind === 'parquet') return openParquet(file, format)
  let readBytes = 0
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunksIn(file.stream())) {
      readBytes += chunk.length
      yield chunk
    }
  }
  const rows = (): AsyncIterable<Columns> => {
    const texts = decodeText(chunks())
    return format.kind === 'csv' ? csvRows(texts, format.separator) : jsonRows(texts)
  }
  return { format, rows, readBytes: () => readBytes }
}

/** Its reader is loaded when there is something to read. */
async function openParquet(file: File, format: CorpusFormat): Promise<Source> {
  const { ParquetCorpus } = await import('torana-bulk/parquet')
  const slice = (first: number, end = file.size): Promise<ArrayBuffer> => file.slice(first, end).arrayBuffer()
  const corpus = await ParquetCorpus.open(file.name, { byteLength: file.size, slice }, {})
  return { format, rows: () => corpus.rows(0), readBytes: () => corpus.fractionRead() * file.size }
}

/** Read by hand: not every browser can loop over a stream. */
export async function* chunksIn(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    await reader.cancel()
  }
}

const encoder = new TextEncoder()
/** Used again for each text: a million small arrays cost more than what is counted. */
let scratch = new Uint8Array(1024 * 1024)
/** Bytes of a character unit in UTF-8, at most. */
const UNIT_BYTES = 3

/** Bytes of a text in UTF-8. */
export function countBytes(text: string): number {
  const most = text.length * UNIT_BYTES
  if (most > scratch.length) scratch = new Uint8Array(most)
  return encoder.encodeInto(text, scratch).written
}

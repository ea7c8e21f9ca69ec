/** Which file of vectors a batch has, by what is known of it. Pure, tested. */
import { batchFileUrl, type BatchDetail, type ResultFormat } from '../../api/queries/batches.ts'
import type { WantedResults } from '../../workers/corpus.ts'

type Known = Pick<BatchDetail, 'id' | 'model' | 'space' | 'metadata' | 'output' | 'errors'>

export function wantVectors(batch: Known, format: ResultFormat): WantedResults {
  const rows = readRows(batch)
  // Without row numbers, a line that failed keeps its place.
  const halves = rows === undefined ? (['output', 'errors'] as const) : (['output'] as const)
  return {
    format,
    rows,
    model: batch.model ?? '',
    space: batch.space ?? '',
    type: readType(batch.space ?? ''),
    files: halves
      .map((half) => ({ url: batchFileUrl(batch.id, half), bytes: batch[half].bytes }))
      .filter(({ bytes }) => bytes > 0),
  }
}

/** Rows of the file that it was made of on the page of new batches. Undefined: it was not. */
function readRows({ metadata: { rows, text_column: column } }: Known): number | undefined {
  return column !== undefined && /^\d{1,9}$/.test(rows ?? '') ? Number(rows) : undefined
}

/** After the file that it was made of; otherwise after its id. */
export function nameFile(batch: Known, format: ResultFormat): string {
  const file = readRows(batch) === undefined ? '' : (batch.metadata['file'] ?? '')
  return `${file.replace(/\.[a-z]+$/i, '') || batch.id}.${format}`
}

const TYPES = ['float16', 'int8', 'uint8', 'binary', 'ubinary'] as const

/** A space of vectors that are not float32 names their type behind its hex part: `m@1024:0123abcd/int8`. */
function readType(space: string): WantedResults['type'] {
  const [, named] = /:[0-9a-f]{8}\/([a-z0-9]+)/.exec(space) ?? []
  return TYPES.find((type) => type === named) ?? 'float32'
}

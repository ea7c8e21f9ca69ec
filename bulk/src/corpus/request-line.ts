/** Rows of a corpus as lines of a batch's input file, and the rows that its results belong to. */
import type { NumberType } from '../vectors/vector-format.ts'
import type { CorpusRow } from './corpus.ts'

/** A text as it is, or one content that the model fuses. */
export type RowInput = string | readonly [{ readonly content: readonly object[] }]

export interface LineTerms {
  readonly model: string
  readonly type: NumberType
  /** null: as wide as the model makes them. */
  readonly dimensions: number | null
}

export function requestLine(
  row: Pick<CorpusRow, 'row' | 'id'>,
  input: RowInput,
  { model, type, dimensions }: LineTerms,
): string {
  const body = {
    model,
    input,
    encoding_format: 'base64',
    ...typeField(type),
    ...(dimensions !== null && { dimensions }),
  }
  const line = { custom_id: customIdOf(row), method: 'POST', url: '/v1/embeddings', body }
  return `${JSON.stringify(line)}\n`
}

/** Contains the row number, since ids of a corpus may repeat. */
function customIdOf({ row, id }: Pick<CorpusRow, 'row' | 'id'>): string {
  return `${row}:${id}`
}

export function rowIn(customId: string): { readonly row: number; readonly id: string } {
  const colon = customId.indexOf(':')
  return { row: Number(customId.slice(0, colon)), id: customId.slice(colon + 1) }
}

/** The gateway makes the type, so that it names the space of the vectors. */
export function typeField(type: NumberType): { readonly output_dtype?: string } {
  return type === 'float32' ? {} : { output_dtype: type }
}

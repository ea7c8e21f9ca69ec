/** What to embed: rows of a file, read once from start to end. */
import { CommandProblem } from '../command-problem.ts'
import type { Columns, CorpusFile } from './corpus-file.ts'

/** One row of a corpus: it becomes one vector. */
export interface CorpusRow {
  readonly row: number
  /** From the id column, or the row number. */
  readonly id: string
  /** Undefined if the row has no text. */
  readonly text: string | undefined
  /** A path or an address. Undefined if the row has no image. */
  readonly image: string | undefined
}

/** Columns named on the command line. */
export interface ColumnChoice {
  readonly text: string | undefined
  readonly id: string | undefined
  /** With it, texts are read only from a column that was named. */
  readonly image?: string | undefined
}

/** Usual names of the text column; the first one found is used. */
const TEXT_COLUMNS = ['text', 'content', 'input', 'document']
const ID_COLUMNS = ['id', '_id', 'custom_id']

/** Rows from `first` on. Throws a `CommandProblem` if the file lacks the chosen columns. */
export async function* rowsOf(
  corpus: CorpusFile,
  choice: ColumnChoice,
  first: number,
): AsyncGenerator<CorpusRow> {
  let row = first
  let chosen: ColumnChoice | undefined
  for await (const columns of corpus.rows(first)) {
    chosen ??= chosenColumns(columns, choice)
    yield rowOf(columns, row, chosen)
    row += 1
  }
}

export function rowOf(columns: Columns, row: number, { text, id, image }: ColumnChoice): CorpusRow {
  const valueOf = (name: string | undefined): unknown => (name === undefined ? undefined : columns[name])
  return {
    row,
    id: idText(valueOf(id)) ?? String(row),
    text: textIn(valueOf(text)),
    image: textIn(valueOf(image)),
  }
}

/** The usual columns of texts and ids, as far as there are any. */
export function usualColumns(names: readonly string[]): Pick<ColumnChoice, 'text' | 'id'> {
  const first = (usual: readonly string[]): string | undefined => usual.find((name) => names.includes(name))
  return { text: first(TEXT_COLUMNS), id: first(ID_COLUMNS) }
}

function chosenColumns(columns: Columns, { text, id, image }: ColumnChoice): ColumnChoice {
  const names = Object.keys(columns)
  const usual = usualColumns(names)
  const found = text ?? (image === undefined ? usual.text : undefined)
  if (found === undefined && image === undefined)
    throw new CommandProblem(
      `None of the columns ${names.join(', ')} is known to have the texts. Name it with --text <column>, or a column of images with --image <column>.`,
    )
  for (const named of [text, id, image])
    if (named !== undefined && !names.includes(named))
      throw new CommandProblem(`There is no column "${named}". There are ${names.join(', ')}.`)
  return { text: found, id: id ?? usual.id, image }
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function idText(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined
}

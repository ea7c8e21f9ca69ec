/** The texts that a person wants vectors of: rows of a file, read once from its beginning to its end. */
import { existsSync } from 'node:fs'
import { extname } from 'node:path'
import { CommandProblem } from '../../client/command-problem.ts'
import { Misuse } from '../../command/command.ts'
import type { Columns, CorpusFile } from './corpus-file.ts'

/** One text of a corpus. */
export interface CorpusRow {
  readonly row: number
  /** What the column of ids has; the number of the row if there is none. */
  readonly id: string
  /** Undefined: there is none in this row. */
  readonly text: string | undefined
}

/** Columns that were named on the command line. */
export interface ColumnChoice {
  readonly text: string | undefined
  readonly id: string | undefined
}

const FORMATS = ['.jsonl', '.csv', '.tsv', '.parquet']
/** Names that people give to the column of texts, in the order in which they are looked for. */
const TEXT_COLUMNS = ['text', 'content', 'input', 'document']
const ID_COLUMNS = ['id', '_id', 'custom_id']

/** What reads a format is loaded when it is met. */
export async function openCorpus(file: string): Promise<CorpusFile> {
  const format = extname(file).toLowerCase()
  if (!FORMATS.includes(format))
    throw new Misuse(`"${file}": expected a file that ends in ${FORMATS.join(', ')}.`)
  if (!existsSync(file)) throw new CommandProblem(`There is no file ${file}.`)
  if (format === '.jsonl') return new (await import('./jsonl.ts')).JsonlCorpus(file)
  if (format === '.parquet') return (await import('./parquet.ts')).ParquetCorpus.open(file)
  return new (await import('./csv.ts')).CsvCorpus(file, format === '.tsv' ? '\t' : ',')
}

/** The texts from a row on. Throws a `CommandProblem` if the first of them has no such columns. */
export async function* textsOf(
  corpus: CorpusFile,
  choice: ColumnChoice,
  first: number,
): AsyncGenerator<CorpusRow> {
  let row = first
  let chosen: { readonly text: string; readonly id: string | undefined } | undefined
  for await (const columns of corpus.rows(first)) {
    chosen ??= chosenColumns(columns, choice)
    const text = columns[chosen.text]
    yield {
      row,
      id: idText(chosen.id === undefined ? undefined : columns[chosen.id]) ?? String(row),
      text: typeof text === 'string' && text !== '' ? text : undefined,
    }
    row += 1
  }
}

function chosenColumns(columns: Columns, { text, id }: ColumnChoice) {
  const names = Object.keys(columns)
  const found = text ?? TEXT_COLUMNS.find((name) => names.includes(name))
  if (found === undefined)
    throw new CommandProblem(
      `None of the columns ${names.join(', ')} is known to have the texts. Name it with --text <column>.`,
    )
  for (const named of [text, id])
    if (named !== undefined && !names.includes(named))
      throw new CommandProblem(`There is no column "${named}". There are ${names.join(', ')}.`)
  return { text: found, id: id ?? ID_COLUMNS.find((name) => names.includes(name)) }
}

function idText(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined
}

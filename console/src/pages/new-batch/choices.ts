/** What is chosen: what the address says, else what fits the file and the models. Pure, tested. */
import type { Schema } from '../../api/client.ts'
import type { SearchOf } from '../../app/place.ts'
import type { CorpusProfile } from '../../workers/corpus/profile.ts'
import type { newBatch as place } from './place.ts'

type ModelRow = Schema<'ModelRow'>
type Search = SearchOf<typeof place>

export interface EmbeddingModel extends ModelRow {
  readonly embedding: NonNullable<ModelRow['embedding']>
}

/** Those that a new batch may use: embedding models that are still served. */
export function embeddingModels(models: readonly ModelRow[]): readonly EmbeddingModel[] {
  return models.filter((one): one is EmbeddingModel => one.embedding !== null && one.retired === null)
}

export interface Choices {
  readonly textColumn: string | undefined
  /** null: rows are named by their number. */
  readonly idColumn: string | null
  readonly badRows: NonNullable<Search['rows']>
  readonly model: EmbeddingModel | undefined
  /** Undefined: the full width. */
  readonly dimensions: number | undefined
  readonly hours: NonNullable<Search['hours']>
  readonly output: NonNullable<Search['output']>
}

export function choicesOf(
  search: Search,
  profile: Pick<CorpusProfile, 'columns' | 'usual'> | undefined,
  models: readonly EmbeddingModel[],
): Choices {
  const columns = profile?.columns.map(({ name }) => name) ?? []
  const model = models.find(({ id }) => id === search.model) ?? (models.length === 1 ? models[0] : undefined)
  const named = (name: string | null | undefined): string | undefined => columns.find((one) => one === name)
  const dimensions = search.dimensions
  return {
    textColumn: named(search.text) ?? named(profile?.usual.text),
    idColumn: search.numbered === true ? null : (named(search.id) ?? named(profile?.usual.id) ?? null),
    badRows: search.rows ?? 'skip',
    model,
    dimensions:
      dimensions !== undefined && model && widthsOf(model).includes(dimensions) ? dimensions : undefined,
    hours: search.hours ?? '24',
    output: search.output ?? 'parquet',
  }
}

/** Widths that are offered where a model makes any. */
const USUAL_WIDTHS = [3072, 2048, 1536, 1024, 768, 512, 256, 128]

/** Those below the full width, the widest first. */
export function widthsOf({ embedding: { width, narrower } }: EmbeddingModel): readonly number[] {
  if (narrower === 'none') return []
  const offered = narrower === 'any' ? USUAL_WIDTHS : narrower
  return offered.filter((one) => one < width).toSorted((a, b) => b - a)
}

/** JSON writes the four bytes of a number in about twelve characters. */
const JSON_FACTOR = 3

export function outputBytes(output: Choices['output'], vectorBytes: number): number {
  return vectorBytes * (output === 'jsonl' ? JSON_FACTOR : 1)
}

/** The same batch by the command line. */
export function shellCommand(
  { model, textColumn, idColumn, dimensions, output }: Choices,
  fileName = 'FILE.csv',
): string {
  const stem = fileName.replace(/\.\w+$/, '')
  const parts = [
    `torana batch run ${quoted(fileName)}`,
    `--model ${quoted(model?.id ?? 'MODEL')}`,
    ...(dimensions === undefined ? [] : [`--dimensions ${dimensions}`]),
    ...(textColumn === undefined ? [] : [`--text ${quoted(textColumn)}`]),
    ...(idColumn === null ? [] : [`--id ${quoted(idColumn)}`]),
    `--out ${quoted(`${stem}.${output}`)}`,
  ]
  const lines: string[] = []
  for (const part of parts) {
    const last = lines.at(-1)
    if (last !== undefined && lines.length > 1 && last.length + part.length < LINE_CHARACTERS)
      lines[lines.length - 1] = `${last} ${part}`
    else lines.push(part)
  }
  return lines.join(' \\\n  ')
}

/** The width of the panel that shows the command. */
const LINE_CHARACTERS = 38

/** As a shell reads one word. */
function quoted(word: string): string {
  return /^[\w./@:-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

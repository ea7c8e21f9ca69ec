/** Turns rows of the corpus into a batch's input file. */
import { once } from 'node:events'
import { createReadStream, createWriteStream, renameSync, type WriteStream } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import type { CorpusRow } from '../corpus/corpus.ts'
import { requestLine, rowIn, type RowInput } from '../corpus/request-line.ts'
import { CommandProblem } from '../command-problem.ts'
import { readImage } from '../corpus/image-file.ts'
import type { RunFolder, RunTerms, Slice } from './state.ts'
import { errorLine, type RowError } from './row-error.ts'

export interface SliceSize {
  readonly maxRows: number
  readonly maxBytes: number
}

/** A text as it is, or one content that the model fuses. `image`: an address or a data URL. */
export function inputOf(text: string | undefined, image: string | undefined): RowInput {
  if (image === undefined) return text ?? ''
  const words = text === undefined ? [] : [{ type: 'text', text }]
  return [{ content: [...words, { type: 'image_url', image_url: { url: image } }] }]
}

/**
 * Writes the requests of the next rows, and errors of rows that have nothing to embed. Undefined at the end of the corpus.
 * Throws a `CommandProblem` if none of the first rows can be sent: then the column or the folder is wrong.
 */
export async function takeSlice(
  corpusRows: AsyncIterator<CorpusRow>,
  folder: RunFolder,
  { maxRows, maxBytes }: SliceSize,
): Promise<Slice | undefined> {
  const { terms, nextRow: firstRow, nextSlice: number } = folder.state
  const slice = { number, firstRow, batches: [] }
  const requests = new LineFile(folder.sliceFile(slice, '.jsonl'))
  const errors = new LineFile(folder.sliceFile(slice, '.errors.jsonl'))
  let rows = 0
  let refused: Refused | undefined
  while (rows < maxRows && requests.bytes < maxBytes) {
    const next = await corpusRows.next()
    if (next.done === true) break
    const { row, id } = next.value
    rows += 1
    const input = await inputIn(next.value, terms)
    if (isRefused(input)) {
      refused ??= input
      await errors.write(errorLine({ row, id, ...input }))
      continue
    }
    await requests.write(requestLine({ row, id }, input, terms))
  }
  await Promise.all([requests.close(), errors.close()])
  if (number === 0 && requests.lines === 0 && refused !== undefined && terms.imageColumn !== undefined)
    throw new CommandProblem(`No row can be sent. The first: ${refused.message}`)
  return rows === 0 ? undefined : { ...slice, rows, requests: requests.lines }
}

type Refused = Pick<RowError, 'code' | 'message'>

function isRefused(input: RowInput | Refused): input is Refused {
  return typeof input === 'object' && 'code' in input
}

async function inputIn(
  { row, text, image }: CorpusRow,
  { corpus, imageColumn }: RunTerms,
): Promise<RowInput | Refused> {
  if (image !== undefined) {
    const read = await readImage(image, dirname(corpus))
    if (typeof read === 'string') return inputOf(text, read)
    return { code: read.code, message: `Row ${row + 1}: ${read.message}` }
  }
  if (text !== undefined) return text
  return imageColumn === undefined
    ? { code: 'no_text', message: 'The row has no text.' }
    : { code: 'no_image', message: `Row ${row + 1} has no image.` }
}

/** Copies those requests of a slice whose rows have no result. */
export async function writeRest(
  from: string,
  to: string,
  isMissing: (row: number) => boolean,
): Promise<void> {
  const file = new LineFile(to)
  for await (const line of createInterface({ input: createReadStream(from), crlfDelay: Infinity })) {
    const { custom_id } = JSON.parse(line) as { readonly custom_id: string }
    if (isMissing(rowIn(custom_id).row)) await file.write(`${line}\n`)
  }
  await file.close()
}

/** Gets its name when it is complete. */
class LineFile {
  readonly #path: string
  readonly #stream: WriteStream
  bytes = 0
  lines = 0

  constructor(path: string) {
    this.#path = path
    this.#stream = createWriteStream(`${path}.next`)
  }

  async write(line: string): Promise<void> {
    const bytes = Buffer.from(line)
    this.bytes += bytes.length
    this.lines += 1
    if (!this.#stream.write(bytes)) await once(this.#stream, 'drain')
  }

  async close(): Promise<void> {
    this.#stream.end()
    await once(this.#stream, 'close')
    renameSync(`${this.#path}.next`, this.#path)
  }
}

/** `torana calibrate`: measures the range of each dimension of a model's vectors, from which Torana makes int8 and uint8. */
import { createReadStream, existsSync } from 'node:fs'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import { MIN_CALIBRATION_VECTORS } from '#core/embedding/vector-types/calibration.ts'
import { RangeCollector } from '#core/embedding/vector-types/make.ts'
import { decodeBase64, encodeBase64 } from '#core/embedding/vector.ts'
import { CommandProblem } from '../client/command-problem.ts'
import type { GatewayClient } from '../client/gateway-client.ts'
import { command, Misuse } from '../command/command.ts'
import type { CalibrationBody } from './spaces.ts'
import { numberOf } from './terms.ts'

/** Most vectors of a calibration: ranges hardly grow beyond, and embedding costs money. */
const MAX_VECTORS = 20_000
/** Texts of one request, which every upstream takes at once or Torana splits. */
const TEXTS_PER_REQUEST = 128
const TEXT_ENDINGS = ['.txt', '.jsonl', '.csv', '.tsv', '.parquet']

export const calibrate = command({
  name: 'calibrate',
  summary: 'measure the ranges from which Torana makes int8 and uint8 vectors of a model',
  options: {
    model: { takes: '<model>', says: 'the model' },
    file: {
      takes: '<corpus>',
      says: `texts like those you embed, at least ${MIN_CALIBRATION_VECTORS}: .txt with one per line, .jsonl, .csv, .tsv or .parquet; or vectors of the model as .npy`,
    },
    dimensions: { takes: '<n>', says: 'the width of the vectors (the full width)' },
    text: { takes: '<column>', says: 'the column of texts (text, content, input or document)' },
    key: {
      takes: '<key>',
      says: 'the key to embed with. Default: TORANA_KEY, or the demo key of the data folder',
    },
  },
  reach: 'node',
  more: `Texts go through the public API, at TORANA_BASE_URL or HOST and PORT of this machine, and cost what any request costs; the first ${MAX_VECTORS} count. A calibration never changes. A newer one of the same space is in force from then on, in a space of its own; requests that pin the earlier space keep its calibration.`,
  examples: [
    'torana calibrate --model demo-embed --file corpus.txt',
    'torana calibrate --model text-embedding-3-small --dimensions 512 --file vectors.npy',
  ],
  async run({ control, gateway, text }) {
    const model = text('model')
    const file = text('file')
    if (model === undefined || file === undefined) throw new Misuse('--model and --file are needed.')
    const given = text('dimensions')
    const dimensions = given === undefined ? undefined : numberOf(given, '--dimensions')
    const isMatrix = extname(file).toLowerCase() === '.npy'
    const measured = isMatrix
      ? await measuredMatrix(file, dimensions)
      : await measuredTexts(await gateway(), { model, dimensions, file, column: text('text') })
    const { ranges, space } = measured
    checkCount(file, ranges.vectors, 'vectors')
    const path = `/spaces/${encodeURIComponent(model)}/calibrations`
    const made = await control.ask<CalibrationBody>('POST', path, {
      ...(space !== undefined && { space }),
      mins: encodeBase64(ranges.mins),
      maxs: encodeBase64(ranges.maxs),
      vectors: ranges.vectors,
    })
    return {
      data: made,
      note: `Calibration ${made.id} of ${made.space}, from ${made.vectors} vectors. int8 is now in the space ${made.space}/int8:cal-${made.id}.`,
    }
  },
})

interface Measured {
  readonly ranges: RangeCollector
  /** The space that the gateway named. Undefined for vectors from a file. */
  readonly space: string | undefined
}

async function measuredMatrix(file: string, dimensions: number | undefined): Promise<Measured> {
  const { npyRows } = await import('torana-bulk/npy')
  let ranges: RangeCollector | undefined
  for await (const row of npyRows(file)) {
    if (dimensions !== undefined && row.length !== dimensions)
      throw new CommandProblem(`${file} has vectors of ${row.length} dimensions, not ${dimensions}.`)
    ranges ??= new RangeCollector(row.length)
    // Rows without a vector are NaN in files of `torana batch run`.
    if (!row.some(Number.isNaN)) ranges.add(row)
    if (ranges.vectors === MAX_VECTORS) break
  }
  return { ranges: ranges ?? new RangeCollector(0), space: undefined }
}

interface TextTerms {
  readonly model: string
  readonly dimensions: number | undefined
  readonly file: string
  readonly column: string | undefined
}

async function measuredTexts(client: GatewayClient, terms: TextTerms): Promise<Measured> {
  const { model, dimensions } = terms
  let ranges: RangeCollector | undefined
  const spaces = new Set<string>()
  const texts = await distinctTexts(terms)
  for (let first = 0; first < texts.length; first += TEXTS_PER_REQUEST) {
    const input = texts.slice(first, first + TEXTS_PER_REQUEST)
    const answer = await client.open('/embeddings', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, input, encoding_format: 'base64', ...(dimensions && { dimensions }) }),
    })
    spaces.add(answer.headers.get('x-torana-space') ?? '')
    const { data } = (await answer.json()) as { readonly data: readonly { readonly embedding: string }[] }
    for (const { embedding } of data) {
      const values = decodeBase64(embedding)
      ranges ??= new RangeCollector(values.length)
      ranges.add(values)
    }
  }
  if (spaces.size > 1)
    throw new CommandProblem(
      `The vector space of ${model} changed meanwhile: ${[...spaces].join(', ')}. Start again.`,
    )
  return { ranges: ranges ?? new RangeCollector(0), space: [...spaces][0] || undefined }
}

/** The first distinct texts. */
async function distinctTexts(terms: TextTerms): Promise<readonly string[]> {
  const texts = new Set<string>()
  for await (const text of textsIn(terms)) {
    texts.add(text)
    if (texts.size === MAX_VECTORS) break
  }
  // Before anything is paid for.
  checkCount(terms.file, texts.size, 'different texts')
  return [...texts]
}

function checkCount(file: string, count: number, what: string): void {
  if (count >= MIN_CALIBRATION_VECTORS) return
  throw new CommandProblem(
    `${file} has ${count} ${what}; a calibration needs at least ${MIN_CALIBRATION_VECTORS}. With fewer, rare values would all become the same byte.`,
  )
}

async function* textsIn({ file, column }: TextTerms): AsyncGenerator<string> {
  const ending = extname(file).toLowerCase()
  if (!TEXT_ENDINGS.includes(ending))
    throw new Misuse(
      `--file: expected a name that ends in ${TEXT_ENDINGS.join(', ')} or .npy, got "${file}".`,
    )
  if (ending === '.txt') {
    if (!existsSync(file)) throw new CommandProblem(`There is no file ${file}.`)
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity }))
      if (line.trim() !== '') yield line
    return
  }
  const { rowsOf } = await import('torana-bulk/corpus')
  const { openCorpus } = await import('torana-bulk/open-corpus')
  const corpus = await openCorpus(file)
  for await (const { text } of rowsOf(corpus, { text: column, id: undefined }, 0))
    if (text !== undefined) yield text
}

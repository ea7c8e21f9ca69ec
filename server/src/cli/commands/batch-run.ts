/** `torana batch run <corpus> --out <file>`: vectors of a whole corpus, by batches, into a file. */
import { extname } from 'node:path'
import { anyOf } from '#config/file/problem.ts'
import { dollars, nanoUsdOf } from '#core/money/price.ts'
import { command, Misuse, type Call, type Shown } from '../command/command.ts'
import type { Summary } from 'torana-bulk/run'
import { isVectorEnding, NUMBER_TYPES, VECTOR_ENDINGS } from 'torana-bulk/vectors'
import { numberOf } from './terms.ts'

/** Exit code of a run in which some rows got no vector: the others are kept. */
const SOME_FAILED = 3
/** OpenAI's limit for one batch. */
const MAX_ROWS = 50_000
const WINDOW_HOURS = { default: 24, max: 168 }

export const batchRun = command({
  name: 'run',
  summary: 'make vectors of a whole corpus, into a file',
  arguments: [{ name: '<corpus>', says: 'what to embed: a .jsonl, .csv, .tsv or .parquet file' }],
  options: {
    out: {
      takes: '<file>',
      says: `where the vectors go; it ends in ${anyOf(VECTOR_ENDINGS)}`,
      short: 'o',
    },
    model: { takes: '<model>', says: 'the model (the first embedding model of the key)' },
    dimensions: { takes: '<n>', says: 'the width of the vectors' },
    type: {
      takes: `<${NUMBER_TYPES.join('|')}>`,
      says: 'the type of the vectors (float32)',
      oneOf: NUMBER_TYPES,
    },
    text: { takes: '<column>', says: 'the column of texts (text, content, input or document)' },
    image: {
      takes: '<column>',
      says: 'the column of images: paths from the folder of the corpus, or addresses; with --text, both become one vector',
    },
    id: {
      takes: '<column>',
      says: 'the column of ids (id, _id or custom_id; the number of the row if there is none)',
    },
    window: {
      takes: '<hours>',
      says: `how long a batch may take, up to ${WINDOW_HOURS.max} (${WINDOW_HOURS.default})`,
    },
    'rows-per-batch': { takes: '<n>', says: `at most ${MAX_ROWS}, which is the default` },
  },
  reach: 'gateway',
  more: 'The same command goes on where it was ended: nothing is paid twice. What it needs for that is in the folder <out>.run until the output is whole. The output is in the order of the corpus. Rows without a vector are in <out>.errors.jsonl; model, space and figures are in <out>.json. Exit code 3: some rows have no vector.',
  examples: [
    'torana batch run corpus.jsonl --model text-embedding-3-small --out vectors.npy',
    'torana batch run products.csv --text description --id sku --out vectors.parquet --type float16',
    'torana batch run products.csv --image photo --text description --model gemini-embedding-2 --out vectors.npy',
  ],
  async run(call) {
    const {
      given: [corpus = ''],
      text,
      gateway,
    } = call
    const { CORPUS_ENDINGS, isCorpusFile, runCorpus } = await import('torana-bulk/run')
    if (!isCorpusFile(corpus))
      throw new Misuse(`"${corpus}": expected a file that ends in ${CORPUS_ENDINGS.join(', ')}.`)
    const out = text('out')
    if (out === undefined) throw new Misuse('--out is missing: the file for the vectors.')
    const ending = extname(out).toLowerCase()
    if (!isVectorEnding(ending))
      throw new Misuse(`--out: expected a name that ends in ${anyOf(VECTOR_ENDINGS)}, got "${out}".`)
    const type = NUMBER_TYPES.find((one) => one === text('type')) ?? 'float32'
    const asked = {
      corpus,
      out,
      ending,
      type,
      model: text('model'),
      dimensions: countIn(call, 'dimensions', Infinity),
      columns: { text: text('text'), id: text('id'), image: text('image') },
      windowHours: countIn(call, 'window', WINDOW_HOURS.max) ?? WINDOW_HOURS.default,
      rowsPerBatch: countIn(call, 'rows-per-batch', MAX_ROWS) ?? MAX_ROWS,
    } as const
    return shown(await runCorpus(asked, await gateway(), call.out), out)
  },
})

type Count = 'dimensions' | 'window' | 'rows-per-batch'

function countIn({ text }: Call<Count>, option: Count, max: number): number | undefined {
  const given = text(option)
  if (given === undefined) return undefined
  const count = numberOf(given, `--${option}`)
  if (Number.isInteger(count) && count >= 1 && count <= max) return count
  const upTo = max === Infinity ? '' : ` to ${max}`
  throw new Misuse(`--${option}: expected a whole number from 1${upTo}, got "${given}".`)
}

function shown(summary: Summary, out: string): Shown {
  const { vectors, errors, model, space, dimensions, type, tokens, cost_usd } = summary
  const failed = errors === 0 ? '' : ` ${errors} rows have none: ${out}.errors.jsonl says why.`
  return {
    data: summary,
    note: `${out}: ${vectors} vectors of ${dimensions} dimensions (${type}), by ${model}, space ${space || 'unknown'}. ${tokens} tokens, ${dollars(nanoUsdOf(cost_usd))}.${failed}`,
    exitCode: errors === 0 ? 0 : SOME_FAILED,
  }
}

/** One run of `torana batch run`, from its options to the finished output file. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { BatchesClient, type Gateway } from './batches-client.ts'
import { CommandProblem } from './command-problem.ts'
import { rowsOf, type ColumnChoice } from './corpus/corpus.ts'
import { openCorpus } from './corpus/open-corpus.ts'
import { isSummary, summaryFileOf, type Summary } from './run/output.ts'
import { ProgressLine, type ProgressOutput } from './run/progress.ts'
import { Run } from './run/run.ts'
import { typeField } from './corpus/request-line.ts'
import { inputOf } from './run/slice-requests.ts'
import { RunFolder, type RunTerms } from './run/state.ts'
import type { NumberType, VectorEnding } from './vectors/vector-format.ts'

export { isCorpusFile, CORPUS_ENDINGS } from './corpus/open-corpus.ts'
export type { Summary } from './run/output.ts'

export interface CorpusRun {
  readonly corpus: string
  readonly out: string
  readonly ending: VectorEnding
  readonly type: NumberType
  readonly model: string | undefined
  readonly dimensions: number | undefined
  readonly columns: ColumnChoice
  readonly windowHours: number
  readonly rowsPerBatch: number
}

/** Size limit of a batch's input file at OpenAI. */
const MAX_FILE_BYTES = 200_000_000
const INTERRUPTED = 130
/** An image of one pixel, to ask whether the model takes images. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export async function runCorpus(asked: CorpusRun, gateway: Gateway, out: ProgressOutput): Promise<Summary> {
  const corpus = await openCorpus(asked.corpus)
  const terms = await termsOf(asked, gateway)
  const folderPath = `${asked.out}.run`
  const before = finishedBefore(asked.out, terms)
  if (before !== undefined) {
    RunFolder.remove(folderPath)
    return before
  }
  const space = await spaceOf(terms, gateway)
  const folder = RunFolder.open(folderPath, terms)
  const line = new ProgressLine(out)
  const stop = (): never => {
    line.clear()
    out.stderr.write('Batches that have begun go on at the gateway. Run the same command to go on.\n')
    process.exit(INTERRUPTED)
  }
  process.once('SIGINT', stop)
  try {
    const summary = await new Run({
      client: new BatchesClient(gateway),
      folder,
      corpus,
      rows: rowsOf(corpus, asked.columns, folder.state.nextRow),
      size: { maxRows: asked.rowsPerBatch, maxBytes: MAX_FILE_BYTES },
      windowHours: asked.windowHours,
      space,
      show: (progress) => line.show(progress),
    }).complete(asked.out)
    RunFolder.remove(folderPath)
    return summary
  } finally {
    line.clear()
    process.off('SIGINT', stop)
    folder.unlock()
  }
}

async function termsOf(asked: CorpusRun, gateway: Gateway): Promise<RunTerms> {
  const { size, mtimeMs } = statSync(asked.corpus)
  return {
    url: gateway.url,
    corpus: resolve(asked.corpus),
    corpusBytes: size,
    corpusChangedMs: mtimeMs,
    model: await gateway.model(asked.model, 'embedding'),
    dimensions: asked.dimensions ?? null,
    type: asked.type,
    ending: asked.ending,
    textColumn: asked.columns.text ?? null,
    idColumn: asked.columns.id ?? null,
    ...(asked.columns.image !== undefined && { imageColumn: asked.columns.image }),
  }
}

/** Summary of an earlier run of the same command that finished: it may have been killed after its last step. */
function finishedBefore(out: string, terms: RunTerms): Summary | undefined {
  if (!existsSync(out)) return undefined
  const file = summaryFileOf(out)
  const summary: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
  if (isSummary(summary) && isDeepStrictEqual(summary.terms, terms)) return summary
  throw new CommandProblem(
    `${out} is there already, and not from this corpus and these options. Choose another --out, or delete it and ${file}.`,
  )
}

/** A dry run, which costs nothing, and fails now if the key may not get such vectors. */
async function spaceOf(terms: RunTerms, gateway: Gateway): Promise<string> {
  const { model, dimensions, type, textColumn, imageColumn } = terms
  const image = imageColumn === undefined ? undefined : PIXEL
  const text = image === undefined || textColumn !== null ? 'text' : undefined
  const answer = await gateway.open('/embeddings', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-torana-dry-run': 'true' },
    body: JSON.stringify({
      model,
      input: inputOf(text, image),
      ...typeField(type),
      ...(dimensions !== null && { dimensions }),
    }),
  })
  return ((await answer.json()) as { readonly space?: string | null }).space ?? ''
}

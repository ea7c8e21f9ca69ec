/** `torana batch run`, from what was asked for to the file that is there. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { BatchesClient } from '../client/batches-client.ts'
import { CommandProblem } from '../client/command-problem.ts'
import type { GatewayClient } from '../client/gateway-client.ts'
import type { Output } from '../command/output.ts'
import { openCorpus, textsOf, type ColumnChoice } from './corpus/corpus.ts'
import { isSummary, summaryFileOf, type Summary } from './run/output.ts'
import { ProgressLine } from './run/progress.ts'
import { Run } from './run/run.ts'
import { RunFolder, type RunTerms } from './run/state.ts'
import type { NumberType, VectorEnding } from './vectors/vector-format.ts'

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

/** OpenAI's own bound of a file for a batch. */
const MAX_FILE_BYTES = 200_000_000
const INTERRUPTED = 130

export async function runCorpus(asked: CorpusRun, gateway: GatewayClient, out: Output): Promise<Summary> {
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
      texts: textsOf(corpus, asked.columns, folder.state.nextRow),
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

async function termsOf(asked: CorpusRun, gateway: GatewayClient): Promise<RunTerms> {
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
  }
}

/** The output of the same command is there: it may have been killed right behind its last step. */
function finishedBefore(out: string, terms: RunTerms): Summary | undefined {
  if (!existsSync(out)) return undefined
  const file = summaryFileOf(out)
  const summary: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
  if (isSummary(summary) && isDeepStrictEqual(summary.terms, terms)) return summary
  throw new CommandProblem(
    `${out} is there already, and not from this corpus and these options. Choose another --out, or delete it and ${file}.`,
  )
}

/** Asked for without a call: it also says whether this key may have such vectors at all. */
async function spaceOf({ model, dimensions }: RunTerms, gateway: GatewayClient): Promise<string> {
  const answer = await gateway.open('/embeddings', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-torana-dry-run': 'true' },
    body: JSON.stringify({ model, input: 'text', ...(dimensions !== null && { dimensions }) }),
  })
  return ((await answer.json()) as { readonly space?: string | null }).space ?? ''
}

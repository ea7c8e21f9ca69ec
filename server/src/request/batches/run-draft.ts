/** Makes a batch of a draft: its rows become the lines of a file of requests, and the file an ordinary batch. */
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import type { BadRows } from '#core/corpus/estimate.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Actor } from '#ports/audit.ts'
import type { Batch } from '#ports/batches.ts'
import type { BatchDraft } from '#ports/batch-drafts.ts'
import type { CorpusFormat } from '#core/corpus/format.ts'
import type { LongRow, LongRowAnswer } from '#ports/corpus.ts'
import type { Key } from '#ports/keys.ts'
import type { TokenCounter } from '#ports/tokens.ts'
import type { VectorFileFormat } from '#ports/vector-files.ts'
import { ArrivingFile, fileFault, type FilesOutside } from '../files/arriving-file.ts'
import { bytesOf } from '../files/content.ts'
import type { DraftOutside } from './arriving-draft.ts'
import { createBatch, type CreateDependencies } from './create.ts'

export interface RunOutside extends DraftOutside, FilesOutside {
  readonly forBatches: CreateDependencies
  readonly tokens: TokenCounter
}

export interface DraftRun {
  readonly draft: BatchDraft
  readonly format: CorpusFormat
  readonly rows: number
  readonly model: EmbeddingModel
  /** As the person wrote it: it may be an alias. */
  readonly askedModel: string
  readonly textColumn: string
  readonly idColumn: string | undefined
  readonly dimensions: number | undefined
  readonly badRows: BadRows
  readonly windowMs: number
  /** The format in which the person wants the vectors. */
  readonly output: VectorFileFormat | undefined
  /** The person or program that runs it, for the audit. */
  readonly by: Actor
  /** The key by the rights of the moment at which the batch is made. */
  readonly keyAtEnd: () => Promise<Key>
}

/** Retention of the file of requests, and of the results: as for any batch. */
const KEPT_MS = 30 * 24 * 3_600_000
/** Bytes that are read and turned into lines at a time. */
const PIECE_BYTES = 1024 * 1024
/** Time for counting the tokens of long rows of one piece: the threads may be busy with requests. */
const COUNT_MS = 60_000

/** A batch that a person cancelled, or whose time was over, can be run again with the same options. */
const ENDED_WITHOUT_RESULTS: ReadonlySet<Batch['state']> = new Set([
  'cancelling',
  'cancelled',
  'expired',
  'failed',
])
const MAX_ATTEMPTS = 100

/** The same run again is the same batch, also after this node or another one was killed in the middle of it. */
export async function runDraft(run: DraftRun, key: Key, outside: RunOutside): Promise<Batch> {
  const { draft } = run
  const { drafts, files, forBatches } = outside
  const digest = forBatches.hashing.sha256OfText(canonicalRun(run, key))
  const before = await drafts.madeFile(draft.id, digest)
  const isThere = before !== undefined && (await files.find(before, draft.project)) !== undefined
  const inputFileId = isThere ? before : await madeFile(run, key, digest, outside)
  const asked = {
    inputFileId,
    endpoint: '/v1/embeddings',
    windowMs: run.windowMs,
    metadata: {
      file: draft.name,
      text_column: run.textColumn,
      ...(run.idColumn !== undefined && { id_column: run.idColumn }),
      ...(run.output !== undefined && { output: run.output }),
    },
    resultsKeptMs: KEPT_MS,
    corpusRows: run.rows,
  }
  const options = { key: await run.keyAtEnd(), isRetry: false, by: run.by, digest }
  for (let attempt = 1; ; attempt += 1) {
    // Ids sort by time: what was there before has a smaller one.
    const now = `batch_${forBatches.identifiers.next().replaceAll('-', '')}`
    const idempotencyKey = `draft ${draft.id} ${digest} ${attempt}`
    const batch = await createBatch(asked, { ...options, idempotencyKey }, forBatches)
    const isGone = batch.id < now && ENDED_WITHOUT_RESULTS.has(batch.state)
    if (!isGone || attempt === MAX_ATTEMPTS) return batch
  }
}

function canonicalRun(
  { askedModel, textColumn, idColumn, dimensions, badRows, windowMs }: DraftRun,
  key: Key,
): string {
  return JSON.stringify([askedModel, textColumn, idColumn, dimensions, badRows, windowMs, key.id])
}

/** Another node may have made one meanwhile: the first counts. */
async function madeFile(run: DraftRun, key: Key, digest: string, outside: RunOutside): Promise<string> {
  const { draft } = run
  // A line has more bytes than its row.
  const limits = { ...outside.limits, fileBytes: outside.limits.uploadFileBytes }
  const file = await ArrivingFile.begin(key, 0, { ...outside, limits })
  try {
    let lines = 0
    for await (const bytes of linesOf(run, outside)) {
      lines += bytes.length
      await file.write(bytes)
    }
    if (lines === 0)
      throw new Fault(
        'empty_input',
        `No row has a text in the column '${run.textColumn}' that can be embedded.`,
        {
          param: 'text_column',
        },
      )
    await file.complete(`${draft.name}.jsonl`, { purpose: 'batch', expiresAfterMs: KEPT_MS })
  } catch (error) {
    await file.discard()
    throw fileFault(error)
  }
  // Not discarded if this fails: the store may have kept it, and only the answer was lost.
  const kept = await outside.drafts.keepMade(draft.id, digest, file.id)
  if (kept !== file.id) await outside.files.delete(file.id, draft.project)
  return kept
}

async function* linesOf(run: DraftRun, outside: RunOutside): AsyncGenerator<Uint8Array> {
  const { drafts, fileBlobs, corpora } = outside
  const { draft, format, textColumn, idColumn, dimensions, badRows } = run
  const segments = await drafts.segments(draft.id)
  const longBytes = countedBytes(run.model)
  const reading = corpora.lines({
    format,
    model: run.askedModel,
    textColumn,
    idColumn,
    dimensions,
    longBytes,
  })
  try {
    for await (const piece of pieces(bytesOf(segments, fileBlobs))) {
      const { long, firstEmpty } = await reading.push(piece)
      if (firstEmpty !== undefined && badRows === 'stop')
        throw badRow(firstEmpty, `has no text in the column '${textColumn}'`)
      yield await reading.take(await decidedOf(long, run, outside))
    }
  } finally {
    await reading.discard()
  }
}

/** In order, with undefined after the last. */
async function* pieces(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer> | undefined> {
  let waiting: Uint8Array[] = []
  let bytes = 0
  const joined = (): Uint8Array<ArrayBuffer> => {
    const piece = new Uint8Array(bytes)
    let at = 0
    for (const chunk of waiting) {
      piece.set(chunk, at)
      at += chunk.length
    }
    waiting = []
    bytes = 0
    return piece
  }
  for await (const chunk of chunks) {
    waiting.push(chunk)
    bytes += chunk.length
    if (bytes >= PIECE_BYTES) yield joined()
  }
  if (bytes > 0) yield joined()
  yield undefined
}

/** Texts up to this many bytes fit the model: a token has at least one. Undefined where only the upstream can count. */
function countedBytes({ facts }: EmbeddingModel): number | undefined {
  return facts.tokenCounts === 'exact' && facts.tokenizer !== 'none' ? facts.maxInputTokens : undefined
}

async function decidedOf(
  long: readonly LongRow[],
  run: DraftRun,
  { tokens }: Pick<RunOutside, 'tokens'>,
): Promise<readonly LongRowAnswer[]> {
  const { model, badRows, draft } = run
  const { tokenizer, maxInputTokens = Infinity } = model.facts
  if (long.length === 0 || tokenizer === 'none') return long
  const asker = { project: draft.project, timeoutMs: COUNT_MS, most: maxInputTokens }
  const countOf = async (texts: readonly string[]): Promise<readonly number[]> =>
    (await tokens.count(texts, tokenizer, asker)).map((count) => count.tokens)
  const counts = await countOf(long.map(({ text }) => text))
  const decided: LongRowAnswer[] = []
  for (const [index, { row, text }] of long.entries()) {
    if ((counts[index] ?? 0) <= maxInputTokens) decided.push({ row, text })
    else if (badRows === 'stop') throw badRow(row, `has more than ${maxInputTokens} tokens`)
    else if (badRows === 'truncate')
      decided.push({
        row,
        text: await cutText(text, maxInputTokens, async (one) => (await countOf([one]))[0] ?? 0),
      })
  }
  return decided
}

/** The longest beginning of a text with at most this many tokens. */
async function cutText(
  text: string,
  maxTokens: number,
  countOf: (text: string) => Promise<number>,
): Promise<string> {
  let [fits, least] = [0, text.length]
  while (least - fits > 1) {
    const middle = Math.floor((fits + least) / 2)
    if ((await countOf(text.slice(0, middle))) <= maxTokens) fits = middle
    else least = middle
  }
  // A pair of surrogates is one character.
  const isCut = /[\uD800-\uDBFF]$/.test(text.slice(0, fits))
  return text.slice(0, isCut ? fits - 1 : fits)
}

function badRow(row: number, what: string): Fault {
  return new Fault(
    'invalid_parameter',
    `Row ${row + 1} ${what}. Fix the file, or choose to skip such rows.`,
    { param: 'bad_rows' },
  )
}

/** The file of requests that a batch is made of: a worker makes its lines of the chosen file, and it is sent as they are made. */
import { countTokens, sendFile } from '../../api/batch-file.ts'
import { words } from '../../words/words.ts'
import { withCorpusWorker, type CorpusClient } from '../../workers/corpus.ts'
import type { Decision, LongRow, Measured, WantedLines } from '../../workers/corpus/batch-lines.ts'
import { cutTexts } from '../../workers/corpus/cut-texts.ts'
import { whole } from '../../app/format.ts'
import type { Choices } from './choices.ts'

export interface WantedFile {
  readonly project: string
  readonly lines: WantedLines
  readonly badRows: Choices['badRows']
  /** Shares of the work that are done: first of measuring, then of sending. */
  readonly onProgress: (progress: Progress) => void
}

export interface Progress {
  readonly phase: 'reading' | 'sending'
  readonly bytes: number
  readonly allBytes: number
}

/** Resolves with the id of the file. */
export function makeFile(wanted: WantedFile, signal: AbortSignal): Promise<string> {
  const { project, lines, onProgress } = wanted
  return withCorpusWorker(signal, async (worker) => {
    const { bytes, lines: count } = await measure(worker, wanted, signal)
    if (count === 0) throw new Error(words.newBatch.estimate.why.noLines)
    onProgress({ phase: 'sending', bytes: 0, allBytes: bytes })
    return sendFile(
      {
        project,
        name: `${lines.file.name}.jsonl`,
        bytes,
        next: async () => (await worker.request('part', undefined)).bytes,
        onSent: (sent) => onProgress({ phase: 'sending', bytes: sent, allBytes: bytes }),
      },
      signal,
    )
  })
}

async function measure(worker: CorpusClient, wanted: WantedFile, signal: AbortSignal): Promise<Measured> {
  const { lines, badRows, onProgress } = wanted
  const { file } = lines
  await worker.request('lines', lines)
  let decisions: readonly Decision[] = []
  for (;;) {
    const step = await worker.request('measure', decisions)
    if ('measured' in step) {
      const { firstEmpty } = step.measured
      if (badRows === 'stop' && firstEmpty !== undefined)
        throw new Error(words.newBatch.estimate.problems.emptyRow(whole(firstEmpty + 1)))
      return step.measured
    }
    onProgress({ phase: 'reading', bytes: step.readBytes, allBytes: file.size })
    decisions = step.long.length === 0 ? [] : await decide(step.long, wanted, signal)
  }
}

/** What is kept of texts that may be too long for the model. */
async function decide(
  long: readonly LongRow[],
  { project, lines: { model, longBytes = Infinity }, badRows }: WantedFile,
  signal: AbortSignal,
): Promise<readonly Decision[]> {
  const texts = long.map(({ text }) => text)
  const count = (of: readonly string[]): Promise<readonly number[]> =>
    countTokens({ project, model, dimensions: null, texts: of }, signal)
  const counts = await count(texts)
  const isTooLong = (index: number): boolean => (counts[index] ?? 0) > longBytes
  const first = long.find((_, index) => isTooLong(index))
  if (badRows === 'stop' && first !== undefined)
    throw new Error(words.newBatch.estimate.problems.longRow(whole(first.row + 1), whole(longBytes)))
  const kept =
    badRows === 'truncate'
      ? await cutTexts(texts, counts, longBytes, count)
      : texts.map((text, index) => (isTooLong(index) ? 0 : text.length))
  return long.map(({ row }, index): Decision => [row, kept[index] ?? 0])
}

/** Makes a batch that embeds some lines of another batch again, from the same file and under the same key. */
import { rangeOfLines, type LineRange } from '#core/batch/chunk.ts'
import { isInRuns, type LineRuns } from '#core/batch/line-runs.ts'
import { linesIn } from '#core/batch/line.ts'
import { fileIdOf } from '#core/files/blob-names.ts'
import type { Batches } from '#ports/batches.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { Files } from '#ports/files.ts'
import type { Hashing } from '#ports/hashing.ts'
import type { RepairSource } from '#ports/suspects.ts'
import { AFTER_WINDOW_MS, MAX_OPEN, tooManyBatches } from './create.ts'
import type { ChunkDependencies } from './run-chunk.ts'

export interface RepairDependencies extends Pick<ChunkDependencies, 'readInput'> {
  readonly batches: Batches
  readonly files: Files
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly hashing: Hashing
}

/** Window of a repair: the one that OpenAI's batches have. */
const WINDOW_MS = 24 * 3_600_000

/** A second call with the same id changes nothing. False when the file is gone. `chunks`: those with the lines. */
export async function createRepair(
  { batch, lines }: RepairSource,
  repair: { readonly id: string; readonly windowId: string; readonly chunks: readonly LineRange[] },
  dependencies: RepairDependencies,
): Promise<boolean> {
  const { batches, files, clock, identifiers, hashing } = dependencies
  const { id, windowId } = repair
  const { project, inputFileId } = batch
  const hold = { holder: id, untilMs: clock.nowMs() + WINDOW_MS + AFTER_WINDOW_MS }
  if ((await files.hold(inputFileId, project, hold)) === undefined) return false
  const ranges = await rangesOf(lines, repair.chunks, (chunk) => dependencies.readInput(inputFileId, chunk))
  if (ranges.length === 0) {
    await files.release(inputFileId, id)
    return false
  }
  const created = await batches.create(
    {
      id,
      project,
      keyId: batch.keyId,
      player: batch.player,
      terms: batch.terms,
      endpoint: batch.endpoint,
      inputFileId,
      outputFileId: fileIdOf(identifiers.next()),
      errorFileId: fileIdOf(identifiers.next()),
      model: batch.model,
      digest: hashing.sha256OfText(`repair\n${windowId}\n${batch.id}`),
      idempotencyKey: undefined,
      isRetry: false,
      windowMs: WINDOW_MS,
      metadata: { suspect_window: windowId, repairs_batch: batch.id },
      tags: batch.tags,
      resultsKeptMs: batch.resultsKeptMs,
      chunks: ranges,
      errors: [],
    },
    MAX_OPEN,
  )
  if (created.kind !== 'too-many') return true
  await files.release(inputFileId, id)
  throw tooManyBatches(project)
}

/** Empty when the file is gone. */
async function rangesOf(
  lines: LineRuns,
  chunks: readonly LineRange[],
  read: (chunk: LineRange) => Promise<Uint8Array | undefined>,
): Promise<readonly LineRange[]> {
  const isSuspect = isInRuns(lines)
  const ranges: LineRange[] = []
  for (const chunk of chunks) {
    const bytes = await read(chunk)
    if (bytes === undefined) return []
    const range = rangeOfLines(chunk, linesIn(bytes), ({ number }) => isSuspect(chunk.firstLine + number))
    if (range !== undefined) ranges.push(range)
  }
  return ranges
}

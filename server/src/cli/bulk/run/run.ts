/** A corpus → a file of vectors, by as many batches as it takes. The same command goes on where another was killed. */
import { rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { readSpace } from '#core/embedding/space.ts'
import { nanoUsdOf } from '#core/price.ts'
import { CommandProblem } from '../../client/command-problem.ts'
import { hasEnded, type BatchBody, type BatchesClient } from '../../client/batches-client.ts'
import type { CorpusFile } from '../corpus/corpus-file.ts'
import type { CorpusRow } from '../corpus/corpus.ts'
import { RunOutput, type Summary } from './output.ts'
import type { RunProgress } from './progress.ts'
import { takeSlice, writeRest, type SliceSize } from './slice-requests.ts'
import { SliceResults } from './slice-results.ts'
import type { RunFolder, Slice } from './state.ts'

interface RunOutside {
  readonly client: BatchesClient
  readonly folder: RunFolder
  readonly corpus: CorpusFile
  /** From the first row on that no slice has. */
  readonly texts: AsyncIterator<CorpusRow>
  readonly size: SliceSize
  readonly windowHours: number
  /** What the gateway says of the vectors before there are any. */
  readonly space: string
  readonly show: (progress: RunProgress) => void
}

/** So many that the gateway always has a next one, and that each has only so much to keep on the disk. */
const SLICES_AT_ONCE = 4
/** Between two looks: short for what is done at once, longer for what takes hours. */
const FIRST_LOOK_MS = 100
const LONGEST_LOOK_MS = 2000

export class Run {
  readonly #outside: RunOutside
  /** What the gateway said last of each open slice, by its number. */
  readonly #said = new Map<number, BatchBody>()
  #output: RunOutput | undefined
  #lookMs = FIRST_LOOK_MS

  constructor(outside: RunOutside) {
    this.#outside = outside
  }

  async complete(out: string): Promise<Summary> {
    const { folder } = this.#outside
    for (;;) {
      if (this.#hasRoom()) await this.#begin()
      for (const slice of folder.state.open) if (isUnsent(slice)) await this.#send(slice, '.jsonl')
      const [first] = folder.state.open
      if (first === undefined) break
      await this.#look()
      const said = this.#said.get(first.number)
      if (first.requests === 0 || (said !== undefined && hasEnded(said))) await this.#end(first, said)
      else if (!this.#hasRoom()) await this.#pause()
    }
    const output = this.#output ?? (await this.#openOutput(undefined))
    return output.finish(out)
  }

  #hasRoom(): boolean {
    const { open, isRead } = this.#outside.folder.state
    return !isRead && open.length < SLICES_AT_ONCE
  }

  async #begin(): Promise<void> {
    const { folder, texts, size } = this.#outside
    const slice = await takeSlice(texts, folder, size)
    if (slice === undefined) {
      folder.keep({ isRead: true })
      return
    }
    const { open, nextRow, nextSlice } = folder.state
    folder.keep({ open: [...open, slice], nextRow: nextRow + slice.rows, nextSlice: nextSlice + 1 })
  }

  /** What is known is kept after each step: a file that was sent, then the batch of it. */
  async #send(slice: Slice, ending: string): Promise<void> {
    const { client, folder, windowHours } = this.#outside
    const before = slice.batches.filter(({ batchId }) => batchId !== undefined)
    const asked = slice.batches.find(({ batchId }) => batchId === undefined)
    const fileId = asked?.fileId ?? (await client.upload(folder.sliceFile(slice, ending)))
    if (asked === undefined) folder.keepSlice({ ...slice, batches: [...before, { fileId }] })
    // An earlier run may have asked for it, and not have heard the answer.
    const known = asked === undefined ? undefined : await client.madeOf(fileId)
    const batch =
      known ??
      (await client.create(
        {
          input_file_id: fileId,
          endpoint: '/v1/embeddings',
          completion_window: `${windowHours}h`,
          metadata: { torana_run: folder.state.id, torana_rows: rowsText(slice) },
        },
        `${folder.state.id}-${fileId}`,
      ))
    this.#said.set(slice.number, batch)
    const { isCancelled: _, ...sent } = slice
    folder.keepSlice({ ...sent, batches: [...before, { fileId, batchId: batch.id }] })
  }

  async #look(): Promise<void> {
    const { client, folder, show } = this.#outside
    for (const { number, batches } of folder.state.open) {
      const said = this.#said.get(number)
      const id = batches.at(-1)?.batchId
      if (id !== undefined && (said === undefined || said.id !== id || !hasEnded(said)))
        this.#said.set(number, await known(client, id))
    }
    show(this.#progress())
  }

  #progress(): RunProgress {
    const { folder, corpus } = this.#outside
    const { written, open, isRead, nextRow } = folder.state
    const bodies = open.flatMap(({ number }) => this.#said.get(number) ?? [])
    const sum = (of: (body: BatchBody) => number): number =>
      bodies.reduce((total, body) => total + of(body), 0)
    const fraction = corpus.fractionRead()
    return {
      done: written.rows + sum(({ request_counts: { completed, failed } }) => completed + failed),
      total: isRead ? nextRow : fraction > 0 ? Math.max(nextRow, nextRow / fraction) : undefined,
      isExact: isRead,
      costNanoUsd: bodies.reduce((total, body) => total + costOf(body), BigInt(written.costNanoUsd)),
      pause: bodies.find(({ torana }) => torana?.pause)?.torana?.pause?.code,
    }
  }

  async #pause(): Promise<void> {
    await delay(this.#lookMs)
    this.#lookMs = Math.min(this.#lookMs * 1.5, LONGEST_LOOK_MS)
  }

  /** Fetches what the batches of a slice brought. Rows that did not run are sent again; otherwise the slice is written. */
  async #end(slice: Slice, said: BatchBody | undefined): Promise<void> {
    const { client, folder } = this.#outside
    if (said?.status === 'failed') {
      folder.keepSlice({ ...slice, batches: slice.batches.slice(0, -1) })
      throw new CommandProblem(failureText(said))
    }
    const matrix = folder.sliceFile(slice, '.vectors')
    const errors = folder.sliceFile(slice, '.errors.jsonl')
    const results = new SliceResults(slice, folder.state.terms.type, { matrix, errors })
    try {
      const batches = await this.#batchesOf(slice, said)
      for (const { output_file_id, error_file_id } of batches)
        for (const file of [output_file_id, error_file_id])
          if (file !== null) await results.take(client.content(file))
      if (results.missing > 0) return await this.#sendRest(slice, results, said)
      const spaces = batches.flatMap(({ torana }) => torana?.space ?? [])
      this.#output ??= await this.#openOutput(results, spaces[0])
      this.#assertOneSpace(spaces)
      await this.#output.append(slice, results, {
        nanoUsd: batches.reduce((total, body) => total + costOf(body), 0n),
        tokens: batches.reduce((total, { usage }) => total + (usage?.total_tokens ?? 0), 0),
      })
    } finally {
      results.close()
    }
    this.#said.delete(slice.number)
    this.#lookMs = FIRST_LOOK_MS
    for (const ending of ['.jsonl', '.rest.jsonl', '.errors.jsonl', '.vectors'])
      rmSync(folder.sliceFile(slice, ending), { force: true })
    for (const { fileId } of slice.batches) await client.remove(fileId)
  }

  async #batchesOf({ batches }: Slice, last: BatchBody | undefined): Promise<readonly BatchBody[]> {
    const { client } = this.#outside
    const found: BatchBody[] = []
    for (const { batchId } of batches)
      if (batchId !== undefined) found.push(batchId === last?.id ? last : await known(client, batchId))
    return found
  }

  async #sendRest(slice: Slice, results: SliceResults, said: BatchBody | undefined): Promise<void> {
    const { folder } = this.#outside
    if (said?.status === 'cancelled' && slice.isCancelled === undefined) {
      folder.keepSlice({ ...slice, isCancelled: true })
      throw new CommandProblem(
        `Somebody cancelled batch ${said.id}. Run the same command again to send the ${results.missing} rows that are left of it.`,
      )
    }
    if (said?.status === 'completed')
      throw new CommandProblem(`The results of batch ${said.id} lack ${results.missing} rows.`)
    await writeRest(folder.sliceFile(slice, '.jsonl'), folder.sliceFile(slice, '.rest.jsonl'), (row) =>
      results.isMissing(row),
    )
    await this.#send(slice, '.rest.jsonl')
  }

  /** Vectors of two spaces can't be compared, so they never stand in one file. */
  #assertOneSpace(spaces: readonly string[]): void {
    const { state, path } = this.#outside.folder
    const other = spaces.find((space) => space !== state.space)
    if (other !== undefined)
      throw new CommandProblem(
        `${state.terms.model} has left the vector space ${state.space}, which the first vectors of this run are in, and is in ${other} now. Delete the folder ${path} and run the same command to make all of them in the new one.`,
      )
  }

  /** The first vector says how wide all are. */
  async #openOutput(results: SliceResults | undefined, madeIn?: string): Promise<RunOutput> {
    const { folder } = this.#outside
    const space = madeIn ?? this.#outside.space
    const { terms, dimensions: kept, space: keptSpace } = folder.state
    const dimensions = kept ?? results?.dimensions ?? terms.dimensions ?? readSpace(space)?.width
    if (dimensions === undefined)
      throw new CommandProblem('No row has got a vector, and the gateway does not say how wide they are.')
    results?.assumeDimensions(dimensions)
    if (kept === undefined) folder.keep({ dimensions, space })
    const { model, type } = terms
    return RunOutput.open(folder, { model, type, dimensions, space: keptSpace ?? space })
  }
}

/** A batch that the gateway has forgotten can't be paid for again without a person's word. */
async function known(client: BatchesClient, id: string): Promise<BatchBody> {
  try {
    return await client.get(id)
  } catch (error) {
    if (!(error instanceof CommandProblem) || error.status !== 404) throw error
    throw new CommandProblem(
      `The gateway does not know batch ${id} any more, which this run made. Its results can't be fetched. Delete the folder of the run to begin anew.`,
    )
  }
}

/** Its requests have not become a batch, as far as this run knows. */
function isUnsent({ requests, batches }: Slice): boolean {
  return requests > 0 && batches.at(-1)?.batchId === undefined
}

function rowsText({ firstRow, rows }: Slice): string {
  return `${firstRow}-${firstRow + rows - 1}`
}

function costOf({ torana }: BatchBody): bigint {
  return torana === undefined ? 0n : nanoUsdOf(torana.cost_usd)
}

function failureText({ id, errors }: BatchBody): string {
  const [first] = errors?.data ?? []
  const why = first === undefined ? '' : ` ${first.code}: ${first.message}`
  return `Batch ${id} could not be run.${why}`
}

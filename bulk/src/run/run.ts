/** Turns a corpus into a file of vectors, batch by batch. A run that was killed resumes with the same command. */
import { rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { CommandProblem } from '../command-problem.ts'
import { hasEnded, type BatchBody, type BatchesClient } from '../batches-client.ts'
import type { CorpusFile } from '../corpus/corpus-file.ts'
import type { CorpusRow } from '../corpus/corpus.ts'
import { nanoUsdOf } from '../money.ts'
import { RunOutput, type Summary } from './output.ts'
import type { RunProgress } from './progress.ts'
import { takeSlice, writeRest, type SliceSize } from './slice-requests.ts'
import { SliceResults } from './slice-results.ts'
import type { RunFolder, Slice } from './state.ts'

interface RunOptions {
  readonly client: BatchesClient
  readonly folder: RunFolder
  readonly corpus: CorpusFile
  /** Rows that belong to no slice yet. */
  readonly rows: AsyncIterator<CorpusRow>
  readonly size: SliceSize
  readonly windowHours: number
  /** Vector space that the gateway announced before the first vector. */
  readonly space: string
  readonly show: (progress: RunProgress) => void
}

/** Slices in progress: enough that the gateway always has a next batch, few enough to bound disk use. */
const SLICES_AT_ONCE = 4
/** Polling interval: short at first, longer for batches that take hours. */
const FIRST_POLL_MS = 100
const MAX_POLL_MS = 2000

export class Run {
  readonly #options: RunOptions
  /** Last answer of the gateway on each open slice, by slice number. */
  readonly #seen = new Map<number, BatchBody>()
  #output: RunOutput | undefined
  #pollMs = FIRST_POLL_MS

  constructor(options: RunOptions) {
    this.#options = options
  }

  async complete(out: string): Promise<Summary> {
    const { folder } = this.#options
    for (;;) {
      if (this.#hasRoom()) await this.#begin()
      for (const slice of folder.state.open) if (isUnsent(slice)) await this.#send(slice, '.jsonl')
      const [first] = folder.state.open
      if (first === undefined) break
      await this.#poll()
      const seen = this.#seen.get(first.number)
      if (first.requests === 0 || (seen !== undefined && hasEnded(seen))) await this.#end(first, seen)
      else if (!this.#hasRoom()) await this.#pause()
    }
    const output = this.#output ?? (await this.#openOutput(undefined))
    return output.finish(out)
  }

  #hasRoom(): boolean {
    const { open, isRead } = this.#options.folder.state
    return !isRead && open.length < SLICES_AT_ONCE
  }

  async #begin(): Promise<void> {
    const { folder, rows, size } = this.#options
    const slice = await takeSlice(rows, folder, size)
    if (slice === undefined) {
      folder.keep({ isRead: true })
      return
    }
    const { open, nextRow, nextSlice } = folder.state
    folder.keep({ open: [...open, slice], nextRow: nextRow + slice.rows, nextSlice: nextSlice + 1 })
  }

  /** Records each step: first the uploaded file, then its batch. */
  async #send(slice: Slice, ending: string): Promise<void> {
    const { client, folder, windowHours } = this.#options
    const before = slice.batches.filter(({ batchId }) => batchId !== undefined)
    const asked = slice.batches.find(({ batchId }) => batchId === undefined)
    const fileId = asked?.fileId ?? (await client.upload(folder.sliceFile(slice, ending)))
    if (asked === undefined) folder.keepSlice({ ...slice, batches: [...before, { fileId }] })
    // An earlier run may have created the batch without getting the answer.
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
    this.#seen.set(slice.number, batch)
    const { isCancelled: _, ...sent } = slice
    folder.keepSlice({ ...sent, batches: [...before, { fileId, batchId: batch.id }] })
  }

  async #poll(): Promise<void> {
    const { client, folder, show } = this.#options
    for (const { number, batches } of folder.state.open) {
      const seen = this.#seen.get(number)
      const id = batches.at(-1)?.batchId
      if (id !== undefined && (seen === undefined || seen.id !== id || !hasEnded(seen)))
        this.#seen.set(number, await known(client, id))
    }
    show(this.#progress())
  }

  #progress(): RunProgress {
    const { folder, corpus } = this.#options
    const { written, open, isRead, nextRow } = folder.state
    const bodies = open.flatMap(({ number }) => this.#seen.get(number) ?? [])
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
    await delay(this.#pollMs)
    this.#pollMs = Math.min(this.#pollMs * 1.5, MAX_POLL_MS)
  }

  /** Fetches the results of a slice. Rows that did not run are sent again; otherwise the slice is written. */
  async #end(slice: Slice, seen: BatchBody | undefined): Promise<void> {
    const { client, folder } = this.#options
    if (seen?.status === 'failed') {
      folder.keepSlice({ ...slice, batches: slice.batches.slice(0, -1) })
      throw new CommandProblem(failureText(seen))
    }
    const matrix = folder.sliceFile(slice, '.vectors')
    const errors = folder.sliceFile(slice, '.errors.jsonl')
    const results = new SliceResults(slice, folder.state.terms.type, { matrix, errors })
    try {
      const batches = await this.#batchesOf(slice, seen)
      for (const { output_file_id, error_file_id } of batches)
        for (const file of [output_file_id, error_file_id])
          if (file !== null) await results.take(client.content(file))
      if (results.missing > 0) return await this.#sendRest(slice, results, seen)
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
    this.#seen.delete(slice.number)
    this.#pollMs = FIRST_POLL_MS
    for (const ending of ['.jsonl', '.rest.jsonl', '.errors.jsonl', '.vectors'])
      rmSync(folder.sliceFile(slice, ending), { force: true })
    for (const { fileId } of slice.batches) await client.remove(fileId)
  }

  async #batchesOf({ batches }: Slice, last: BatchBody | undefined): Promise<readonly BatchBody[]> {
    const { client } = this.#options
    const found: BatchBody[] = []
    for (const { batchId } of batches)
      if (batchId !== undefined) found.push(batchId === last?.id ? last : await known(client, batchId))
    return found
  }

  async #sendRest(slice: Slice, results: SliceResults, seen: BatchBody | undefined): Promise<void> {
    const { folder } = this.#options
    if (seen?.status === 'cancelled' && slice.isCancelled === undefined) {
      folder.keepSlice({ ...slice, isCancelled: true })
      throw new CommandProblem(
        `Batch ${seen.id} was cancelled. Run the same command again to send the ${results.missing} rows that are left of it.`,
      )
    }
    if (seen?.status === 'completed')
      throw new CommandProblem(`The results of batch ${seen.id} lack ${results.missing} rows.`)
    await writeRest(folder.sliceFile(slice, '.jsonl'), folder.sliceFile(slice, '.rest.jsonl'), (row) =>
      results.isMissing(row),
    )
    await this.#send(slice, '.rest.jsonl')
  }

  /** Vectors of two spaces can't be compared, so one file holds only one space. */
  #assertOneSpace(spaces: readonly string[]): void {
    const { state, path } = this.#options.folder
    const other = spaces.find((space) => space !== state.space)
    if (other !== undefined)
      throw new CommandProblem(
        `${state.terms.model} has left the vector space ${state.space}, which the first vectors of this run are in, and is in ${other} now. Delete the folder ${path} and run the same command to make all of them in the new one.`,
      )
  }

  /** The first vector sets the width of all. */
  async #openOutput(results: SliceResults | undefined, madeIn?: string): Promise<RunOutput> {
    const { folder } = this.#options
    const space = madeIn ?? this.#options.space
    const { terms, dimensions: kept, space: keptSpace } = folder.state
    const dimensions = kept ?? results?.dimensions ?? terms.dimensions ?? widthIn(space)
    if (dimensions === undefined)
      throw new CommandProblem('No row has got a vector, and the gateway does not say how wide they are.')
    results?.assumeDimensions(dimensions)
    if (kept === undefined) folder.keep({ dimensions, space })
    const { model, type } = terms
    return RunOutput.open(folder, { model, type, dimensions, space: keptSpace ?? space })
  }
}

/** Fails for a batch that the gateway no longer has: only the user decides to pay for it again. */
async function known(client: BatchesClient, id: string): Promise<BatchBody> {
  try {
    return await client.get(id)
  } catch (error) {
    if (!(error instanceof CommandProblem) || error.status !== 404) throw error
    throw new CommandProblem(
      `The gateway does not know batch ${id} any more, which this run made. Its results can't be fetched. Delete the folder of the run to start again.`,
    )
  }
}

/** The width in the id of a space, `<model>@<width>:<8 hex>`, with its type behind it. */
function widthIn(space: string): number | undefined {
  const [, width] = /@(\d+):[0-9a-f]{8}(?:\/[a-z0-9:-]+)?$/.exec(space) ?? []
  return width === undefined ? undefined : Number(width)
}

/** This run knows of no batch for its requests. */
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

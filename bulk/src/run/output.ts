/** The vector file and the error file of a run, appended slice by slice. */
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs'
import { isRecord } from '../json-lines.ts'
import { decimalOf } from '../money.ts'
import { openFormat } from '../vectors/open-format.ts'
import type { VectorFacts, VectorFormat } from '../vectors/vector-format.ts'
import { errorLine } from './row-error.ts'
import type { SliceResults } from './slice-results.ts'
import { writeDurably, type RunFolder, type Slice } from './state.ts'

/** Contents of `<out>.json`, written beside the finished output: NPY and JSONL have no place for metadata. */
export interface Summary {
  readonly rows: number
  readonly vectors: number
  readonly errors: number
  readonly model: string
  readonly space: string
  readonly dimensions: number
  readonly type: string
  readonly tokens: number
  readonly cost_usd: string
  /** The `RunTerms` of the run. */
  readonly terms: unknown
}

const VECTORS = 'vectors'
const ERRORS = 'errors.jsonl'

interface SliceCost {
  readonly nanoUsd: bigint
  readonly tokens: number
}

export class RunOutput {
  readonly #folder: RunFolder
  readonly #facts: VectorFacts
  readonly #format: VectorFormat

  private constructor(folder: RunFolder, facts: VectorFacts, format: VectorFormat) {
    this.#folder = folder
    this.#facts = facts
    this.#format = format
  }

  static async open(folder: RunFolder, facts: VectorFacts): Promise<RunOutput> {
    const { terms, written } = folder.state
    return new RunOutput(folder, facts, await openFormat(terms.ending, facts, written.memory))
  }

  /** The slice is on disk and in the state when this resolves. After a kill the next run overwrites a partly written slice. */
  async append(slice: Slice, results: SliceResults, cost: SliceCost): Promise<void> {
    const { written, open } = this.#folder.state
    const head = written.bytes === 0 ? [this.#format.head(0)] : []
    const firstByte = written.bytes + sizeOf(head)
    const bytes = await this.#write(
      VECTORS,
      written.bytes,
      joined(head, this.#format.slice(results, firstByte)),
    )
    const lines = results.errors.map((error) => Buffer.from(errorLine(error)))
    const errorBytes = await this.#write(ERRORS, written.errorBytes, lines)
    const vectors = results.ids.length
    this.#folder.keep({
      open: open.filter(({ number }) => number !== slice.number),
      written: {
        slices: written.slices + 1,
        rows: written.rows + slice.rows,
        vectors: written.vectors + vectors,
        errors: written.errors + results.errors.length,
        bytes,
        errorBytes,
        costNanoUsd: String(BigInt(written.costNanoUsd) + cost.nanoUsd),
        tokens: written.tokens + cost.tokens,
        memory: this.#format.memory,
      },
    })
  }

  /** Moves all files into place, the output last: an output that exists is complete. */
  async finish(out: string): Promise<Summary> {
    const { written, terms } = this.#folder.state
    const rows = this.#format.keepsEveryRow ? written.rows : written.vectors
    const head = written.bytes === 0 ? [this.#format.head(rows)] : []
    await this.#write(VECTORS, written.bytes, [...head, this.#format.tail(rows)])
    const file = openSync(this.#folder.file(VECTORS), 'r+')
    writeSync(file, this.#format.head(rows), 0, undefined, 0)
    fsyncSync(file)
    closeSync(file)
    const { model, space, dimensions, type } = this.#facts
    const summary: Summary = {
      rows: written.rows,
      vectors: written.vectors,
      errors: written.errors,
      model,
      space,
      dimensions,
      type,
      tokens: written.tokens,
      cost_usd: decimalOf(BigInt(written.costNanoUsd)),
      terms,
    }
    // An earlier run that was killed at this point has already moved it.
    if (written.errors > 0 && existsSync(this.#folder.file(ERRORS)))
      renameSync(this.#folder.file(ERRORS), errorsFileOf(out))
    writeDurably(summaryFileOf(out), `${JSON.stringify(summary, undefined, 2)}\n`)
    renameSync(this.#folder.file(VECTORS), out)
    return summary
  }

  /** Writes from `firstByte` on and returns the new length. Cuts off what a killed run wrote after that byte. */
  async #write(
    name: string,
    firstByte: number,
    chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): Promise<number> {
    const file = openSync(this.#folder.file(name), firstByte === 0 ? 'w' : 'r+')
    try {
      ftruncateSync(file, firstByte)
      let at = firstByte
      for await (const chunk of chunks) {
        for (let done = 0; done < chunk.length;)
          done += writeSync(file, chunk, done, chunk.length - done, at + done)
        at += chunk.length
      }
      fsyncSync(file)
      return at
    } finally {
      closeSync(file)
    }
  }
}

function errorsFileOf(out: string): string {
  return `${out}.errors.jsonl`
}

export function summaryFileOf(out: string): string {
  return `${out}.json`
}

export function isSummary(value: unknown): value is Summary {
  return isRecord(value) && isRecord(value['terms']) && typeof value['vectors'] === 'number'
}

async function* joined(
  first: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* first
  yield* rest
}

function sizeOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0)
}

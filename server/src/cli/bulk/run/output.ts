/** The file of vectors and the file of errors as they grow, slice by slice. */
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs'
import { decimalOf } from '#core/price.ts'
import { isRecord } from '#core/record.ts'
import { openFormat } from '../vectors/open-format.ts'
import type { VectorFacts, VectorFormat } from '../vectors/vector-format.ts'
import { errorLine } from './row-error.ts'
import type { SliceResults } from './slice-results.ts'
import { writeDurably, type RunFolder, type Slice } from './state.ts'

/** What stands beside the output when it is whole: NPY and JSONL have no place for it inside. */
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
  /** The corpus, and all else that must be the same for the same output. */
  readonly terms: unknown
}

const VECTORS = 'vectors'
const ERRORS = 'errors.jsonl'

/** What a slice adds to the books of the run. */
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

  /** On the disk and in the state when it is done. Killed before that, the slice is written again over what there is of it. */
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

  /** Puts everything in its place. The output itself comes last: where it is, it is whole. */
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
    // A run that was killed right here has moved it already.
    if (written.errors > 0 && existsSync(this.#folder.file(ERRORS)))
      renameSync(this.#folder.file(ERRORS), errorsFileOf(out))
    writeDurably(summaryFileOf(out), `${JSON.stringify(summary, undefined, 2)}\n`)
    renameSync(this.#folder.file(VECTORS), out)
    return summary
  }

  /** Returns how long the file is then. What stood behind its beginning was never told of. */
  async #write(
    name: string,
    firstByte: number,
    pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): Promise<number> {
    const file = openSync(this.#folder.file(name), firstByte === 0 ? 'w' : 'r+')
    try {
      ftruncateSync(file, firstByte)
      let at = firstByte
      for await (const piece of pieces) {
        for (let done = 0; done < piece.length;)
          done += writeSync(file, piece, done, piece.length - done, at + done)
        at += piece.length
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

function sizeOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0)
}

import type { CorpusProfile } from '#core/corpus/profile.ts'
import { workerModule } from '#package/files.ts'
import {
  CorpusProblem,
  type CorpusReader,
  type CorpusReading,
  type LineReading,
  type ReadRows,
  type WantedLines,
} from '#ports/corpus.ts'
import { FileUnreadable } from '#ports/file-scan.ts'
import { Process } from '#thread/process.ts'
import type { CorpusWorks, Problem } from './corpus-worker.ts'

const LIMITS = {
  // A field of 16 million characters, once as text and once as part of its row, for several files at once.
  heapMb: 512,
  // Sixteen files, each with hashes of two million texts and a segment of 4 MB.
  memoryMb: 1280,
  // A segment of 4 MB takes part of a second, on a busy machine behind those of other files more.
  maxTaskMs: 120_000,
}

/** Time that the process stays without a file, and with one that gets no bytes: more than a segment takes at the slowest pace. */
const IDLE_MS = 60_000
const OPEN_IDLE_MS = 2 * 3_600_000

/**
 * Reads files in one process: their rows are untrusted, and must not hold up or end another request. A file that ends the
 * process fails, and so do those that it was reading beside it: their senders send them again.
 */
export class ProcessCorpusReader implements CorpusReader {
  readonly #process: Process<CorpusWorks>
  readonly #open = new Set<number>()
  #lastId = 0

  constructor() {
    const idleMs = (): number => (this.#open.size > 0 ? OPEN_IDLE_MS : IDLE_MS)
    this.#process = new Process(workerModule('runtime/corpus-worker'), { ...LIMITS, idleMs })
  }

  profile(file: { readonly name: string; readonly hasHeader: boolean }): CorpusReading {
    const id = this.#begin()
    let isFirst = true
    const push = async (piece: Uint8Array): Promise<void> => {
      const asked = this.#process.ask('profile', { id, piece, file, isFirst })
      isFirst = false
      await known(asked)
    }
    return {
      push,
      finish: async (): Promise<CorpusProfile> => {
        if (isFirst) await push(new Uint8Array())
        this.#open.delete(id)
        return known(this.#process.ask('finishProfile', id))
      },
      discard: () => this.#discard(id),
    }
  }

  lines(wanted: WantedLines): LineReading {
    const id = this.#begin()
    const begun = this.#process.ask('beginLines', { id, wanted })
    begun.catch(() => {})
    return {
      push: async (piece): Promise<ReadRows> => {
        await known(begun)
        return known(this.#process.ask('read', { id, piece }))
      },
      take: (decided) => known(this.#process.ask('take', { id, decided })),
      discard: () => this.#discard(id),
    }
  }

  close(): Promise<void> {
    return this.#process.close()
  }

  #begin(): number {
    this.#lastId += 1
    this.#open.add(this.#lastId)
    return this.#lastId
  }

  /** A process that has ended has nothing to forget. */
  async #discard(id: number): Promise<void> {
    this.#open.delete(id)
    if (!this.#process.isAsleep) await this.#process.ask('discard', id)
  }
}

/** Whatever fails beside a problem of the file is the end of the process that read it. */
async function known<Answer>(asked: Promise<Answer | Problem>): Promise<Answer> {
  const answer = await asked.catch((error: unknown) => {
    throw new FileUnreadable(error instanceof Error ? error.message : String(error), { cause: error })
  })
  if (typeof answer === 'object' && answer !== null && 'problem' in answer)
    throw new CorpusProblem(answer.problem)
  return answer
}

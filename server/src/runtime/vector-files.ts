import { workerModule } from '#package/files.ts'
import {
  VectorFileProblem,
  type VectorFile,
  type VectorFiles,
  type WantedVectorFile,
} from '#ports/vector-files.ts'
import { Thread, type ThreadLimits } from '#thread/thread.ts'
import type { Problem, VectorFileWorks } from './vector-file-worker.ts'

/** A few files, each with two slices of 16 MB and the lines of chunks that overlap. A chunk takes part of a second. */
const LIMITS: ThreadLimits = { memoryMb: 512, maxTaskMs: 60_000 }
/** Time that the thread stays without a file, and with one whose reader takes nothing. */
const IDLE_MS = 60_000
const OPEN_IDLE_MS = 3_600_000

/** Writes files in one thread: the results of a chunk are megabytes of JSON. */
export class WorkerVectorFiles implements VectorFiles {
  readonly #thread = new Thread<VectorFileWorks>(workerModule('runtime/vector-file-worker'), {
    ...LIMITS,
    idleMs: () => (this.#open.size > 0 ? OPEN_IDLE_MS : IDLE_MS),
  })
  readonly #open = new Set<number>()
  #lastId = 0

  open(wanted: WantedVectorFile): VectorFile {
    this.#lastId += 1
    const id = this.#lastId
    const thread = this.#thread
    this.#open.add(id)
    const begun = thread.ask('begin', { id, wanted })
    // Its error is that of the first question after it.
    begun.catch(() => {})
    return {
      take: async (lines, before) => {
        await begun
        known(await thread.ask('take', { id, lines, before }, { transfer: [lines.buffer] }))
      },
      next: async () => known(await thread.ask('next', id)),
      end: async () => {
        await begun
        known(await thread.ask('end', id))
      },
      discard: async () => {
        this.#open.delete(id)
        if (!thread.isAsleep) await thread.ask('discard', id)
      },
    }
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}

function known<Answer>(answer: Answer | Problem): Answer {
  if (typeof answer === 'object' && answer !== null && 'problem' in answer)
    throw new VectorFileProblem(answer.problem)
  return answer
}

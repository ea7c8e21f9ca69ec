/** Runs in a worker thread: turns results of batches into files of vectors. */
import { VectorFileProblem, type WantedVectorFile } from '#ports/vector-files.ts'
import { giveWay } from '#thread/give-way.ts'
import { serve, type ThreadCall } from '#thread/serve.ts'
import { VectorFileWriter } from './vector-file-writer.ts'

/** Why the results fit no file is an answer: an error would end the question without its kind. */
export interface Problem {
  readonly problem: string
}

const open = new Map<number, VectorFileWriter>()

async function answered<Answer>(
  id: number,
  work: (writer: VectorFileWriter) => Answer | Promise<Answer>,
): Promise<Answer | Problem> {
  const writer = open.get(id)
  if (writer === undefined) throw new Error(`this thread writes no file ${id}`)
  try {
    return await work(writer)
  } catch (error) {
    if (error instanceof VectorFileProblem) return { problem: error.message }
    throw error
  }
}

const works = {
  begin({ id, wanted }: { id: number; wanted: WantedVectorFile }): void {
    open.set(id, new VectorFileWriter(wanted))
  },
  take: ({ id, lines, before }: { id: number; lines: Uint8Array; before: number }) =>
    answered(id, (writer) => writer.take(lines, before)),
  end: (id: number) => answered(id, (writer) => writer.end()),
  next: (id: number, { handOver }: ThreadCall) =>
    answered(id, async (writer) => {
      const bytes = await writer.next()
      const own = bytes && new Uint8Array(bytes)
      if (own) handOver([own.buffer])
      return own
    }),
  discard: (id: number): void => void open.delete(id),
}

export type VectorFileWorks = typeof works
giveWay()
serve(works)

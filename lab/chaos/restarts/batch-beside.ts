/** A batch that runs while nodes are replaced: from before the first one until after the last. */
import { setTimeout as wait } from 'node:timers/promises'
import { BatchCaller, embeddingLines } from '../../../server/test/support/batches.ts'

export const BATCHED = 'batched-w8'
/** Duration of each call of the batch: a stopping node has some in progress. */
export const BATCH_CALL_MS = 10_000
/** Some six minutes on three nodes. */
const LINES = 400_000
const LOOK_MS = 1000
/** Time for the rest once all nodes have been replaced. */
const END_MS = 600_000

export interface BatchBeside {
  /** Waits for its end, prints what was seen, and resolves with what is wrong. */
  ended(): Promise<readonly string[]>
}

export async function startBatchBeside(url: string): Promise<BatchBeside> {
  const caller = new BatchCaller(url)
  const texts = Array.from({ length: LINES }, (_, index) => `text ${index}`)
  const { id } = await caller.create(await caller.upload(embeddingLines(BATCHED, texts)))
  const looks = startLooks(async () => (await caller.get(id)).request_counts.completed)
  return {
    async ended() {
      const doneMeanwhile = (await caller.get(id)).request_counts.completed
      const batch = await caller.ended(id, END_MS)
      const longestMs = looks.stop()
      const lines = await caller.lines(batch.output_file_id)
      const seen = new Set(lines.map(({ custom_id }) => custom_id))
      console.log(
        `a batch of ${LINES} lines: ${doneMeanwhile} done when the last node was replaced, ${batch.request_counts.completed} in the end, ${batch.request_counts.failed} failed; never still for longer than ${(longestMs / 1000).toFixed(1)} s`,
      )
      const wrongs: string[] = []
      if (seen.size !== LINES) wrongs.push(`the batch lost ${LINES - seen.size} lines`)
      if (lines.length !== seen.size) wrongs.push(`the batch has ${lines.length - seen.size} lines twice`)
      return wrongs
    },
  }
}

/** Reads a count periodically until it is complete. `stop` returns the longest time in which it did not grow. */
function startLooks(countNow: () => Promise<number>): { readonly stop: () => number } {
  const ended = new AbortController()
  let longestMs = 0
  const looking = async (): Promise<void> => {
    let [last, grewMs] = [0, performance.now()]
    while (!ended.signal.aborted && last < LINES) {
      // A node may be unreachable at this moment: the next look counts.
      const count = await countNow().catch(() => last)
      if (count > last) [last, grewMs] = [count, performance.now()]
      else longestMs = Math.max(longestMs, performance.now() - grewMs)
      await wait(LOOK_MS)
    }
  }
  void looking()
  return {
    stop() {
      ended.abort()
      return longestMs
    },
  }
}

import { CodecBusy } from '#ports/image-codec.ts'
import type { Clock } from '#ports/clock.ts'

/** A while after which the codec may have less to do. */
const CODEC_WAIT_MS = 500

export interface CodecWaiting {
  readonly clock: Clock
  readonly wait: (ms: number) => Promise<unknown>
}

/** Work that the codec is asked for again while it has too much to do, until the deadline; then `CodecBusy` is thrown on. */
export async function whenCodecIsFree<Result>(
  work: () => Promise<Result>,
  deadlineMs: number,
  { clock, wait }: CodecWaiting,
): Promise<Result> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof CodecBusy) || clock.monotonicMs() >= deadlineMs) throw error
      await wait(CODEC_WAIT_MS)
    }
  }
}

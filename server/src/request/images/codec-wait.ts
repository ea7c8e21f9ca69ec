import { CodecBusy } from '#ports/image-codec.ts'
import type { Asker } from '#ports/asker.ts'
import type { Clock } from '#ports/clock.ts'

/** Pause before the codec is asked again. */
const CODEC_WAIT_MS = 500

export interface CodecClock {
  readonly clock: Clock
  readonly wait: (ms: number) => Promise<unknown>
}

/** Retries while the codec is overloaded. At the deadline `CodecBusy` goes to the caller. */
export async function whenCodecIsFree<Result>(
  work: (asker: Asker) => Promise<Result>,
  { project, deadlineMs }: { readonly project: string; readonly deadlineMs: number },
  { clock, wait }: CodecClock,
): Promise<Result> {
  for (;;) {
    try {
      return await work({ project, timeoutMs: deadlineMs - clock.monotonicMs() })
    } catch (error) {
      if (!(error instanceof CodecBusy) || clock.monotonicMs() >= deadlineMs) throw error
      await wait(CODEC_WAIT_MS)
    }
  }
}

import { after, wait } from '#runtime/clock.ts'
import { endingOf, type EndingParts, type StopOptions } from '#worker/ending.ts'
import type { Basics } from './basics.ts'

/** The function that stops a node. */
export function stopOf(
  { clock, limits, log }: Basics,
  parts: Omit<EndingParts, 'clock' | 'wait' | 'after' | 'limits' | 'onLate'>,
): (options?: StopOptions) => Promise<void> {
  return endingOf({
    ...parts,
    clock,
    wait,
    after,
    limits,
    onLate() {
      log.warn(
        'not everything could be closed in time; what is left is on disk, and the next start takes it up',
      )
      log.close()
    },
  })
}

import { after, wait } from '#runtime/clock.ts'
import { endingOf, type EndingParts, type StopOptions } from '#worker/ending.ts'
import type { Basics } from './basics.ts'
import type { Stores } from './stores.ts'

export interface NodeEndingParts extends Pick<
  EndingParts,
  'file' | 'readiness' | 'listeners' | 'images' | 'bulk' | 'parts'
> {
  readonly stores: Pick<Stores, 'openCalls'>
}

/** The function that stops a node. */
export function stopOf(
  { clock, limits, log }: Basics,
  { stores, ...parts }: NodeEndingParts,
): (options?: StopOptions) => Promise<void> {
  return endingOf({
    ...parts,
    clock,
    wait,
    after,
    limits,
    openCalls: stores.openCalls,
    onLate() {
      log.warn(
        'not everything could be closed in time; what is left is on disk, and the next start takes it up',
      )
      log.close()
    },
  })
}

/**
 * When the results of a chunk are final: one table. A vector is of its space for certain once its deployment was found good after
 * it was made. Before the batch ends, what is not is made again.
 */

/**
 * What is known of vectors. `final`: a good probe has followed, or there is nothing to compare them with. `left`: they may be of
 * another space. `unconfirmed`: no good probe has followed yet. `gone`: nor can this node make one, because its configuration has no
 * such deployment any more; another node's may.
 */
export type MadeState = 'final' | 'left' | 'unconfirmed' | 'gone'

/** `again`: they are dropped, and their lines run again unless the batch was cancelled. `wait`: the batch does not end yet. */
type FinalAction = 'keep' | 'again' | 'wait'

/** The vectors of a batch whose chunks are all done. */
export interface FinalSituation {
  readonly state: MadeState
  /** Nothing runs again. */
  readonly isCancelling: boolean
  /** Since the last chunk was done. */
  readonly waitedMs: number
}

/** Time for the probe of a cancelled batch, for which a person waits: a few attempts. */
const CANCEL_MS = 30_000
/** Time in which another node would have probed a deployment that is in use there. */
const GONE_MS = 60_000
/**
 * Time in which a probe is possible if it is at all: an upstream that is restarted answers again, and one that is down for longer
 * also keeps the lines that follow from being done.
 */
const CONFIRM_MS = 15 * 60_000

interface FinalRow {
  readonly name: string
  readonly when: (situation: FinalSituation) => boolean
  readonly action: FinalAction
}

/** The first row that fits decides. */
export const FINAL: readonly FinalRow[] = [
  { name: 'they have left their space', when: ({ state }) => state === 'left', action: 'again' },
  { name: 'a good probe has followed', when: ({ state }) => state === 'final', action: 'keep' },
  {
    name: 'no probe was possible while a cancelled batch waited',
    when: ({ isCancelling, waitedMs }) => isCancelling && waitedMs >= CANCEL_MS,
    action: 'again',
  },
  {
    name: 'their deployment was removed',
    when: ({ state, waitedMs }) => state === 'gone' && waitedMs >= GONE_MS,
    action: 'again',
  },
  {
    name: 'no probe was possible for long',
    when: ({ waitedMs }) => waitedMs >= CONFIRM_MS,
    action: 'again',
  },
  { name: 'a probe is asked for', when: () => true, action: 'wait' },
]

export function finalAction(situation: FinalSituation): FinalAction {
  return (FINAL.find(({ when }) => when(situation)) as FinalRow).action
}

/** Whether work that outlives its request goes on: one table for batches, image jobs and runs of the playground. */
import type { FaultCode } from '../fault/fault.ts'

/**
 * The current state of the key under which work began. `revoked` also means that torana.yaml no longer lists it. `leaked`:
 * an operator revoked it because a stranger has it. `unreachable`: this node cannot know, because the store has not
 * answered for too long.
 */
export type KeyStanding = 'valid' | 'expired' | 'revoked' | 'leaked' | 'unreachable'

export interface WorkState {
  readonly key: KeyStanding
  readonly isProjectDeleted: boolean
  /** An operator decided that the work goes on without its key. */
  readonly isContinued: boolean
}

/**
 * `pause`: nothing new is bought; the work waits for a person, or for the store. `cancel`: nothing new is bought, for good.
 * An image job cannot wait: it ends for either of them. Calls that were sent before are finished and posted in every case.
 */
export type Continuation =
  | { readonly does: 'continue'; readonly under: 'key' | 'project' }
  | { readonly does: 'pause' | 'cancel'; readonly because: FaultCode }

interface Rule {
  readonly when: Partial<WorkState>
  readonly follows: Continuation
}

/** The first matching rule decides. Everything else (budgets, limits, models) is checked under the terms it leads to. */
const CONTINUATION_RULES: readonly Rule[] = [
  { when: { isProjectDeleted: true }, follows: { does: 'cancel', because: 'project_deleted' } },
  { when: { key: 'leaked' }, follows: { does: 'cancel', because: 'key_revoked' } },
  { when: { key: 'unreachable' }, follows: { does: 'pause', because: 'key_store_unreachable' } },
  { when: { isContinued: true }, follows: { does: 'continue', under: 'project' } },
  { when: { key: 'valid' }, follows: { does: 'continue', under: 'key' } },
  { when: { key: 'expired' }, follows: { does: 'pause', because: 'key_expired' } },
  { when: { key: 'revoked' }, follows: { does: 'pause', because: 'key_revoked' } },
]

export function continuationOf(state: WorkState): Continuation {
  const { key, isProjectDeleted, isContinued } = state
  const rule = CONTINUATION_RULES.find(
    ({ when }) =>
      (when.key ?? key) === key &&
      (when.isProjectDeleted ?? isProjectDeleted) === isProjectDeleted &&
      (when.isContinued ?? isContinued) === isContinued,
  )
  // The rules name every standing of a key, so the last ones always match.
  return (rule as Rule).follows
}

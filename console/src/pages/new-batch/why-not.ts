/** Why the batch can't be run now: the first thing that is missing. Pure, tested. */
import type { BatchDraft, BatchEstimate } from '../../api/queries/batch-drafts.ts'
import { money } from '../../app/format.ts'
import { words } from '../../words/words.ts'
import type { Choices } from './choices.ts'

export interface Readiness {
  readonly draft: BatchDraft | undefined
  readonly isSending: boolean
  readonly choices: Pick<Choices, 'model' | 'textColumn'>
  /** Undefined also while it is of earlier choices. */
  readonly estimate: Pick<BatchEstimate, 'problems' | 'exceeds' | 'budgets' | 'can_run' | 'lines'> | undefined
  readonly isAllowed: boolean
}

export function whyNot({ draft, isSending, choices, estimate, isAllowed }: Readiness): string | undefined {
  const { why, exceeds } = words.newBatch.estimate
  if (!isAllowed) return why.forbidden
  if (isSending) return why.uploading
  if (draft === undefined) return why.noFile
  if (choices.textColumn === undefined) return why.noText
  if (choices.model === undefined) return why.noModel
  if (estimate === undefined) return why.noEstimate
  if (estimate.lines === 0) return why.noLines
  if (estimate.exceeds !== null) {
    const { budget, by_usd: by } = estimate.exceeds
    return exceeds(estimate.budgets.find(({ id }) => id === budget)?.name ?? budget, money(by))
  }
  if (estimate.can_run) return undefined
  return estimate.problems[0]?.text ?? why.noEstimate
}

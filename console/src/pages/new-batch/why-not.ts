/** Why the batch can't be run now: the first thing that is missing. Pure, tested. */
import { words } from '../../words/words.ts'
import type { Choices } from './choices.ts'
import type { Estimate } from './estimate.ts'

export interface Readiness {
  readonly hasFile: boolean
  readonly isReading: boolean
  readonly choices: Pick<Choices, 'model' | 'textColumn'>
  /** Undefined also while it is of earlier choices. */
  readonly estimate: Pick<Estimate, 'problems'> | undefined
  readonly isAllowed: boolean
}

export function whyNot({ hasFile, isReading, choices, estimate, isAllowed }: Readiness): string | undefined {
  const { why } = words.newBatch.estimate
  if (!isAllowed) return why.forbidden
  if (isReading) return why.reading
  if (!hasFile) return why.noFile
  if (choices.textColumn === undefined) return why.noText
  if (choices.model === undefined) return why.noModel
  return estimate === undefined ? why.noEstimate : estimate.problems[0]
}

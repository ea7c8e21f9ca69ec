/** Terms in force that a test sets. */
import type { Budget } from '#core/money/budget.ts'
import type { Key, KeyNow, TermsInForce, WorkOwner } from '#ports/keys.ts'
import { aKey } from './sharing.ts'

/** Every key is good and unbound, until a test says otherwise. */
export class SetTerms implements TermsInForce {
  now: Exclude<KeyNow, { standing: 'valid' }> | undefined
  key: Partial<Key> = {}
  projectBudget: Budget | undefined
  /** How often a key was asked for. */
  asked = 0

  of({ keyId, project }: WorkOwner): KeyNow {
    this.asked += 1
    return this.now ?? { standing: 'valid', key: aKey(project, { id: keyId, ...this.key }) }
  }

  ofProject({ keyId, project }: WorkOwner): Key {
    const budgets = this.projectBudget === undefined ? [] : [this.projectBudget]
    return aKey(project, { id: keyId, budgets })
  }
}

/** Budgets and the rate limit of the simulated project, which an operator changes while requests run under them. */
import type { Budget, BudgetPeriod } from '#core/budget.ts'
import type { RateLimit } from '#core/limit.ts'
import type { Key } from '#ports/keys.ts'

const PROJECT_LIMIT = 3000n
const KEY_LIMIT = 5000n
/** Far more than any sequence takes. */
const TOKENS_PER_MINUTE = 100_000_000

export type Owner = 'project' | 'key'
export interface NewTerms {
  readonly limitNanoUsd: bigint
  readonly per: BudgetPeriod
  readonly hard: boolean
}

export class Terms {
  limit: RateLimit
  readonly #project: string
  #now: Readonly<Record<Owner, Budget>>
  /** Before the last change: what a request brings that came before it. */
  #before: Readonly<Record<Owner, Budget>>

  constructor(project: string) {
    this.#project = project
    const perMinute = TOKENS_PER_MINUTE
    this.limit = { id: `project:${project}:tokens`, project, unit: 'tokens', perMinute }
    this.#now = {
      project: { id: `project:${project}`, limitNanoUsd: PROJECT_LIMIT, per: 'day', hard: true },
      key: { id: `key:${project}/a`, limitNanoUsd: KEY_LIMIT, per: 'total', hard: true },
    }
    this.#before = this.#now
  }

  /** The first key has a budget of its own, the second one only that of the project. */
  keyOf(index: number, isStale: boolean): Key {
    const { project, key } = isStale ? this.#before : this.#now
    const name = index === 0 ? 'a' : 'b'
    return {
      id: `${this.#project}/${name}`,
      name,
      project: this.#project,
      models: undefined,
      expiresAtMs: undefined,
      limits: [this.limit],
      budgets: index === 0 ? [project, key] : [project],
    }
  }

  /** Returns the budget as it was. */
  change(owner: Owner, terms: NewTerms): Budget {
    this.#before = this.#now
    this.#now = { ...this.#now, [owner]: { ...this.#now[owner], ...terms } }
    return this.#before[owner]
  }

  changeRate(perMinute: number): void {
    this.limit = { ...this.limit, perMinute }
  }

  inForce(budgetId: string): Budget | undefined {
    return [this.#now.project, this.#now.key].find(({ id }) => id === budgetId)
  }
}

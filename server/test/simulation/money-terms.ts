/** Keys, budgets and the rate limit of the simulated project, which an operator changes while work is in progress. */
import type { Budget, BudgetPeriod } from '#core/money/budget.ts'
import type { RateLimit } from '#core/limits/limit.ts'
import type { KeyStanding } from '#core/access/continuation.ts'
import type { Key, KeyNow, TermsInForce, WorkOwner } from '#ports/keys.ts'

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

/** `a` has its own budget, `b` only that of the project. `player` is the key of a member at the playground. */
export const KEY_NAMES = ['a', 'b', 'player'] as const
export type KeyName = (typeof KEY_NAMES)[number]

type Budgets = Readonly<Record<Owner, Budget | undefined>>

/** What a node knows of all this. A change takes effect with its command: every node knows it then. */
export class Terms implements TermsInForce {
  limit: RateLimit
  isProjectDeleted = false
  readonly standings: Record<KeyName, Exclude<KeyStanding, 'unreachable'>> = {
    a: 'valid',
    b: 'valid',
    player: 'valid',
  }
  readonly #project: string
  #now: Budgets
  /** Before the last change: the terms of a request that came before it. */
  #before: Budgets

  constructor(project: string) {
    this.#project = project
    const perMinute = TOKENS_PER_MINUTE
    this.limit = { id: `project:${project}:tokens`, project, unit: 'tokens', perMinute }
    this.#now = {
      project: { id: this.budgetId('project'), limitNanoUsd: PROJECT_LIMIT, per: 'day', hard: true },
      key: { id: this.budgetId('key'), limitNanoUsd: KEY_LIMIT, per: 'total', hard: true },
    }
    this.#before = this.#now
  }

  keyOf(name: KeyName, isStale = false): Key {
    const { project, key } = isStale ? this.#before : this.#now
    return {
      id: `${this.#project}/${name}`,
      name,
      project: this.#project,
      models: undefined,
      expiresAtMs: undefined,
      limits: [this.limit],
      budgets: [project, name === 'a' ? key : undefined].filter((budget) => budget !== undefined),
    }
  }

  ownerOf(name: KeyName): WorkOwner {
    return { keyId: `${this.#project}/${name}`, project: this.#project, player: undefined }
  }

  of({ keyId }: WorkOwner): KeyNow {
    const name = keyId.slice(this.#project.length + 1) as KeyName
    const standing = this.standings[name]
    const { isProjectDeleted } = this
    if (standing === 'valid' && !isProjectDeleted) return { standing, key: this.keyOf(name) }
    return { standing: standing === 'valid' ? 'revoked' : standing, isProjectDeleted }
  }

  ofProject({ keyId, project }: WorkOwner): Key {
    const own = this.#now.project
    const plain = this.keyOf('b')
    return { ...plain, id: keyId, project, limits: [], budgets: own === undefined ? [] : [own] }
  }

  budgetId(owner: Owner): string {
    return owner === 'project' ? `project:${this.#project}` : `key:${this.#project}/a`
  }

  /** Undefined removes the budget. Returns the previous budget. */
  change(owner: Owner, terms: NewTerms | undefined): Budget | undefined {
    this.#before = this.#now
    this.#now = { ...this.#now, [owner]: terms && { id: this.budgetId(owner), ...terms } }
    return this.#before[owner]
  }

  changeRate(perMinute: number): void {
    this.limit = { ...this.limit, perMinute }
  }

  inForce(budgetId: string): Budget | undefined {
    return [this.#now.project, this.#now.key].find((budget) => budget?.id === budgetId)
  }
}

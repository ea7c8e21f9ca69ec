import { isSameBudget, type Budget } from '#core/budget.ts'
import type { Project } from '#core/catalog.ts'
import { boundsOf } from '#core/key-bounds.ts'
import { projectBudget, termsOf } from '#core/terms.ts'
import type { Key, KeyDirectory } from '#ports/keys.ts'

/** Secrets seen lately and whose they were; an attacker's guesses are never kept. */
const RECENT_KEYS = 10_000

/** The keys of torana.yaml and of the environment, held as keyed digests. */
export class MemoryKeys implements KeyDirectory {
  readonly #hash: (apiKey: string) => string
  #byDigest: ReadonlyMap<string, Key> = new Map()
  #recent = new Map<string, Key>()
  /** Of all configured projects and keys, by their ids. */
  #budgets: ReadonlyMap<string, Budget> = new Map()

  constructor(hash: (apiKey: string) => string) {
    this.#hash = hash
  }

  /** Replaces all keys at once: a key that is no longer configured stops working with the next request. */
  replace(projects: readonly Project[]): void {
    const byDigest = new Map<string, Key>()
    const budgets = new Map<string, Budget>()
    const keep = (budget: Budget): void => {
      const before = this.#budgets.get(budget.id)
      budgets.set(budget.id, before && isSameBudget(before, budget) ? before : budget)
    }
    for (const project of projects) {
      const common = projectBudget(project.name, project)
      if (common) keep(common)
      for (const key of project.keys) {
        const { name, secret, models, expiresAtMs } = key
        const id = `${project.name}/${name}`
        const terms = termsOf(project.name, project, id, key)
        terms.budgets.forEach(keep)
        byDigest.set(this.#hash(secret), {
          id,
          name,
          project: project.name,
          models: models && new Set(models),
          expiresAtMs,
          ...terms,
          bounds: boundsOf(key),
        })
      }
    }
    this.#byDigest = byDigest
    this.#recent = new Map()
    this.#budgets = budgets
  }

  /** The budget of a configured project or key as the file has it now. */
  budgetInForce(budgetId: string): Budget | undefined {
    return this.#budgets.get(budgetId)
  }

  get size(): number {
    return this.#byDigest.size
  }

  find(secret: string): Key | undefined {
    const recent = this.#recent.get(secret)
    if (recent !== undefined) return recent
    const key = this.#byDigest.get(this.#hash(secret))
    if (key === undefined) return undefined
    if (this.#recent.size >= RECENT_KEYS) this.#recent.clear()
    this.#recent.set(secret, key)
    return key
  }
}

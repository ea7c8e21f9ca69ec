import { isSameBudget, type Budget } from '#core/money/budget.ts'
import type { ConfiguredKey, Project } from '#core/catalog/catalog.ts'
import { boundsOf } from '#core/catalog/key-bounds.ts'
import { projectBudget, termsOf } from '#core/keys/terms.ts'
import type { Key, KeyDirectory } from '#ports/keys.ts'

/** Their digests take about two milliseconds. */
const KEYS_AT_ONCE = 200

/** The keys of torana.yaml and of the environment, held as keyed digests. */
export class MemoryKeys implements KeyDirectory {
  readonly #hash: (apiKey: string) => string
  #byDigest: ReadonlyMap<string, Key> = new Map()
  #byId: ReadonlyMap<string, Key> = new Map()
  #projects: ReadonlySet<string> = new Set()
  /** Of all configured projects and keys, by their ids. */
  #budgets: ReadonlyMap<string, Budget> = new Map()

  constructor(hash: (apiKey: string) => string) {
    this.#hash = hash
  }

  /**
   * All keys at once: a key that is no longer configured stops working with the next request. What it returns makes the change, in
   * no time; until then the keys of before count. `pause` lets others have the event loop.
   */
  async prepare(projects: readonly Project[], pause: () => Promise<void>): Promise<() => void> {
    const byDigest = new Map<string, Key>()
    const byId = new Map<string, Key>()
    const budgets = new Map<string, Budget>()
    const keep = (budget: Budget): void => {
      const before = this.#budgets.get(budget.id)
      budgets.set(budget.id, before && isSameBudget(before, budget) ? before : budget)
    }
    let done = 0
    for (const project of projects) {
      const common = projectBudget(project.name, project)
      if (common) keep(common)
      for (const key of project.keys) {
        done += 1
        if (done % KEYS_AT_ONCE === 0) await pause()
        const made = this.#keyOf(project, key)
        made.budgets.forEach(keep)
        byDigest.set(this.#hash(key.secret), made)
        byId.set(made.id, made)
      }
    }
    return () => {
      this.#byDigest = byDigest
      this.#byId = byId
      this.#projects = new Set(projects.map(({ name }) => name))
      this.#budgets = budgets
    }
  }

  #keyOf(project: Project, key: ConfiguredKey): Key {
    const { name, models, expiresAtMs } = key
    const id = `${project.name}/${name}`
    return {
      id,
      name,
      project: project.name,
      models: models && new Set(models),
      expiresAtMs,
      ...termsOf(project.name, project, id, key),
      bounds: boundsOf(key),
    }
  }

  /** The budget of a configured project or key as the file has it now. */
  budgetInForce(budgetId: string): Budget | undefined {
    return this.#budgets.get(budgetId)
  }

  /** The key of this id as the file has it now. */
  ofId(keyId: string): Key | undefined {
    return this.#byId.get(keyId)
  }

  hasProject(project: string): boolean {
    return this.#projects.has(project)
  }

  get size(): number {
    return this.#byDigest.size
  }

  find(secret: string): Key | undefined {
    return this.#byDigest.size === 0 ? undefined : this.#byDigest.get(this.#hash(secret))
  }
}

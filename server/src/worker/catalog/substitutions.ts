/** Answers by another model than asked for: counted, logged once an hour for each pair of names, and kept. */
import { OTHER_MODEL, type Substitution } from '#core/catalog/substitution.ts'
import type { Clock } from '#ports/clock.ts'
import type { CountedSubstitution, ModelEndStore } from '#ports/model-ends.ts'

export interface SubstitutionsParts {
  readonly clock: Clock
  /** Counts each of them. */
  readonly count: (substitution: Substitution) => void
  readonly log: (substitution: Substitution) => void
}

/** Names of one deployment that are counted apart: an upstream could answer with another one each time. */
const MAX_NAMES = 10
const LOG_EVERY_MS = 3_600_000

export class Substitutions {
  readonly #parts: SubstitutionsParts
  /** Names that answered, by deployment. */
  readonly #names = new Map<string, Set<string>>()
  /** When a pair was last logged, on the monotonic clock. */
  readonly #loggedMs = new Map<string, number>()
  /** Not kept yet, by pair. */
  #pending = new Map<string, CountedSubstitution>()

  constructor(parts: SubstitutionsParts) {
    this.#parts = parts
  }

  note(found: Substitution): void {
    const { clock, count, log } = this.#parts
    const substitution = this.#bounded(found)
    count(substitution)
    const pair = JSON.stringify([substitution.deployment, substitution.asked, substitution.answered])
    const nowMs = clock.monotonicMs()
    if (nowMs - (this.#loggedMs.get(pair) ?? -Infinity) >= LOG_EVERY_MS) {
      this.#loggedMs.set(pair, nowMs)
      log(substitution)
    }
    const at = new Date(clock.nowMs()).toISOString()
    const known = this.#pending.get(pair)
    this.#pending.set(pair, {
      ...substitution,
      answers: (known?.answers ?? 0) + 1,
      firstAt: known?.firstAt ?? at,
      lastAt: at,
    })
  }

  /** Keeps what was counted since the last time. While the store is unreachable, it is counted on. */
  async flush(store: Pick<ModelEndStore, 'addSubstitutions'>): Promise<void> {
    if (this.#pending.size === 0) return
    const pending = this.#pending
    this.#pending = new Map()
    try {
      await store.addSubstitutions([...pending.values()])
    } catch (error) {
      for (const [pair, one] of pending) {
        const since = this.#pending.get(pair)
        this.#pending.set(pair, {
          ...one,
          answers: one.answers + (since?.answers ?? 0),
          lastAt: since?.lastAt ?? one.lastAt,
        })
      }
      throw error
    }
  }

  #bounded(found: Substitution): Substitution {
    const names = this.#names.get(found.deployment) ?? new Set()
    this.#names.set(found.deployment, names)
    if (names.size < MAX_NAMES) names.add(found.answered)
    return names.has(found.answered) ? found : { ...found, answered: OTHER_MODEL }
  }
}

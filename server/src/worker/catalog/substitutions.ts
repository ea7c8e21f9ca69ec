/** Answers by another model than asked for: counted, and logged once an hour for each pair of names. */
import { OTHER_MODEL, type Substitution } from '#core/catalog/substitution.ts'
import type { Clock } from '#ports/clock.ts'

export interface SubstitutionsParts {
  readonly clock: Pick<Clock, 'monotonicMs'>
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

  constructor(parts: SubstitutionsParts) {
    this.#parts = parts
  }

  note(found: Substitution): void {
    const { clock, count, log } = this.#parts
    const substitution = this.#bounded(found)
    count(substitution)
    const pair = JSON.stringify([substitution.deployment, substitution.asked, substitution.answered])
    const nowMs = clock.monotonicMs()
    if (nowMs - (this.#loggedMs.get(pair) ?? -Infinity) < LOG_EVERY_MS) return
    this.#loggedMs.set(pair, nowMs)
    log(substitution)
  }

  #bounded(found: Substitution): Substitution {
    const names = this.#names.get(found.deployment) ?? new Set()
    this.#names.set(found.deployment, names)
    if (names.size < MAX_NAMES) names.add(found.answered)
    return names.has(found.answered) ? found : { ...found, answered: OTHER_MODEL }
  }
}

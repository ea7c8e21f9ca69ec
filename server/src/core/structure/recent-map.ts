/**
 * A map that keeps the entries used lately, at most `most` and at least half of it. It has two generations: a use moves an
 * entry to the younger one, and when that one is full, it becomes the elder and the elder is dropped.
 */
export class RecentMap<Key, Value> {
  readonly #perGeneration: number
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()

  constructor(most: number) {
    this.#perGeneration = most / 2
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: Key): Value | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: Key, value: Value): void {
    this.#old.delete(key)
    this.#young.set(key, value)
    if (this.#young.size < this.#perGeneration) return
    this.#old = this.#young
    this.#young = new Map()
  }

  delete(key: Key): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  deleteWhere(isOver: (value: Value) => boolean): void {
    for (const generation of [this.#young, this.#old])
      for (const [key, value] of generation) if (isOver(value)) generation.delete(key)
  }
}

import { append, emptyList, unlink, type Linked, type List } from './linked-list.ts'

interface Member<Key, Value> extends Linked<Member<Key, Value>> {
  readonly key: Key
  readonly value: Value
}

/**
 * A map that keeps the newest entries, and drops the oldest one for each that is too many. A plain `Map` finds its oldest
 * entry by searching past all that were deleted before it, which makes each request slower than the one before.
 */
export class BoundedMap<Key, Value> {
  readonly #most: number
  readonly #members = new Map<Key, Member<Key, Value>>()
  /** Oldest first. */
  readonly #order: List<Member<Key, Value>> = emptyList()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#order.length
  }

  has(key: Key): boolean {
    return this.#members.has(key)
  }

  get(key: Key): Value | undefined {
    return this.#members.get(key)?.value
  }

  /** Makes the entry the newest, also one that existed before. */
  set(key: Key, value: Value): void {
    this.delete(key)
    this.#append(key, value)
  }

  /** False when the key exists already: its entry stays unchanged. */
  add(key: Key, value: Value): boolean {
    if (this.#members.has(key)) return false
    this.#append(key, value)
    return true
  }

  #append(key: Key, value: Value): void {
    const member: Member<Key, Value> = { key, value, before: undefined, after: undefined }
    this.#members.set(key, member)
    append(this.#order, member)
    const { first } = this.#order
    if (this.size > this.#most && first !== undefined) this.delete(first.key)
  }

  delete(key: Key): boolean {
    const member = this.#members.get(key)
    if (member === undefined) return false
    this.#members.delete(key)
    unlink(this.#order, member)
    return true
  }

  /** Oldest first. */
  *values(): Generator<Value, void, void> {
    for (let member = this.#order.first; member !== undefined; member = member.after) yield member.value
  }
}

/** Events in simulated time, which passes as quickly as it can be computed: a binary heap. */
interface Item {
  readonly atMs: number
  /** Of simultaneous events, the first added happens first. */
  readonly order: number
  readonly run: () => void
}

/** Longer than any chain of promises here. */
const PROMISE_ROUNDS = 8

export class Agenda {
  readonly #heap: Item[] = []
  #order = 0
  nowMs = 0

  at(atMs: number, run: () => void): void {
    this.#heap.push({ atMs: Math.max(atMs, this.nowMs), order: (this.#order += 1), run })
    let index = this.#heap.length - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.#isBefore(index, parent)) break
      this.#swap(index, parent)
      index = parent
    }
  }

  /** Runs until nothing is left to do. */
  run(): void {
    for (let item = this.#next(); item; item = this.#next()) {
      this.nowMs = item.atMs
      item.run()
    }
  }

  /** The same for events with promises, which settle before the next event happens. */
  async runSettled(): Promise<void> {
    for (let item = this.#next(); item; item = this.#next()) {
      this.nowMs = item.atMs
      item.run()
      for (let round = 0; round < PROMISE_ROUNDS; round += 1) await Promise.resolve()
    }
  }

  #next(): Item | undefined {
    const [first] = this.#heap
    const last = this.#heap.pop()
    if (!first || !last || this.#heap.length === 0) return first
    this.#heap[0] = last
    for (let index = 0; ;) {
      const left = index * 2 + 1
      let least = index
      if (left < this.#heap.length && this.#isBefore(left, least)) least = left
      if (left + 1 < this.#heap.length && this.#isBefore(left + 1, least)) least = left + 1
      if (least === index) return first
      this.#swap(index, least)
      index = least
    }
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one] as Item, this.#heap[other] as Item]
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
  }

  #swap(one: number, other: number): void {
    const item = this.#heap[one] as Item
    this.#heap[one] = this.#heap[other] as Item
    this.#heap[other] = item
  }
}

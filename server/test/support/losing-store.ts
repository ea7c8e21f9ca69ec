/** A store whose link can fail: before the work is done, or after it, when only the answer is lost. */
import { setImmediate as yieldLoop } from 'node:timers/promises'
import { StoreUnreachable } from '#ports/store.ts'

export type Loss = 'none' | 'before' | 'after'

export class Link {
  /** The outcomes of the next calls, in order; then `otherwise`. */
  readonly planned: Loss[] = []
  otherwise: Loss = 'none'
  /** Rounds of the event loop that each way takes. */
  rounds = 0
  calls = 0

  async #way(): Promise<void> {
    for (let round = 0; round < this.rounds; round += 1) await yieldLoop()
  }

  async carry<Result>(work: () => Promise<Result>): Promise<Result> {
    this.calls += 1
    const loss = this.planned.shift() ?? this.otherwise
    await this.#way()
    if (loss === 'before') throw new StoreUnreachable('lost on the way there')
    const result = await work()
    await this.#way()
    if (loss === 'after') throw new StoreUnreachable('lost on the way back')
    return result
  }
}

/** The same store behind a link: every one of its methods goes over it. */
export function behind<Store extends object>(link: Link, store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target)
      if (typeof method !== 'function') return method
      return (...args: readonly unknown[]) =>
        link.carry(async () => Reflect.apply(method, target, args) as Promise<unknown>)
    },
  })
}

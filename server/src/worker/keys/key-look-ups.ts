import type { Clock } from '#ports/clock.ts'
import type { KeyRecord, KeySource } from '#ports/key-store.ts'
import { StoreAway } from '#ports/store.ts'

/** What a store can take from one node beside its other work, even when a thousand nodes start at once. */
const MAX_LOOK_UPS = 20
/** As many requests as a process serves at once; each that waits holds its connection and little more. */
const MAX_WAITING = 5000
/** Whoever waited this long is better told to try again. */
const MAX_WAIT_MS = 2000
/** A secret that nobody knows is asked about once in this time. A key made meanwhile arrives with the next refresh. */
const UNKNOWN_MS = 5000
/** Guesses must not fill the memory: 10,000 digests are about 2 MB. */
const MAX_UNKNOWN = 10_000

interface Waiting {
  readonly sinceMs: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Asks the store about secrets that the snapshot does not hold: one question each at a time, and few at once. */
export class KeyLookUps {
  readonly #source: KeySource
  readonly #clock: Clock
  readonly #underWay = new Map<string, Promise<KeyRecord | undefined>>()
  /** Digests that open nothing, and until when that is believed; oldest first. */
  readonly #unknown = new Map<string, number>()
  readonly #waiting: Waiting[] = []
  #running = 0

  constructor(source: KeySource, clock: Clock) {
    this.#source = source
    this.#clock = clock
  }

  /** The digests of one secret, the current one first. Undefined at once when it is known to open nothing. */
  find(digests: readonly string[]): Promise<KeyRecord | undefined> | undefined {
    const digest = digests[0] as string
    if ((this.#unknown.get(digest) ?? 0) > this.#clock.monotonicMs()) return undefined
    const underWay = this.#underWay.get(digest)
    if (underWay) return underWay
    const lookUp = this.#ask(digests).finally(() => this.#underWay.delete(digest))
    this.#underWay.set(digest, lookUp)
    return lookUp
  }

  async #ask(digests: readonly string[]): Promise<KeyRecord | undefined> {
    await this.#turn()
    try {
      const record = await this.#source.findKey(digests)
      if (record !== undefined && record.revokedAtMs === undefined) return record
      this.#remember(digests[0] as string)
      return undefined
    } catch (error) {
      for (const { reject } of this.#waiting.splice(0)) reject(error as Error)
      throw error
    } finally {
      this.#next()
    }
  }

  #turn(): Promise<void> {
    if (this.#running < MAX_LOOK_UPS) {
      this.#running += 1
      return Promise.resolve()
    }
    if (this.#waiting.length >= MAX_WAITING)
      return Promise.reject(new StoreAway(`${MAX_WAITING} keys are waiting to be looked up`))
    return new Promise((resolve, reject) =>
      this.#waiting.push({ sinceMs: this.#clock.monotonicMs(), resolve, reject }),
    )
  }

  #next(): void {
    for (;;) {
      const first = this.#waiting.shift()
      if (first === undefined) {
        this.#running -= 1
        return
      }
      if (this.#clock.monotonicMs() - first.sinceMs <= MAX_WAIT_MS) return first.resolve()
      first.reject(new StoreAway(`no turn to look the key up within ${MAX_WAIT_MS} ms`))
    }
  }

  #remember(digest: string): void {
    if (this.#unknown.size >= MAX_UNKNOWN) {
      const [oldest] = this.#unknown.keys()
      if (oldest !== undefined) this.#unknown.delete(oldest)
    }
    this.#unknown.delete(digest)
    this.#unknown.set(digest, this.#clock.monotonicMs() + UNKNOWN_MS)
  }
}

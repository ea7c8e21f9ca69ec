import { BoundedMap } from '#core/structure/bounded-map.ts'
import { Semaphore } from '#core/structure/semaphore.ts'
import type { Clock } from '#ports/clock.ts'
import type { KeyRecord, KeySource } from '#ports/key-store.ts'
import type { KeyEnd } from '#ports/keys.ts'
import { StoreUnreachable } from '#ports/store.ts'

/**
 * Concurrent look-ups: what a store can take from one node beside its other work, even when a thousand nodes
 * start together.
 */
const MAX_LOOK_UPS = 20
/** Waiting look-ups: the requests that a process serves concurrently. Each holds its connection and little more. */
const MAX_WAITING = 5000
/** Longest wait: after this time a request is better refused with a retry time. */
const MAX_WAIT_MS = 2000
/** Time for which an unknown secret is not looked up again. A key made meanwhile arrives with the next refresh. */
const UNKNOWN_MS = 5000
/** Remembered unknown secrets. Guesses must not fill the memory: 10,000 digests are about 2 MB. */
const MAX_UNKNOWN = 10_000

/** Looks up secrets that the snapshot does not hold: one query each at a time, and few concurrently. */
export class KeyLookUps {
  readonly #source: KeySource
  readonly #clock: Clock
  readonly #underWay = new Map<string, Promise<KeyRecord | undefined>>()
  /** Digests without a key, until when that is believed, and how a key of theirs ended; oldest first. */
  readonly #unknown = new BoundedMap<string, { readonly untilMs: number; readonly end: KeyEnd | undefined }>(
    MAX_UNKNOWN,
  )
  readonly #places = new Semaphore(MAX_LOOK_UPS)

  constructor(source: KeySource, clock: Clock) {
    this.#source = source
    this.#clock = clock
  }

  /** `digests`: those of one secret, the current one first. Undefined immediately when it is known to have no key. */
  find(digests: readonly string[]): Promise<KeyRecord | undefined> | undefined {
    const digest = digests[0] as string
    if ((this.#unknown.get(digest)?.untilMs ?? 0) > this.#clock.monotonicMs()) return undefined
    const underWay = this.#underWay.get(digest)
    if (underWay) return underWay
    const lookUp = this.#ask(digests).finally(() => this.#underWay.delete(digest))
    this.#underWay.set(digest, lookUp)
    return lookUp
  }

  async #ask(digests: readonly string[]): Promise<KeyRecord | undefined> {
    if (this.#places.waiting >= MAX_WAITING)
      throw new StoreUnreachable(`${MAX_WAITING} keys are waiting to be looked up`)
    const sinceMs = this.#clock.monotonicMs()
    return this.#places.run(() => {
      if (this.#clock.monotonicMs() - sinceMs > MAX_WAIT_MS)
        throw new StoreUnreachable(`no turn to look the key up within ${MAX_WAIT_MS} ms`)
      return this.#found(digests)
    })
  }

  async #found(digests: readonly string[]): Promise<KeyRecord | undefined> {
    try {
      const record = await this.#source.findKey(digests)
      if (record !== undefined && record.revokedAtMs === undefined) return record
      this.#remember(digests[0] as string, record)
      return undefined
    } catch (error) {
      // The store would fail the other queued look-ups too.
      this.#places.refuseWaiting(error)
      throw error
    }
  }

  /** How the key of an unknown secret ended, if the store knew it at the last look-up. */
  endOf(digest: string): KeyEnd | undefined {
    return this.#unknown.get(digest)?.end
  }

  #remember(digest: string, record: KeyRecord | undefined): void {
    const { name = '', revokedAtMs: atMs } = record ?? {}
    const end: KeyEnd | undefined = atMs === undefined ? undefined : { name, how: 'revoked', atMs }
    this.#unknown.set(digest, { untilMs: this.#clock.monotonicMs() + UNKNOWN_MS, end })
  }
}

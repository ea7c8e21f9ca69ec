import { BoundedMap } from '#core/bounded-map.ts'
import { Semaphore } from '#core/semaphore.ts'
import type { Clock } from '#ports/clock.ts'
import type { KeyRecord, KeySource } from '#ports/key-store.ts'
import type { KeyEnd } from '#ports/keys.ts'
import { StoreAway } from '#ports/store.ts'

/** What a store can take from one node beside its other work, even when a thousand nodes start at once. */
const MAX_LOOK_UPS = 20
/** As many requests as a process serves at once. Each that waits holds its connection and little more. */
const MAX_WAITING = 5000
/** A request that waited this long is better told to try again. */
const MAX_WAIT_MS = 2000
/**
 * The node asks about an unknown secret once in this time.
 * A key made meanwhile arrives with the next refresh.
 */
const UNKNOWN_MS = 5000
/** Guesses must not fill the memory: 10,000 digests are about 2 MB. */
const MAX_UNKNOWN = 10_000

/** Asks the store about secrets that the snapshot does not hold: one question each at a time, and few at once. */
export class KeyLookUps {
  readonly #source: KeySource
  readonly #clock: Clock
  readonly #underWay = new Map<string, Promise<KeyRecord | undefined>>()
  /** Digests that open nothing, until when the node believes so, and how a key of theirs ended; oldest first. */
  readonly #unknown = new BoundedMap<string, { readonly untilMs: number; readonly end: KeyEnd | undefined }>(
    MAX_UNKNOWN,
  )
  readonly #places = new Semaphore(MAX_LOOK_UPS)

  constructor(source: KeySource, clock: Clock) {
    this.#source = source
    this.#clock = clock
  }

  /** The digests of one secret, the current one first. Undefined at once when it is known to open nothing. */
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
      throw new StoreAway(`${MAX_WAITING} keys are waiting to be looked up`)
    const sinceMs = this.#clock.monotonicMs()
    return this.#places.run(() => {
      if (this.#clock.monotonicMs() - sinceMs > MAX_WAIT_MS)
        throw new StoreAway(`no turn to look the key up within ${MAX_WAIT_MS} ms`)
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
      // The store would fail the others in line too.
      this.#places.refuseWaiting(error)
      throw error
    }
  }

  /** How the key of a secret that opens nothing ended, if the store knew it when it was last asked. */
  endOf(digest: string): KeyEnd | undefined {
    return this.#unknown.get(digest)?.end
  }

  #remember(digest: string, record: KeyRecord | undefined): void {
    const { name = '', revokedAtMs: atMs } = record ?? {}
    const end: KeyEnd | undefined = atMs === undefined ? undefined : { name, how: 'revoked', atMs }
    this.#unknown.set(digest, { untilMs: this.#clock.monotonicMs() + UNKNOWN_MS, end })
  }
}

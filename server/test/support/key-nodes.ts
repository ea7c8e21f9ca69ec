/** Nodes that read one store of keys, with a clock and a link that a test holds in its hands. */
import type { Clock } from '#ports/clock.ts'
import type { KeyFile } from '#ports/key-file.ts'
import type {
  KeyRecord,
  KeySource,
  KeyUse,
  KeyStore,
  Peppers,
  ProjectRecord,
  StoredStanding,
} from '#ports/key-store.ts'
import type { WorkOwner } from '#ports/keys.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { KeySnapshot } from '#worker/keys/key-snapshot.ts'
import { peppersOf } from '#runtime/secret.ts'
import { SECRETS } from './directory.ts'
import { someKeyFile } from './key-file.ts'

export class TestClock implements Clock {
  #ms = 1_800_000_000_000

  nowMs(): number {
    return this.#ms
  }
  monotonicMs(): number {
    return this.#ms - 1_799_000_000_000
  }
  advance(byMs: number): void {
    this.#ms += byMs
  }
}

/** The connection to the store: it can be cut, and its look-ups are counted. */
export class Link implements KeySource {
  readonly #store: KeyStore
  isCut = false
  /** What a look-up waits for. */
  gate: Promise<void> | undefined
  lookUps = 0
  mostAtOnce = 0
  #atOnce = 0

  constructor(store: KeyStore) {
    this.#store = store
  }

  async directoryVersion(): Promise<bigint> {
    this.#pass()
    return this.#store.directoryVersion()
  }

  async markOf(version: bigint): Promise<string | undefined> {
    this.#pass()
    return this.#store.markOf(version)
  }

  keysChangedSince(version: bigint | undefined): AsyncIterable<readonly KeyRecord[]> {
    this.#pass()
    return this.#store.keysChangedSince(version)
  }

  projectsChangedSince(version: bigint | undefined): AsyncIterable<readonly ProjectRecord[]> {
    this.#pass()
    return this.#store.projectsChangedSince(version)
  }

  async findKey(digests: readonly string[]): Promise<KeyRecord | undefined> {
    this.lookUps += 1
    this.#atOnce += 1
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce)
    try {
      this.#pass()
      const found = await this.#store.findKey(digests)
      await this.gate
      return found
    } finally {
      this.#atOnce -= 1
    }
  }

  async standingOf(owner: Omit<WorkOwner, 'player'>): Promise<StoredStanding> {
    this.#pass()
    return this.#store.standingOf(owner)
  }

  async renewDigest(digest: string, renewed: { readonly digest: string; readonly pepper: string }) {
    this.#pass()
    await this.#store.renewDigest(digest, renewed)
  }

  async markUsed(uses: readonly KeyUse[]): Promise<void> {
    this.#pass()
    await this.#store.markUsed(uses)
  }

  async markDeclaredUsed(uses: readonly KeyUse[]): Promise<void> {
    this.#pass()
    await this.#store.markDeclaredUsed(uses)
  }

  #pass(): void {
    if (this.isCut) throw new StoreUnreachable('the link is cut')
  }
}

export interface NodeOptions {
  readonly clock?: Clock
  readonly peppers?: Peppers
  readonly file?: KeyFile
  readonly onChange?: () => void
}

export function keyNode(source: KeySource, options: NodeOptions = {}) {
  const troubles: (string | undefined)[] = []
  const snapshot = new KeySnapshot({
    source,
    peppers: options.peppers ?? peppersOf(SECRETS),
    clock: options.clock ?? new TestClock(),
    file: options.file ?? someKeyFile(),
    onChange: options.onChange,
    onTrouble: (trouble) => troubles.push(trouble?.message),
  })
  return { snapshot, troubles }
}

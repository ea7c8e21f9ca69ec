import type { Actor } from '#ports/audit.ts'
import { secretTail } from '#core/keys/key.ts'
import type { Clock } from '#ports/clock.ts'
import type { CredentialRecord, CredentialStore, NewCredential } from '#ports/credentials.ts'
import type { MemoryAudit } from './audit.ts'

interface StoredCredential {
  readonly upstream: string
  readonly baseUrl: string
  readonly secret: string | undefined
  readonly updatedAtMs: number
}

/** Credentials in memory, gone with the process. Not sealed: the process holds the key as well. */
export class MemoryCredentials implements CredentialStore {
  readonly #clock: Clock
  readonly #audit: MemoryAudit
  /** The next version of the directory. */
  readonly #changed: () => void
  readonly #byUpstream = new Map<string, StoredCredential>()

  constructor(clock: Clock, audit: MemoryAudit, changed: () => void) {
    this.#clock = clock
    this.#audit = audit
    this.#changed = changed
  }

  async put({ upstream, baseUrl, secret }: NewCredential, actor: Actor): Promise<CredentialRecord> {
    const detail = { baseUrl }
    this.#audit.write({ actor, action: 'credential.put', target: upstream, detail })
    return this.#keep(upstream, baseUrl, secret)
  }

  async open(upstream: string, address: string): Promise<string | undefined> {
    const stored = this.#byUpstream.get(upstream)
    return stored !== undefined && stored.baseUrl === address ? stored.secret : undefined
  }

  async setBaseUrl(upstream: string, baseUrl: string, actor: Actor): Promise<CredentialRecord | undefined> {
    const before = this.#byUpstream.get(upstream)
    if (before === undefined || before.baseUrl === baseUrl) return before && recordOf(before)
    const detail = { before: before.baseUrl, after: baseUrl, dropped: before.secret !== undefined }
    this.#audit.write({ actor, action: 'credential.set', target: upstream, detail })
    return this.#keep(upstream, baseUrl, undefined)
  }

  async drop(upstream: string, actor: Actor): Promise<CredentialRecord | undefined> {
    const before = this.#byUpstream.get(upstream)
    if (before?.secret === undefined) return before && recordOf(before)
    const detail = { baseUrl: before.baseUrl }
    this.#audit.write({ actor, action: 'credential.drop', target: upstream, detail })
    return this.#keep(upstream, before.baseUrl, undefined)
  }

  async list(): Promise<readonly CredentialRecord[]> {
    return [...this.#byUpstream.values()].map(recordOf).sort((a, b) => (a.upstream < b.upstream ? -1 : 1))
  }

  #keep(upstream: string, baseUrl: string, secret: string | undefined): CredentialRecord {
    const stored = { upstream, baseUrl, secret, updatedAtMs: this.#clock.nowMs() }
    this.#byUpstream.set(upstream, stored)
    this.#changed()
    return recordOf(stored)
  }
}

function recordOf({ upstream, baseUrl, secret, updatedAtMs }: StoredCredential): CredentialRecord {
  return {
    upstream,
    baseUrl,
    hasSecret: secret !== undefined,
    updatedAtMs,
    tail: secret === undefined ? undefined : secretTail(secret),
  }
}

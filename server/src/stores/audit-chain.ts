/**
 * The hash chain of the audit. Each entry's hash covers the one before, so a change or a gap anywhere shows. The hash is signed with
 * a key of the nodes, so write access to the database is not enough to recompute the chain. A signature covers all entries before it:
 * the next signed entry vouches for entries older than the keys, and for entries whose key is gone.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { ActorKind } from '#core/access/actor.ts'
import type { AuditAction, AuditEntry, AuditProof, CommittedEntry } from '#ports/audit.ts'
import type { SealingKey, SealingKeys } from '#ports/credentials.ts'

/** An action as it is stored. The actor's kind and address are part of the detail, so that the hash covers them. */
export interface KeptAction extends Omit<AuditAction, 'actor'> {
  readonly actor: string
}

export function keptAction({ actor, action, target, detail }: AuditAction): KeptAction {
  const { kind, name, address } = actor
  return {
    actor: name,
    action,
    target,
    detail: { ...detail, [KIND]: kind, ...(address !== undefined && { [ADDRESS]: address }) },
  }
}

/** No action has details of these names. */
const KIND = 'actorKind'
const ADDRESS = 'clientAddress'

export interface ChainedEntry extends KeptAction {
  readonly sequence: bigint
  readonly atMs: number
  /** 32 bytes of SHA-256, followed, since there are keys, by 4 bytes of the key's id and 32 of the signature of that hash. */
  readonly hash: Uint8Array
}

/** The predecessor of the first entry. */
const CHAIN_START: Uint8Array = new Uint8Array(32)
const HASH_BYTES = 32
const ID_END = 36

/** Kinds of proof in the order in which they may follow one another: an unsigned entry after a signed one is forged. */
const ORDER: Readonly<Record<AuditProof, number>> = { unkeyed: 0, other_key: 1, keyed: 2 }

export class AuditChain {
  readonly #keys: SealingKeys | undefined
  readonly #onCommitted: (entry: CommittedEntry) => void

  /** `onCommitted` hears of each entry that this process adds. Without keys, entries are not signed: for tests. */
  constructor(keys?: SealingKeys, onCommitted: (entry: CommittedEntry) => void = () => {}) {
    this.#keys = keys
    this.#onCommitted = onCommitted
  }

  /** To be called once the transaction of the entry is committed. `before`: the stored hash of the entry before. */
  committed(entry: ChainedEntry, before: Uint8Array | undefined): void {
    const previousHash = before && Buffer.from(before.subarray(0, HASH_BYTES)).toString('hex')
    this.#onCommitted({ ...this.checked(entry, before), previousHash })
  }

  /** The stored hash of an entry. */
  hashOf(previous: Uint8Array | undefined, entry: Omit<ChainedEntry, 'hash'>): Uint8Array {
    const hash = plainHash(previous, entry)
    if (this.#keys === undefined) return hash
    const { current } = this.#keys
    return Buffer.concat([hash, Buffer.from(current.id, 'hex'), signatureOf(hash, current)])
  }

  /** The entry as readers get it. `before`: the stored hash of the entry before; undefined for the first entry. */
  checked({ hash, detail: kept, ...entry }: ChainedEntry, before: Uint8Array | undefined): AuditEntry {
    const { [KIND]: actorKind, [ADDRESS]: address, ...detail } = kept
    const plain = hash.subarray(0, HASH_BYTES)
    const proof = this.#proofOf(hash)
    const intact =
      (before === undefined) === (entry.sequence === 1n) &&
      Buffer.compare(plain, plainHash(before, { ...entry, detail: kept })) === 0 &&
      this.#isSigned(hash) &&
      (before === undefined || ORDER[this.#proofOf(before)] <= ORDER[proof])
    return {
      ...entry,
      actorKind: typeof actorKind === 'string' ? (actorKind as ActorKind) : undefined,
      address: typeof address === 'string' ? address : undefined,
      detail,
      hash: Buffer.from(plain).toString('hex'),
      intact,
      proof,
    }
  }

  #proofOf(hash: Uint8Array): AuditProof {
    if (hash.length <= HASH_BYTES) return 'unkeyed'
    return this.#keyOf(hash) === undefined ? 'other_key' : 'keyed'
  }

  /** Also true where the key is unknown. */
  #isSigned(hash: Uint8Array): boolean {
    const key = this.#keyOf(hash)
    if (key === undefined) return true
    const [expected, found] = [signatureOf(hash.subarray(0, HASH_BYTES), key), hash.subarray(ID_END)]
    return found.length === expected.length && timingSafeEqual(found, expected)
  }

  #keyOf(hash: Uint8Array): SealingKey | undefined {
    if (hash.length <= HASH_BYTES || this.#keys === undefined) return undefined
    const id = Buffer.from(hash.subarray(HASH_BYTES, ID_END)).toString('hex')
    return [this.#keys.current, this.#keys.previous].find((key) => key?.id === id)
  }
}

function plainHash(previous: Uint8Array = CHAIN_START, entry: Omit<ChainedEntry, 'hash'>): Buffer {
  const { sequence, atMs, actor, action, target, detail } = entry
  const text = canonicalJson([String(sequence), atMs, actor, action, target, detail])
  return createHash('sha256').update(previous).update(text).digest()
}

function signatureOf(hash: Uint8Array, { key }: SealingKey): Buffer {
  return createHmac('sha256', key).update(hash).digest()
}

/** JSON with the fields of objects sorted: stores keep values, not the order in which they were written. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (part === null || typeof part !== 'object' || Array.isArray(part)) return part
    return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  })
}

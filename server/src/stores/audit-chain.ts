/** The chain of the audit: each entry's hash covers the one before, so a change or a gap anywhere shows. */
import { createHash } from 'node:crypto'
import type { AuditAction, AuditEntry } from '#ports/audit.ts'

export interface ChainedEntry extends AuditAction {
  readonly sequence: bigint
  readonly atMs: number
  readonly hash: Uint8Array
}

/** What the first entry is chained to. */
export const CHAIN_START: Uint8Array = new Uint8Array(32)

export function chainHash(previous: Uint8Array, entry: Omit<ChainedEntry, 'hash'>): Uint8Array {
  const { sequence, atMs, actor, action, target, detail } = entry
  const text = canonicalJson([String(sequence), atMs, actor, action, target, detail])
  return createHash('sha256').update(previous).update(text).digest()
}

/** `newestFirst` with the entry before the page at its end, unless the page reaches the beginning. */
export function checkedPage(newestFirst: readonly ChainedEntry[], limit: number): AuditEntry[] {
  return newestFirst.slice(0, limit).map((entry, index) => {
    const before = newestFirst[index + 1]
    const expected = chainHash(before?.hash ?? CHAIN_START, entry)
    const isNext = entry.sequence === (before?.sequence ?? 0n) + 1n
    const { hash, ...rest } = entry
    return {
      ...rest,
      hash: Buffer.from(hash).toString('hex'),
      intact: isNext && Buffer.compare(hash, expected) === 0,
    }
  })
}

/** JSON with the fields of objects sorted: stores keep values, not the order they were written in. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (part === null || typeof part !== 'object' || Array.isArray(part)) return part
    return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  })
}

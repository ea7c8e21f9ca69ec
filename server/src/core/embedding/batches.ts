/** Which inputs are the same, and which go together in one call. */
import type { ContentWireName } from '../catalog/content-capabilities.ts'
import { hasAddress, identityOf, type Content } from '../content/content.ts'
import type { Input, TokenIds } from './input.ts'

export interface DistinctInputs {
  /** Positions of the first occurrence of each distinct input. */
  readonly firsts: readonly number[]
  /** For each input, which of `firsts` it equals. */
  readonly slots: readonly number[]
}

export function dedupe(input: Input): DistinctInputs {
  switch (input.kind) {
    case 'texts':
      return dedupeBy(input.texts, (text) => text)
    case 'tokens':
      return dedupeTokens(input.tokens)
    case 'contents':
      // A content with an address is like no other.
      return dedupeBy(input.contents, (content) => identityOf(content) ?? content)
  }
}

/** Arrays of ids are compared by a hash first: as texts they would cost more to write than to embed. */
function dedupeTokens(tokens: readonly TokenIds[]): DistinctInputs {
  const alike = new Map<number, TokenIds[]>()
  return dedupeBy(tokens, (ids) => {
    const hash = hashOf(ids)
    const seen = alike.get(hash)
    if (seen === undefined) {
      alike.set(hash, [ids])
      return ids
    }
    const equal = seen.find((other) => sameIds(other, ids))
    if (equal === undefined) seen.push(ids)
    return equal ?? ids
  })
}

function dedupeBy<Entry>(entries: readonly Entry[], identityOf: (entry: Entry) => unknown): DistinctInputs {
  const seen = new Map<unknown, number>()
  const firsts: number[] = []
  const slots: number[] = []
  for (const [index, entry] of entries.entries()) {
    const identity = identityOf(entry)
    let slot = seen.get(identity)
    if (slot === undefined) {
      slot = firsts.length
      seen.set(identity, slot)
      firsts.push(index)
    }
    slots.push(slot)
  }
  return { firsts, slots }
}

/** FNV-1a over whole ids. */
function hashOf(ids: TokenIds): number {
  let hash = 0x81_1c_9d_c5
  for (let index = 0; index < ids.length; index += 1)
    hash = Math.imul(hash ^ (ids[index] as number), 0x01_00_01_93)
  return hash
}

function sameIds(a: TokenIds, b: TokenIds): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false
  return true
}

/** What one input adds to a call. Tokens may be an upper bound, such as its bytes. */
export interface Weight {
  readonly tokens: number
  readonly bytes: number
  /** Absent: none. */
  readonly images?: number | undefined
  /** Inputs of different groups do not share a call. Absent: all may. */
  readonly group?: string | undefined
}

export interface Caps {
  readonly maxInputs: number
  readonly maxTokens?: number | undefined
  readonly maxBytes?: number | undefined
  readonly maxImages?: number | undefined
}

/** Consecutive runs `[start, end)`, each within the caps. An input that is too large alone travels alone. */
export function split(weights: readonly Weight[], caps: Caps): (readonly [start: number, end: number])[] {
  const { maxInputs, maxTokens = Infinity, maxBytes = Infinity, maxImages = Infinity } = caps
  const runs: [number, number][] = []
  let start = 0
  let tokens = 0
  let bytes = 0
  let images = 0
  for (const [index, weight] of weights.entries()) {
    const own = weight.images ?? 0
    const full =
      index - start >= maxInputs ||
      tokens + weight.tokens > maxTokens ||
      bytes + weight.bytes > maxBytes ||
      images + own > maxImages ||
      weight.group !== weights[start]?.group
    if (full && index > start) {
      runs.push([start, index])
      start = index
      tokens = 0
      bytes = 0
      images = 0
    }
    tokens += weight.tokens
    bytes += weight.bytes
    images += own
  }
  if (weights.length > start) runs.push([start, weights.length])
  return runs
}

/** Contents with equal groups may share a call. `index` tells those apart that go alone. */
export function callGroupOf(wire: ContentWireName, content: Content, index: number): string {
  const { parts } = content
  switch (wire) {
    // One field of the call says what all inputs are.
    case 'modality':
      return parts[0]?.kind ?? ''
    // A call fuses all its parts, or none.
    case 'dashscope':
      return parts.length > 1 ? String(index) : ''
    // Addresses and bytes exclude each other.
    case 'voyage':
      return parts.some(hasAddress) ? 'addresses' : ''
    default:
      return ''
  }
}

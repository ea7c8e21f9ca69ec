import type { ContentWireName } from '../catalog/content-capabilities.ts'
import { hasAddress, hasMedia, type Content } from './content.ts'

/** Wires whose calls carry one content. */
const SINGLE: ReadonlySet<ContentWireName> = new Set(['vertex', 'vertex-predict', 'nova', 'titan'])

/** Whether a content can go in the same call as others that may go together. */
export function mayJoinCall(wire: ContentWireName, others: readonly Content[], content: Content): boolean {
  if (others.length === 0) return true
  if (SINGLE.has(wire)) return false
  const all = [...others, content]
  switch (wire) {
    // One field of the call says what all inputs are.
    case 'modality':
      return new Set(all.flatMap(({ parts }) => parts.map(({ kind }) => kind))).size === 1
    // A call fuses all its parts, or none.
    case 'dashscope':
      return all.every(({ parts }) => parts.length === 1)
    // Addresses and bytes exclude each other.
    case 'voyage': {
      const parts = all.flatMap((one) => one.parts)
      return !(parts.some(hasAddress) && parts.some(hasMedia))
    }
    default:
      return true
  }
}

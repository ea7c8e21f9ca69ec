/** What a call used, by kind of part: each kind may have its own price. */
import type { PartKind } from '../content/content.ts'

export interface KindUse {
  readonly tokens: number
  /** Characters of text, images, seconds of audio or video, pages of PDF. Undefined when it is not known. */
  readonly count: number | undefined
}

/** Kinds that were not used are absent. */
export type PartUse = Readonly<Partial<Record<PartKind, KindUse>>>

export function usedKinds(use: PartUse): readonly (readonly [PartKind, KindUse])[] {
  return Object.entries(use) as [PartKind, KindUse][]
}

/** Adds the uses of each kind. A sum with an unknown part is unknown. */
export function addUse(a: PartUse, b: PartUse): PartUse {
  const sum: Partial<Record<PartKind, KindUse>> = { ...a }
  for (const [kind, { tokens, count }] of usedKinds(b)) {
    const known = sum[kind] ?? { tokens: 0, count: 0 }
    sum[kind] = {
      tokens: known.tokens + tokens,
      count: known.count === undefined || count === undefined ? undefined : known.count + count,
    }
  }
  return sum
}

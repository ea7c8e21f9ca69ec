/** The range of time that a page looks at: so far back from now, or from a moment to a moment. */

export const SPANS = ['15m', '1h', '24h', '7d', '30d'] as const
export type Span = (typeof SPANS)[number]

const SPAN_MS: Record<Span, number> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
}

/** As it stands in an address. */
export interface RangeSearch {
  since?: Span | undefined
  from?: string | undefined
  to?: string | undefined
}

export interface Range {
  readonly fromMs: number
  readonly toMs: number
  /** Undefined: from a moment to a moment. */
  readonly span: Span | undefined
}

/** `usual` is what a page looks at when its address says nothing. */
export function rangeOf({ since, from, to }: RangeSearch, usual: Span, nowMs: number): Range {
  if (from !== undefined) {
    const fromMs = Date.parse(from)
    const toMs = to === undefined ? nowMs : Date.parse(to)
    if (fromMs < toMs) return { fromMs, toMs, span: undefined }
  }
  const span = since ?? usual
  return { fromMs: nowMs - SPAN_MS[span], toMs: nowMs, span }
}

/** Which vectors of a run are suspect, from what callers got and what the upstream served. Knows nothing of Torana's rules but the window. */

/** Vectors made this long before the last good check count too: clocks of nodes may differ. */
const SKEW_MS = 5000
/** Where a window ends, either is right for this time. */
const EDGE_MS = 1000
/** From the end of a call at the upstream to its entry in the ledger, on a busy machine, where no caller saw the answer arrive. */
const COMMIT_MS = 3000

/** A request, or the lines of a batch that one request carried, with the vectors that a caller really got. */
export interface SeenAnswer {
  readonly requestId: string
  /** Custom ids of the lines. Empty: it was no batch. */
  readonly lines: readonly string[]
  readonly vectors: number
  readonly hasNew: boolean
  /** When the vectors were made, at the suspect upstream, as far as it is known. */
  readonly madeAtMs: readonly number[]
  /** When the caller had the answer, so that its calls were in the ledger. Undefined: it is not known. */
  readonly arrivedAtMs?: number
  /** Another upstream was called too, so the vectors of the suspect one may not have been used. */
  readonly isMixed: boolean
}

interface SeenWindow {
  readonly fromMs: number
  readonly untilMs: number
}

interface Judged {
  readonly suspect: ReadonlyMap<string, SeenAnswer>
  /** At the edge of a window: they may be listed or not. */
  readonly edge: ReadonlySet<string>
}

export function judge(answers: readonly SeenAnswer[], windows: readonly SeenWindow[]): Judged {
  const suspect = new Map<string, SeenAnswer>()
  const edge = new Set<string>()
  for (const answer of answers) {
    const { requestId, hasNew, madeAtMs, isMixed, arrivedAtMs } = answer
    const places = new Set(madeAtMs.map((atMs) => placeOf(atMs, arrivedAtMs ?? atMs + COMMIT_MS, windows)))
    if (hasNew || (places.has('inside') && !isMixed)) suspect.set(requestId, answer)
    else if (places.has('edge') || places.has('inside')) edge.add(requestId)
  }
  return { suspect, edge }
}

/** A call counts until its entry is written, which is between its end at the upstream and the arrival of the answer. */
function placeOf(
  atMs: number,
  writtenUntilMs: number,
  windows: readonly SeenWindow[],
): 'inside' | 'edge' | 'outside' {
  const isIn = (edgeMs: number, lastMs: number): boolean =>
    windows.some(({ fromMs, untilMs }) => lastMs > fromMs - SKEW_MS && atMs < untilMs + edgeMs)
  if (isIn(-EDGE_MS, atMs)) return 'inside'
  return isIn(EDGE_MS, writtenUntilMs) ? 'edge' : 'outside'
}

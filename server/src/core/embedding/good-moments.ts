/** Since when a deployment may have been outside its space, by what its probes have shown until then. */
import { coversSize, sizeName, type CallSize } from './call-size.ts'
import { ALL_TEXTS_TOKENS } from './probe-calls.ts'
import { PROBE_TEXTS } from './probe-texts.ts'

/** The class of a probe of all texts in one call, as it is made at any interval. */
export const ALL_TEXTS = sizeName({ inputs: PROBE_TEXTS.length, tokens: ALL_TEXTS_TOKENS })

/** What a probe has looked at. */
export interface LookedAt {
  readonly atMs: number
  /** It was made because the deployment is in use, and had one text alone where it has no size. */
  readonly isInUse?: true | undefined
  readonly size?: CallSize | undefined
}

/**
 * When it was last seen that what a bad probe shows was not so yet: one text is in every probe, all texts are in those of any size,
 * and calls of a size only in those of that size or a larger one. Undefined: that is not known. `goodAtMs`: of all probes, the oldest first.
 */
export function goodBefore(
  { atMs, isInUse, size }: LookedAt,
  goodAtMs: readonly number[],
  goodSizes: Readonly<Record<string, number>>,
): number | undefined {
  const before = (moment: number): boolean => moment <= atMs
  const any = goodAtMs.findLast(before)
  if (isInUse && size === undefined) return any
  const moments = Object.entries(goodSizes).flatMap(([name, moment]) => {
    const isAlike = isInUse === undefined || size === undefined || coversSize(name, size)
    return isAlike && before(moment) ? [moment] : []
  })
  if (moments.length > 0) return Math.max(...moments)
  // Of each size only the last good moment is known, which may be later.
  return isInUse === undefined ? any : undefined
}

import {
  TORN,
  type BadWindow,
  type DeploymentStanding,
  type GoodRides,
  type ProbeResult,
} from '#ports/spaces.ts'

/**
 * Good moments that a standing remembers. If one of two replicas has changed, a good answer came from the other one by chance: eight
 * in a row are such a chance once in 256 times.
 */
const MAX_GOOD = 8

/** Enough for an upstream that comes and goes for days; a few hundred bytes in a row that every node reads all the time. */
const MAX_WINDOWS = 16

/**
 * The standing of a deployment after one more probe; `space`: the model's own at this moment, if it has one. Probes may come late,
 * from a node that could not write them: a late good one lifts nothing, a late bad one still quarantines.
 */
export function standingAfter(
  before: DeploymentStanding | undefined,
  result: ProbeResult,
  space: string | undefined,
): DeploymentStanding {
  const { model, deployment, target, verdict, atMs } = result
  const last = before && before.last.atMs > atMs ? before.last : withEarlier(result, before?.last)
  const standing: DeploymentStanding = before ?? {
    model,
    deployment,
    target,
    space: undefined,
    isQuarantined: false,
    lastGoodAtMs: undefined,
    goodAtMs: [],
    reason: undefined,
    last,
    badWindows: [],
  }
  if (verdict === 'failed' || result.space !== space) return { ...standing, last }
  const { isQuarantined, lastGoodAtMs, badWindows } = standing
  if (verdict === 'quarantined') {
    const { reason } = result
    const goods = goodsOf(standing).filter((goodAtMs) => goodAtMs <= atMs)
    // Undefined: when it was good before that is not known. Replicas that differ did so before the last good answers.
    const wasGoodAtMs = isTorn(result) ? goods[0] : goods.at(-1)
    return { ...standing, space, isQuarantined: true, lastGoodAtMs: wasGoodAtMs, reason, last }
  }
  if (before?.space === space && atMs <= comparedAtMs(before)) return { ...before, last }
  const ended = { fromMs: lastGoodAtMs ?? 0, untilMs: atMs }
  return {
    ...standing,
    space,
    isQuarantined: false,
    ...goodAt(standing, atMs, isQuarantined || standing.space !== space),
    reason: result.reason,
    last,
    badWindows: isQuarantined ? bounded([...badWindows, ended]) : badWindows,
  }
}

/** A probe without an answer says nothing of how far the vectors are: what was known of that stays. */
function withEarlier(result: ProbeResult, before: ProbeResult | undefined): ProbeResult {
  if (result.leastCosine !== undefined || before?.space !== result.space) return result
  const { leastCosine, atMs, earlier } = before
  const known = leastCosine === undefined ? earlier : { leastCosine, atMs }
  return known === undefined ? result : { ...result, earlier: known }
}

/** The standing after good rides. `space`: the model's own at this moment. */
export function standingAfterRides(
  before: DeploymentStanding,
  rides: Pick<GoodRides, 'space' | 'lastAtMs'>,
  space: string | undefined,
): DeploymentStanding {
  if (before.isQuarantined || before.space !== space || rides.space !== space) return before
  const { lastGoodAtMs = -Infinity } = before
  return rides.lastAtMs <= lastGoodAtMs ? before : { ...before, ...goodAt(before, rides.lastAtMs, false) }
}

/** `startsOver`: it was outside until now, so what was good before says nothing. */
function goodAt(
  before: DeploymentStanding,
  atMs: number,
  startsOver: boolean,
): Pick<DeploymentStanding, 'lastGoodAtMs' | 'goodAtMs'> {
  const goods = startsOver ? [] : goodsOf(before)
  return { lastGoodAtMs: atMs, goodAtMs: goods.slice(-(MAX_GOOD - 1)) }
}

/** Good moments that count, the oldest first. Of a quarantined deployment those after its window began do not. */
function goodsOf({ lastGoodAtMs, goodAtMs }: DeploymentStanding): readonly number[] {
  if (lastGoodAtMs === undefined) return []
  return [...goodAtMs.filter((atMs) => atMs < lastGoodAtMs), lastGoodAtMs]
}

/** Whether some of its answers were within the space, and others outside. */
function isTorn({ reason }: ProbeResult): boolean {
  return reason?.startsWith(TORN) === true
}

/** When it was last compared, or later: of a quarantined one, only the very last probe is known. */
function comparedAtMs({ isQuarantined, lastGoodAtMs, last }: DeploymentStanding): number {
  return isQuarantined ? last.atMs : (lastGoodAtMs ?? -Infinity)
}

/** The two oldest become one: this drops too much rather than too little. */
function bounded(windows: readonly BadWindow[]): readonly BadWindow[] {
  const [first, second, ...rest] = windows
  if (windows.length <= MAX_WINDOWS || first === undefined || second === undefined) return windows
  const both = {
    fromMs: Math.min(first.fromMs, second.fromMs),
    untilMs: Math.max(first.untilMs, second.untilMs),
  }
  return [both, ...rest]
}

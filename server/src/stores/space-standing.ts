import { sizeName } from '#core/embedding/call-size.ts'
import { ALL_TEXTS, goodBefore } from '#core/embedding/good-moments.ts'
import {
  TORN,
  type BadWindow,
  type DeploymentStanding,
  type GoodCheck,
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
    goodSizes: {},
    reason: undefined,
    last,
    badWindows: [],
  }
  if (verdict === 'failed' || result.space !== space) return { ...standing, last }
  const { isQuarantined, lastGoodAtMs, badWindows } = standing
  if (verdict === 'quarantined') {
    const { reason } = result
    return {
      ...standing,
      space,
      isQuarantined: true,
      lastGoodAtMs: wasGoodAt(standing, result),
      reason,
      last,
    }
  }
  if (before?.space === space && atMs <= comparedAtMs(before)) return { ...before, last }
  const ended = { fromMs: lastGoodAtMs ?? 0, untilMs: atMs }
  return {
    ...standing,
    space,
    isQuarantined: false,
    ...goodAt(standing, result, isQuarantined || standing.space !== space),
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

/** The standing after a good probe of a deployment in use. `space`: the model's own at this moment. */
export function standingAfterGood(
  before: DeploymentStanding,
  check: GoodCheck,
  space: string | undefined,
): DeploymentStanding {
  if (before.isQuarantined || before.space !== space || check.space !== space) return before
  return { ...before, ...goodAt(before, check, false) }
}

/** `startsOver`: it was outside until now, so what was good before says nothing. */
function goodAt(
  before: DeploymentStanding,
  good: GoodCheck | ProbeResult,
  startsOver: boolean,
): Pick<DeploymentStanding, 'lastGoodAtMs' | 'goodAtMs' | 'goodSizes'> {
  const { atMs, size } = good
  const goodSizes: Record<string, number> = startsOver ? {} : { ...before.goodSizes }
  const note = (name: string): void => void (goodSizes[name] = Math.max(atMs, goodSizes[name] ?? 0))
  if ('verdict' in good) note(ALL_TEXTS)
  if (size !== undefined) note(sizeName(size))
  const { lastGoodAtMs = -Infinity, goodAtMs } = before
  if (startsOver) return { lastGoodAtMs: atMs, goodAtMs: [], goodSizes }
  if (atMs <= lastGoodAtMs) return { lastGoodAtMs, goodAtMs, goodSizes }
  return { lastGoodAtMs: atMs, goodAtMs: goodsOf(before).slice(-(MAX_GOOD - 1)), goodSizes }
}

/**
 * Where the window of a bad result begins. Undefined: that is not known. The first bad result of a quarantine decides, but replicas
 * that differ did so before the last good answers.
 */
function wasGoodAt(standing: DeploymentStanding, result: ProbeResult): number | undefined {
  const goods = goodsOf(standing).filter((goodAtMs) => goodAtMs <= result.atMs)
  if (isTorn(result)) return goods[0]
  return standing.isQuarantined ? goods.at(-1) : goodBefore(result, goods, standing.goodSizes)
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

import type { BadWindow, DeploymentStanding, ProbeResult } from '#ports/spaces.ts'

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
  const last = before && before.last.atMs > atMs ? before.last : result
  const standing = before ?? {
    model,
    deployment,
    target,
    space: undefined,
    isQuarantined: false,
    lastGoodAtMs: undefined,
    reason: undefined,
    badWindows: [],
  }
  if (verdict === 'failed' || result.space !== space) return { ...standing, last }
  const { isQuarantined, lastGoodAtMs } = standing
  if (verdict === 'quarantined') {
    // When it was good before that is not known.
    const wasGoodAtMs = lastGoodAtMs !== undefined && lastGoodAtMs > atMs ? undefined : lastGoodAtMs
    const { reason } = result
    return { ...standing, space, isQuarantined: true, lastGoodAtMs: wasGoodAtMs, reason, last }
  }
  if (before?.space === space && atMs <= comparedAtMs(before)) return { ...before, last }
  const ended = { fromMs: lastGoodAtMs ?? 0, untilMs: atMs }
  return {
    ...standing,
    space,
    isQuarantined: false,
    lastGoodAtMs: atMs,
    reason: result.reason,
    last,
    badWindows: isQuarantined ? bounded([...standing.badWindows, ended]) : standing.badWindows,
  }
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

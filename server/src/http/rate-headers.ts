import type { RateState } from '#core/limits/limit.ts'

/** OpenAI's rate-limit headers. Where a key and its project both limit a unit, the headers show the one with less left. */
export function rateHeaders(states: readonly RateState[]): string[] {
  const headers: string[] = []
  const seen = new Set<string>()
  for (const { limit } of states) {
    const { unit } = limit
    if (seen.has(unit)) continue
    seen.add(unit)
    const tightest = states
      .filter((state) => state.limit.unit === unit)
      .reduce((least, state) => (state.remaining < least.remaining ? state : least))
    headers.push(
      `x-ratelimit-limit-${unit}`,
      String(tightest.limit.perMinute),
      `x-ratelimit-remaining-${unit}`,
      String(tightest.remaining),
      `x-ratelimit-reset-${unit}`,
      durationText(tightest.resetMs),
    )
  }
  return headers
}

/** `850ms`, `1.5s`, `1m30s`: as OpenAI writes them. */
function durationText(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`
  const minutes = Math.floor(ms / 60_000)
  const seconds = Math.round((ms - minutes * 60_000) / 100) / 10
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds}s`
}

/** Fourteen days of invented looks at vector spaces: all good but for twelve hours near the edge, and one deployment that has left. */
import { chanceFrom } from './chance.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const DAYS = 14
const EVERY_MS = HOUR_MS / 4
/** The traffic of now tells the last hour itself. */
const UNTIL_MS = HOUR_MS

interface LookRow {
  readonly deployment: string
  readonly atMs: number
  readonly verdict: 'good' | 'warned' | 'quarantined' | 'failed'
  readonly cosine: number | null
  readonly lengthDrift: number | null
}

/** `left` has been outside of its space for five hours, as the slots of deployments have it. */
export function inventedLooks(
  deployments: readonly string[],
  left: string,
  nowMs: number,
): readonly LookRow[] {
  const chance = chanceFrom(14)
  const rows: LookRow[] = []
  for (const [rank, deployment] of deployments.entries())
    for (let atMs = nowMs - DAYS * DAY_MS; atMs < nowMs - UNTIL_MS; atMs += EVERY_MS) {
      const agoMs = nowMs - atMs
      const isLeft = deployment === left
      if (chance.share() < 0.003) {
        rows.push({ deployment, atMs, verdict: 'failed', cosine: null, lengthDrift: null })
        continue
      }
      if (isLeft && agoMs < 5 * HOUR_MS) {
        rows.push({ deployment, atMs, verdict: 'quarantined', cosine: 0.4127, lengthDrift: 0.312 })
        continue
      }
      if (isLeft && agoMs > 6 * DAY_MS && agoMs < 6.5 * DAY_MS) {
        rows.push({ deployment, atMs, verdict: 'warned', cosine: 0.9969, lengthDrift: 0.0004 })
        continue
      }
      // Another machine answers a little differently each time.
      const distance = (rank === 0 ? 1.2e-7 : 2.6e-7) * (0.6 + chance.share())
      rows.push({
        deployment,
        atMs,
        verdict: 'good',
        cosine: 1 - distance,
        lengthDrift: chance.share() * 1e-6,
      })
    }
  return rows
}

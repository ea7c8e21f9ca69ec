/** Suspect windows open and end in the transaction of the standing that they follow. */
import type { DeploymentStanding, ProbeResult } from '#ports/spaces.ts'
import type { Sql } from './database.ts'

const GOOD_POINTS = `
  FROM space_probes WHERE model = $1 AND deployment = $2 AND target = $3 AND space = $4 AND verdict IN ('good', 'warned')`

const WINDOWS = `FROM suspect_windows WHERE model = $1 AND deployment = $2`

/**
 * From the last good check before the bad result `$5` to the first after it, if there is one: results may come late. `$6`: where the
 * standing says that it begins; without it the points do. `$7`: a later good check that the standing knows. No vector is in two
 * windows, and no window begins earlier than it did: its batches are listed. So a result that reaches back behind
 * an open window, as one about replicas that differ does, adds what lies before it. A deployment without a good check was held back,
 * and has handed out nothing.
 */
const OPEN = `
WITH good AS (
  SELECT coalesce($6::timestamptz, (SELECT max(at) ${GOOD_POINTS} AND at < $5)) AS before,
    least($7::timestamptz, (SELECT min(at) ${GOOD_POINTS} AND at > $5)) AS after
), around AS (
  SELECT from_at ${WINDOWS} AND from_at <= $5 AND (until_at IS NULL OR until_at > $5)
), bounds AS (
  SELECT greatest(before, (SELECT max(until_at) ${WINDOWS} AND until_at <= coalesce(around.from_at, $5))) AS from_at,
    coalesce(around.from_at, least(after, (SELECT min(from_at) ${WINDOWS} AND from_at > $5))) AS until_at
  FROM good LEFT JOIN around ON true WHERE before IS NOT NULL
)
INSERT INTO suspect_windows (window_id, model, deployment, target, space, from_at, until_at)
SELECT 'sus_' || replace(gen_random_uuid()::text, '-', ''), $1, $2, $3, $4, from_at, until_at FROM bounds
WHERE until_at IS NULL OR from_at < until_at`

/** An ended window is listed again from the start of the schedule: nodes that were cut off report late. */
const ENDED = `next_listing_at = now() + interval '5 seconds', listings = 0`

/** A good result under another address ends it too: from then on the name stands for another deployment. */
const END = `
UPDATE suspect_windows SET until_at = $3, ${ENDED}
WHERE model = $1 AND deployment = $2 AND until_at IS NULL AND from_at < $3`

const END_ALL = `
UPDATE suspect_windows SET until_at = greatest(from_at, $2), ${ENDED} WHERE model = $1 AND until_at IS NULL`

/** `space`: the model's own at this moment. */
export async function followStanding(
  sql: Sql,
  { before, after }: { readonly before: DeploymentStanding | undefined; readonly after: DeploymentStanding },
  result: ProbeResult,
  space: string | undefined,
): Promise<void> {
  const { model, deployment, target, atMs, verdict } = result
  if (verdict === 'failed' || result.space !== space) return
  const at = new Date(atMs)
  if (verdict !== 'quarantined') {
    // A late good result lifts nothing.
    if (!after.isQuarantined) await sql.query(END, [model, deployment, at])
    return
  }
  const lastGoodAtMs = before?.space === space ? before?.lastGoodAtMs : undefined
  // A good probe after it ends the window. One of a deployment in use does not: it may have had other texts, or another size.
  const isLate = lastGoodAtMs !== undefined && lastGoodAtMs > atMs && result.isInUse !== true
  const isKnown = before?.space === space && after.lastGoodAtMs !== undefined
  const from = isKnown ? new Date(after.lastGoodAtMs) : null
  const until = isLate ? new Date(lastGoodAtMs) : null
  await sql.query(OPEN, [model, deployment, target, space, at, from, until])
}

/** An admin accepts another space: what follows is not of this one. */
export async function endWindows(sql: Sql, model: string, acceptedAtMs: number): Promise<void> {
  await sql.query(END_ALL, [model, new Date(acceptedAtMs)])
}

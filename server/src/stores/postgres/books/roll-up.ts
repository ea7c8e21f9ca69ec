/** Days out of hours. */
import type { Sql } from '../database.ts'

const ROLL_UP = `
INSERT INTO usage_days AS days (
  day, project, key_id, model, deployment, posts, unknowns, tokens, images, amount_nano, unpriced,
  requests, hits, saved_nano, unknown_nano
)
SELECT (hour AT TIME ZONE 'UTC')::date, project, key_id, model, deployment,
  sum(posts), sum(unknowns), sum(tokens), sum(images), sum(amount_nano), sum(unpriced),
  sum(requests), sum(hits), sum(saved_nano), sum(unknown_nano)
FROM usage_hours WHERE hour >= $1 AND hour < $2 AND ($3::text IS NULL OR project = $3)
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
ON CONFLICT (day, project, key_id, model, deployment) DO UPDATE SET
  posts = excluded.posts, unknowns = excluded.unknowns, tokens = excluded.tokens, images = excluded.images,
  amount_nano = excluded.amount_nano, unpriced = excluded.unpriced, requests = excluded.requests,
  hits = excluded.hits, saved_nano = excluded.saved_nano, unknown_nano = excluded.unknown_nano
WHERE (days.posts, days.unknowns, days.tokens, days.images, days.amount_nano, days.unpriced,
    days.requests, days.hits, days.saved_nano, days.unknown_nano)
  IS DISTINCT FROM
  (excluded.posts, excluded.unknowns, excluded.tokens, excluded.images, excluded.amount_nano, excluded.unpriced,
    excluded.requests, excluded.hits, excluded.saved_nano, excluded.unknown_nano)`

/** The same days without their keys. */
const ROLL_UP_GROUPS = `
INSERT INTO usage_group_days AS days (
  day, project, model, deployment, posts, unknowns, tokens, images, amount_nano, unpriced, requests, hits, saved_nano,
  unknown_nano
)
SELECT day, project, model, deployment, sum(posts), sum(unknowns), sum(tokens), sum(images), sum(amount_nano),
  sum(unpriced), sum(requests), sum(hits), sum(saved_nano), sum(unknown_nano)
FROM usage_days
WHERE day >= ($1::timestamptz AT TIME ZONE 'UTC')::date
  AND ($2::text = 'infinity' OR day < ($2::text::timestamptz AT TIME ZONE 'UTC')::date) AND ($3::text IS NULL OR project = $3)
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
ON CONFLICT (day, project, model, deployment) DO UPDATE SET
  posts = excluded.posts, unknowns = excluded.unknowns, tokens = excluded.tokens, images = excluded.images,
  amount_nano = excluded.amount_nano, unpriced = excluded.unpriced, requests = excluded.requests,
  hits = excluded.hits, saved_nano = excluded.saved_nano, unknown_nano = excluded.unknown_nano
WHERE (days.posts, days.unknowns, days.tokens, days.images, days.amount_nano, days.unpriced,
    days.requests, days.hits, days.saved_nano, days.unknown_nano)
  IS DISTINCT FROM
  (excluded.posts, excluded.unknowns, excluded.tokens, excluded.images, excluded.amount_nano, excluded.unpriced,
    excluded.requests, excluded.hits, excluded.saved_nano, excluded.unknown_nano)`

/** Of one project, or of all. Doing it again changes nothing. */
export async function rollUpDays(
  sql: Sql,
  from: Date,
  end: Date | 'infinity',
  project?: string,
): Promise<void> {
  await sql.query(ROLL_UP, [from, end, project ?? null])
  const endText = end === 'infinity' ? end : end.toISOString()
  await sql.query(ROLL_UP_GROUPS, [from, endText, project ?? null])
}

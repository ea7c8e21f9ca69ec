/** The lists of keys as SQL conditions. `core/keys/key-hygiene.ts` has the same rules; the contract suite checks that both agree. */
import { ENDS_SOON_MS, IDLE_MS, KEY_STATES, type KeyState } from '#core/keys/key-hygiene.ts'
import { NO_END_RANK, type KeyOrder } from '#core/keys/key-order.ts'
import type { KeyFilter, KeyMoment } from '#ports/key-store.ts'

/** $1: projects, $2: text, $3: now, $4: the current pepper. */
export const FILTER = `
  ($1::text[] IS NULL OR keys.project = ANY ($1)) AND ($2::text = '' OR strpos(lower(keys.key_id), lower($2)) > 0
    OR EXISTS (SELECT FROM key_secrets AS own WHERE own.key_id = keys.key_id AND right(own.tail, length($2)) = $2))
  AND $3::timestamptz IS NOT NULL AND $4::text IS NOT NULL`

const HAS_ENDED = '(keys.revoked_at IS NOT NULL OR coalesce(keys.expires_at <= $3, false))'

const ENDS_SOON = `keys.expires_at <= $3 + interval '${ENDS_SOON_MS} milliseconds'`

const IS_TIDY = `
  (keys.expires_at IS NULL OR (keys.limits = '{}' AND keys.budget IS NULL)
    OR coalesce(keys.last_used_at, keys.created_at) < $3 - interval '${IDLE_MS} milliseconds'
    OR EXISTS (SELECT FROM key_secrets AS own WHERE own.key_id = keys.key_id AND own.pepper <> $4))`

export const IS_IN: Readonly<Record<KeyState, string>> = {
  active: `NOT ${HAS_ENDED}`,
  ending: `NOT ${HAS_ENDED} AND ${ENDS_SOON}`,
  tidy: `NOT ${HAS_ENDED} AND ${IS_TIDY}`,
  revoked: HAS_ENDED,
}

/** The same order as `core/keys/key-order.ts` has for a record. */
export const RANK: Readonly<Record<KeyOrder, string>> = {
  id: '0::bigint',
  '-used': '-coalesce(floor(extract(epoch FROM keys.last_used_at) * 1000), 0)::bigint',
  ends: `coalesce(floor(extract(epoch FROM keys.expires_at) * 1000), ${NO_END_RANK})::bigint`,
}
/** Below every rank. */
export const FIRST_RANK = -NO_END_RANK

/** $5: the id, and $8: the rank of the last key of the page before. Ids alone are found by their index. */
export const BEHIND: Readonly<Record<KeyOrder, string>> = {
  id: 'keys.key_id > $5',
  '-used': `(${RANK['-used']}, keys.key_id) > ($8, $5)`,
  ends: `(${RANK.ends}, keys.key_id) > ($8, $5)`,
}

export const COUNT_KEYS = `
  SELECT ${KEY_STATES.map((state) => `count(*) FILTER (WHERE ${IS_IN[state]})::integer AS ${state}`).join(', ')}
  FROM keys WHERE ${FILTER}`

export const COUNT_BY_PROJECT = `
  SELECT project, count(*)::integer AS keys FROM keys
  WHERE project = ANY ($1) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) GROUP BY project`

export function filterValues({ projects, text = '', nowMs, pepper }: KeyFilter & KeyMoment): unknown[] {
  return [projects ?? null, text, new Date(nowMs), pepper]
}

/** Probes of vector spaces, and the keys whose requests name a space. */
import { z } from 'zod'
import { PROBE_TEXTS } from '#core/embedding/probe-texts.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { DAY_MS, lowestIdAt } from '#core/money/id-range.ts'
import { time } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'

export const spaceProbe = z
  .object({
    at: time,
    deployment: z.string(),
    space: z.string().describe('The space that the probe was compared with.'),
    verdict: z
      .enum(['good', 'warned', 'quarantined', 'failed'])
      .describe(
        '`warned`: near the limit. `quarantined`: outside the space. `failed`: the probe got no answer, which changes nothing.',
      ),
    cosines: z
      .array(z.number())
      .nullable()
      .describe(
        'The cosine of each of the eight probe texts with its reference, then of the three probe images if the deployment takes images. null: nothing could be compared, or one text alone.',
      ),
    least_cosine: z
      .number()
      .nullable()
      .describe(
        'The least of these cosines. Images have wider limits than texts. null: nothing could be compared.',
      ),
    norm_drift: z
      .number()
      .nullable()
      .describe('The largest relative difference between the length of a vector and its reference.'),
    reason: z.string().nullable(),
  })
  .meta({ id: 'SpaceProbe' })

export const spaceSlot = z
  .object({
    at: time.describe('Where the slot begins.'),
    deployment: z.string(),
    space: z.string(),
    looks: z.int(),
    failed: z.int().describe('Looks that got no answer, which is no drift.'),
    verdict: z.enum(['good', 'warned', 'quarantined', 'failed']).describe('The worst of the slot.'),
    least_cosine: z.number().nullable(),
    least_text_cosine: z.number().nullable().describe('Texts and images have limits of their own.'),
    least_image_cosine: z.number().nullable().describe('null: the deployment takes no images.'),
    norm_drift: z.number().nullable(),
  })
  .meta({ id: 'SpaceSlot' })

const SERIES = `
SELECT at, deployment, space, verdict, cosines, least_cosine, norm_drift, reason
FROM space_probes WHERE model = $1 AND at >= $2 ORDER BY at DESC, deployment, target LIMIT $3`

/** Verdicts, the worst last. `failed` comes first: a probe without an answer is no drift. */
const VERDICTS = `'{failed,good,warned,quarantined}'::text[]`

/** The worst probe of each slot, because a mean would hide a quarter of an hour. $3: seconds. */
const SLOTS = `
SELECT date_bin(make_interval(secs => $3), at, timestamptz 'epoch') AS at, deployment, space, count(*) AS looks,
  count(*) FILTER (WHERE verdict = 'failed') AS failed,
  (${VERDICTS})[max(array_position(${VERDICTS}, verdict))] AS verdict,
  min(least_cosine) AS least_cosine,
  min(coalesce((SELECT min(one) FROM unnest(cosines[1:${PROBE_TEXTS.length}]) AS one), least_cosine)) AS least_text_cosine,
  min((SELECT min(one) FROM unnest(cosines[${PROBE_TEXTS.length + 1}:]) AS one)) AS least_image_cosine,
  max(norm_drift) AS norm_drift
FROM space_probes WHERE model = $1 AND at >= $2 GROUP BY 1, 2, 3 ORDER BY 1 DESC, 2, 3 LIMIT $4`

/** Requests that are counted, the newest. Their index alone answers, in some tens of milliseconds. */
const MAX_PINNED = 100_000

const PINS = `
SELECT pinned_space AS space, key_id AS key, count(*) AS requests_24h FROM (
  SELECT pinned_space, key_id FROM requests
  WHERE request_id >= $1 AND pinned_space IS NOT NULL ORDER BY request_id DESC LIMIT ${MAX_PINNED}
) AS newest WHERE key_id IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC, 2, 1`

/** Newest first. */
export function listProbes(sql: Sql, model: string, since: Date, limit: number) {
  return answersOf<z.output<typeof spaceProbe>>(sql, SERIES, [model, since, limit])
}

/** Newest first. */
export function listSlots(sql: Sql, model: string, since: Date, slotSeconds: number, limit: number) {
  return answersOf<z.output<typeof spaceSlot>>(sql, SLOTS, [model, since, slotSeconds, limit])
}

/** A key whose requests named a space within 24 hours. */
export interface SpacePin {
  readonly key: string
  readonly space: string
  readonly requests_24h: number
}

/** The busiest first. */
export function listPins(sql: Sql, nowMs: number) {
  return answersOf<SpacePin>(sql, PINS, [lowestIdAt(nowMs - DAY_MS)])
}

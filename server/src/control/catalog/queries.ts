/** What the calls of the last 30 days would have cost at other prices, from the rows of the ledger. */
import { z } from 'zod'
import { decimalOf } from '#core/money/price.ts'
import { HOUR_MS } from '#core/money/ledger.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { lowestIdAt } from '#core/money/id-range.ts'
import { usd } from '../shared/fields.ts'
import { DAY_MS } from '../shared/times.ts'
import type { RowRate } from './bill-rules.ts'

/** Days of the ledger that a new price is tried on. */
const BILL_DAYS = 30
/** Time for reading them. A ledger that takes longer is too large for a page. */
const MAX_READING_MS = 20_000

export const bill = z
  .object({
    calls: z.int().describe('Calls of the last 30 days whose usage is known.'),
    before_usd: usd.describe('What they cost, by the ledger.'),
    after_usd: usd.nullable().describe('What they would have cost. null: see `problem`.'),
    unpriced_calls: z.int().describe('Of these calls: those that had no price, and count as nothing before.'),
    left_out_calls: z.int().describe('Calls in neither sum: their outcome or usage is unknown.'),
    left_out_usd: usd.describe('What the ledger has for those.'),
    problem: z.string().nullable().describe('Why the rows of the ledger do not decide it.'),
  })
  .meta({ id: 'CatalogBill' })

/** Sums of one deployment. */
interface Sums {
  readonly deployment: string
  readonly calls: bigint
  readonly before_nano: bigint
  readonly after_nano: bigint
  readonly unpriced_calls: bigint
  readonly left_out_calls: bigint
  readonly left_out_nano: bigint
}

/**
 * Rows of one call of one request are added up first: an outcome that became known late, and the shares of several labels, are
 * rows of their own, and the cost of a call is rounded up once. A cost that is the upstream's own figure stays as it is.
 */
const SUMS = `
WITH rates AS (
  SELECT * FROM unnest($3::text[], $4::bigint[], $5::bigint[]) AS rates (deployment, per_million_tokens, per_image)
), calls AS (
  SELECT deployment, coalesce(sum(amount_nano), 0) AS amount, sum(tokens) AS tokens, sum(images) AS images,
    bool_or(kind = 'post') AS is_posted, bool_or(kind = 'void') AND NOT bool_or(kind = 'post') AS is_void,
    bool_and(amount_nano IS NULL) AS is_unpriced, bool_or(remarks ->> 'costBy' = 'upstream') AS is_metered
  FROM usage_events
  WHERE request_id >= $1::uuid AND request_id < $2::uuid AND deployment IN (SELECT deployment FROM rates) AND kind <> 'intent'
  GROUP BY deployment, request_id, call_id
), priced AS (
  SELECT deployment, amount, is_unpriced, is_void, is_void OR (is_posted AND (tokens IS NOT NULL OR per_million_tokens = 0)) AS is_known,
    CASE WHEN is_void OR is_metered THEN amount
      ELSE div(coalesce(tokens, 0) * per_million_tokens + 999999, 1000000) + images * per_image END AS after
  FROM calls JOIN rates USING (deployment)
)
SELECT deployment,
  count(*) FILTER (WHERE is_known)::bigint AS calls,
  coalesce(sum(amount) FILTER (WHERE is_known), 0)::bigint AS before_nano,
  coalesce(sum(after) FILTER (WHERE is_known), 0)::bigint AS after_nano,
  count(*) FILTER (WHERE is_known AND is_unpriced AND NOT is_void)::bigint AS unpriced_calls,
  count(*) FILTER (WHERE is_known IS NOT TRUE)::bigint AS left_out_calls,
  coalesce(sum(amount) FILTER (WHERE is_known IS NOT TRUE), 0)::bigint AS left_out_nano
FROM priced GROUP BY deployment`

export interface RatedDeployment {
  readonly deployment: string
  /** Undefined: the rows of the ledger don't decide it. */
  readonly rate: RowRate | undefined
  readonly problem: string | undefined
}

/** By deployment. Hour by hour, so that no statement takes long. */
export async function billsOf(
  sql: Sql,
  deployments: readonly RatedDeployment[],
  clock: { readonly nowMs: () => number; readonly monotonicMs: () => number },
): Promise<ReadonlyMap<string, z.output<typeof bill>>> {
  const sums = new Map<string, Sums>()
  const toMs = clock.nowMs()
  const startMs = clock.monotonicMs()
  let isWhole = true
  for (let fromMs = toMs - BILL_DAYS * DAY_MS; fromMs < toMs && isWhole; fromMs += HOUR_MS) {
    const values = [
      lowestIdAt(fromMs),
      lowestIdAt(Math.min(fromMs + HOUR_MS, toMs)),
      deployments.map(({ deployment }) => deployment),
      deployments.map(({ rate }) => rate?.nanoUsdPerMillionTokens ?? 0n),
      deployments.map(({ rate }) => rate?.nanoUsdPerImage ?? 0n),
    ]
    for (const row of await sql.query<Sums>(SUMS, values))
      sums.set(row.deployment, added(sums.get(row.deployment), row))
    isWhole = clock.monotonicMs() - startMs < MAX_READING_MS
  }
  const late = isWhole
    ? undefined
    : `the ledger of ${BILL_DAYS} days takes longer than ${MAX_READING_MS / 1000} s to read`
  return new Map(
    deployments.map(({ deployment, problem }) => [
      deployment,
      billBody(sums.get(deployment), late ?? problem),
    ]),
  )
}

function added(sum: Sums | undefined, row: Sums): Sums {
  if (sum === undefined) return row
  return {
    deployment: row.deployment,
    calls: sum.calls + row.calls,
    before_nano: sum.before_nano + row.before_nano,
    after_nano: sum.after_nano + row.after_nano,
    unpriced_calls: sum.unpriced_calls + row.unpriced_calls,
    left_out_calls: sum.left_out_calls + row.left_out_calls,
    left_out_nano: sum.left_out_nano + row.left_out_nano,
  }
}

function billBody(sums: Sums | undefined, problem: string | undefined): z.output<typeof bill> {
  return {
    calls: Number(sums?.calls ?? 0n),
    before_usd: decimalOf(sums?.before_nano ?? 0n),
    after_usd: problem === undefined ? decimalOf(sums?.after_nano ?? 0n) : null,
    unpriced_calls: Number(sums?.unpriced_calls ?? 0n),
    left_out_calls: Number(sums?.left_out_calls ?? 0n),
    left_out_usd: decimalOf(sums?.left_out_nano ?? 0n),
    problem: problem ?? null,
  }
}

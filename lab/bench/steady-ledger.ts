/** What the ledger must contain after a run of equal requests, counted without code of the server. */
import { Client } from 'pg'
import type { SentPart } from '../sender.ts'
import type { Report } from '../report.ts'

/** That of all its requests: the ledger may hold entries of others. */
export const BENCH_PROJECT = 'bench'
/** Of nginx's fixed answer. */
const TOKENS = 8n
/** 0.02 dollars per million tokens. */
const NANO_USD_OF_TOKEN = 20n

interface Sums {
  readonly posts: string
  readonly unknowns: string
  readonly tokens: string
  readonly amount: string
  readonly rollup_posts: string
  readonly rollup_amount: string
}

/** A request without an answer may be in the ledger or not; one with an answer must be, once. */
export async function judgeLedger(url: string, parts: readonly SentPart[], report: Report): Promise<void> {
  const count = (of: (part: SentPart) => number): bigint =>
    BigInt(parts.reduce((sum, part) => sum + of(part), 0))
  const [sent, answered] = [count((part) => part.sent), count((part) => part.answered)]
  const sums = await sumsOf(url)
  const posts = BigInt(sums.posts)
  const range = sent === answered ? String(sent) : `${answered} to ${sent}`
  report.aim('requests in the ledger', String(posts), range, posts >= answered && posts <= sent)
  report.aim('their tokens', sums.tokens, String(posts * TOKENS), BigInt(sums.tokens) === posts * TOKENS)
  const due = posts * TOKENS * NANO_USD_OF_TOKEN
  report.aim('their nano-dollars', sums.amount, String(due), BigInt(sums.amount) === due)
  report.aim('calls with an unknown outcome', sums.unknowns, '0', sums.unknowns === '0')
  report.aim('requests in the rollups', sums.rollup_posts, sums.posts, sums.rollup_posts === sums.posts)
  report.aim(
    'nano-dollars in the rollups',
    sums.rollup_amount,
    sums.amount,
    sums.rollup_amount === sums.amount,
  )
}

async function sumsOf(url: string): Promise<Sums> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Sums>(
      `SELECT ledger.*, rollups.* FROM
         (SELECT count(*) FILTER (WHERE kind = 'post')::text AS posts,
                 count(*) FILTER (WHERE kind = 'unknown')::text AS unknowns,
                 coalesce(sum(tokens), 0)::text AS tokens, coalesce(sum(amount_nano), 0)::text AS amount
          FROM usage_events WHERE project = $1) AS ledger,
         (SELECT coalesce(sum(posts), 0)::text AS rollup_posts, coalesce(sum(amount_nano), 0)::text AS rollup_amount
          FROM usage_hours WHERE project = $1) AS rollups`,
      [BENCH_PROJECT],
    )
    return rows[0] as Sums
  } finally {
    await client.end()
  }
}

import type { UpstreamListing } from '#core/catalog/listed-ends.ts'
import type { CountedSubstitution, EndNotice, ModelEndStore } from '#ports/model-ends.ts'
import type { WebhookEvent } from '#ports/webhooks.ts'
import type { Database } from '../database.ts'
import { changeDirectory } from '../directory/directory.ts'
import { enqueueWebhooks } from '../jobs/webhooks.ts'
import { DAY_MS } from '#core/money/id-range.ts'
import { reachable } from '../unreachable.ts'

const KEEP = `
INSERT INTO upstream_listings (upstream, address, read_at, ends) VALUES ($1, $2, $3, $4)
ON CONFLICT (upstream) DO UPDATE SET address = excluded.address, read_at = excluded.read_at, ends = excluded.ends`

/** $1 to $2: days, which are made of hours every ten minutes; from $2 on: hours. */
const USING = `
SELECT DISTINCT model, project FROM (
  SELECT model COLLATE "C" AS model, project COLLATE "C" AS project FROM usage_days
  WHERE day >= ($1 AT TIME ZONE 'UTC')::date AND day < ($2 AT TIME ZONE 'UTC')::date AND model = ANY($3) AND requests > 0
  UNION ALL
  SELECT model, project FROM usage_hours WHERE hour >= $2::timestamptz AND model = ANY($3) AND requests > 0
) AS used WHERE project <> 'system' ORDER BY model, project`

const SEND = `
INSERT INTO model_end_notices (upstream, model, ends_on, days, sent_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING RETURNING 1`

const ADD_SUBSTITUTIONS = `
INSERT INTO substitutions AS kept (deployment, asked, answered, answers, first_at, last_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::timestamptz[])
  AS given (deployment, asked, answered) ORDER BY deployment, asked, answered
ON CONFLICT (deployment, asked, answered) DO UPDATE SET answers = kept.answers + excluded.answers,
  first_at = least(kept.first_at, excluded.first_at), last_at = greatest(kept.last_at, excluded.last_at)`

/** A name that has not answered for long says nothing of the upstream today. */
const FORGET_SUBSTITUTIONS = `DELETE FROM substitutions WHERE last_at < $1::timestamptz - interval '90 days'`

/** Days in which one request makes a project a user of a model: long enough for monthly jobs. */
const USED_DAYS = 30

export class PostgresModelEnds implements ModelEndStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async listings(): Promise<readonly UpstreamListing[]> {
    type Row = Omit<UpstreamListing, 'readAt'> & { readonly read_at: Date }
    const rows = await reachable(
      this.#database.query<Row>(
        'SELECT upstream, address, read_at, ends FROM upstream_listings ORDER BY upstream',
      ),
    )
    return rows.map(({ read_at: readAt, ...row }) => ({ ...row, readAt: readAt.toISOString() }))
  }

  async keepListing({ upstream, address, readAt, ends }: UpstreamListing): Promise<void> {
    await changeDirectory(this.#database, async (sql) => {
      await sql.query(KEEP, [upstream, address, readAt, JSON.stringify(ends)])
      return { result: undefined, audit: [] }
    })
  }

  async notices(models: readonly string[]): Promise<readonly EndNotice[]> {
    return reachable(
      this.#database.query<EndNotice>(
        'SELECT upstream, model, ends_on AS "on", days FROM model_end_notices WHERE model = ANY($1)',
        [models],
      ),
    )
  }

  async projectsUsing(
    models: readonly string[],
    nowMs: number,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const today = Math.floor(nowMs / DAY_MS) * DAY_MS
    const [from, fresh] = [new Date(today - USED_DAYS * DAY_MS), new Date(today - DAY_MS)]
    const rows = await reachable(
      this.#database.query<{ model: string; project: string }>(USING, [from, fresh, models]),
    )
    const byModel = Map.groupBy(rows, ({ model }) => model)
    return new Map([...byModel].map(([model, own]) => [model, own.map(({ project }) => project)]))
  }

  send(
    { upstream, model, on, days }: EndNotice,
    sentAtMs: number,
    events: readonly WebhookEvent[],
  ): Promise<boolean> {
    return reachable(
      this.#database.transaction(async (sql) => {
        const added = await sql.query(SEND, [upstream, model, on, days, new Date(sentAtMs)])
        if (added.length > 0) await enqueueWebhooks(sql, events)
        return added.length > 0
      }),
    )
  }

  async addSubstitutions(counted: readonly CountedSubstitution[]): Promise<void> {
    const column = (value: (one: CountedSubstitution) => string | number) => counted.map(value)
    await reachable(
      this.#database.query(ADD_SUBSTITUTIONS, [
        column(({ deployment }) => deployment),
        column(({ asked }) => asked),
        column(({ answered }) => answered),
        column(({ answers }) => answers),
        column(({ firstAt }) => firstAt),
        column(({ lastAt }) => lastAt),
      ]),
    )
    const [newest] = counted
      .map(({ lastAt }) => lastAt)
      .toSorted()
      .slice(-1)
    await reachable(this.#database.query(FORGET_SUBSTITUTIONS, [newest]))
  }
}

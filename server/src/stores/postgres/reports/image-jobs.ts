/** Reads image jobs for people. */
import type { ImageJobReports, JobFilter, ReportedJob } from '#ports/image-job-reports.ts'
import type { ImageJobState } from '#ports/image-jobs.ts'
import { CredentialLost, type SealingKeys } from '#ports/credentials.ts'
import { openSecret } from '../../envelope.ts'
import { reachable } from '../away.ts'
import type { Database } from '../database.ts'
import { lowestIdAt } from '../books/upkeep-ids.ts'
import { ownerOfResult } from '../jobs/image-jobs.ts'

interface JobRow {
  readonly job_id: string
  readonly project: string
  readonly key_id: string
  readonly model: string
  readonly state: ImageJobState
  readonly created_at: Date
  readonly ended_at: Date | null
  readonly answered_at: Date | null
  readonly kept_until: Date | null
  readonly result_key: Buffer | null
  readonly result_sealed: Buffer | null
  readonly route: string | null
  readonly amount_nano: bigint | null
  readonly holders: readonly { readonly node: string; readonly from: string }[]
}

/** What a job cost stands in the ledger, also when its caller had left. */
const SELECT = `
SELECT job_id, jobs.project, jobs.key_id, jobs.model, state, created_at, ended_at, answered_at, result_key, result_sealed,
  requests.route,
  (SELECT coalesce(batches.ended_at, now()) + results_kept_ms * interval '1 ms' FROM batches
    WHERE batches.batch_id = jobs.batch_id) AS kept_until,
  (SELECT sum(amount_nano)::bigint FROM usage_events WHERE usage_events.request_id = job_id) AS amount_nano,
  coalesce((
    SELECT jsonb_agg(jsonb_build_object('node', coalesce(nodes.host, left(held.one->>'node', 8)), 'from', held.one->>'from')
      ORDER BY held.one->>'from')
    FROM jsonb_array_elements(jobs.holders) AS held (one) LEFT JOIN nodes ON nodes.node_id = (held.one->>'node')::uuid
  ), '[]') AS holders
FROM image_jobs AS jobs LEFT JOIN requests ON requests.request_id = job_id`

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

export class PostgresImageJobReports implements ImageJobReports {
  readonly #database: Database
  readonly #keys: SealingKeys

  constructor(database: Database, keys: SealingKeys) {
    this.#database = database
    this.#keys = keys
  }

  async list(
    { projects, keyEnd, model, states, sinceMs }: JobFilter,
    { limit, after }: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<readonly ReportedJob[]> {
    const rows = await reachable(
      this.#database.query<JobRow>(
        `${SELECT} WHERE ($1::text[] IS NULL OR jobs.project = ANY ($1)) AND ($2::text IS NULL OR right(jobs.key_id, length($2)) = $2)
           AND ($3::text IS NULL OR jobs.model = $3) AND ($4::text[] IS NULL OR state = ANY ($4))
           AND ($5::uuid IS NULL OR job_id < $5) AND job_id >= $7::uuid
         ORDER BY job_id DESC LIMIT $6`,
        [
          projects ?? null,
          keyEnd ?? null,
          model ?? null,
          states ?? null,
          after ?? null,
          limit,
          lowestIdAt(sinceMs ?? 0),
        ],
      ),
    )
    return rows.map((row) => this.#jobOf(row))
  }

  async find(id: string): Promise<ReportedJob | undefined> {
    if (!UUID.test(id)) return undefined
    const [row] = await reachable(this.#database.query<JobRow>(`${SELECT} WHERE job_id = $1`, [id]))
    return row && this.#jobOf(row)
  }

  #jobOf(row: JobRow): ReportedJob {
    return {
      id: row.job_id,
      state: row.state,
      project: row.project,
      key: row.key_id,
      model: row.model,
      route: row.route ?? undefined,
      createdAtMs: row.created_at.getTime(),
      endedAtMs: row.ended_at?.getTime(),
      answeredAtMs: row.answered_at?.getTime(),
      keptUntilMs: row.kept_until?.getTime(),
      result: this.#resultOf(row),
      costNanoUsd: row.amount_nano ?? undefined,
      holders: row.holders.map(({ node, from }) => ({ node, fromMs: Date.parse(from) })),
    }
  }

  /** A job that was sealed with another secret is shown without its pictures. */
  #resultOf({ job_id: id, result_key: sealedKey, result_sealed: sealedSecret }: JobRow): string | undefined {
    if (sealedKey === null || sealedSecret === null) return undefined
    try {
      return openSecret({ sealedKey, sealedSecret }, ownerOfResult(id), this.#keys).secret
    } catch (error) {
      if (error instanceof CredentialLost) return undefined
      throw error
    }
  }
}

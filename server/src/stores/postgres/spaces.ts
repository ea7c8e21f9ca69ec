import type { Actor } from '#ports/audit.ts'
import { spaceIn } from '#core/embedding/space.ts'
import type {
  BadWindow,
  DeploymentStanding,
  GoodCheck,
  OldSpaces,
  ProbeClaim,
  ProbeResult,
  SpaceReference,
  SpaceStore,
} from '#ports/spaces.ts'
import { standingAfter, standingAfterGood } from '../space-standing.ts'
import { writeAudit } from './audit.ts'
import { plainArray } from './arrays.ts'
import { endWindows, followStanding } from './suspect-windows.ts'
import { reachable } from './unreachable.ts'
import type { Database, Sql } from './database.ts'
import { bytesOf, vectorsIn } from './vector-bytes.ts'

const BEGIN = `
INSERT INTO space_references (model, generation, width, space, vectors, deployment, accepted_at, spread)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (model) DO NOTHING RETURNING 1`

const REPLACE = `
INSERT INTO space_references AS there (model, generation, width, space, vectors, deployment, accepted_at, spread,
  accepted_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (model) DO UPDATE SET generation = excluded.generation, width = excluded.width, space = excluded.space,
  vectors = excluded.vectors, deployment = excluded.deployment, accepted_at = excluded.accepted_at,
  spread = excluded.spread, accepted_by = excluded.accepted_by
WHERE there.generation < excluded.generation RETURNING 1`

const ADD_IMAGES = `
INSERT INTO space_image_references (model, generation, vectors, spread) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`

const REFERENCES = `
SELECT texts.*, images.vectors AS image_vectors, images.spread AS image_spread FROM space_references AS texts
LEFT JOIN space_image_references AS images USING (model, generation)`

const ADD_POINT = `
INSERT INTO space_probes (model, at, deployment, target, space, verdict, least_cosine, norm_drift, reason, cosines, is_in_use)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING RETURNING 1`

const KEEP_STANDING = `
INSERT INTO space_standings (model, deployment, target, space, is_quarantined, last_good_at, good_at, good_sizes, reason, last,
  bad_windows)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (model, deployment, target) DO UPDATE SET space = excluded.space, is_quarantined = excluded.is_quarantined,
  last_good_at = excluded.last_good_at, good_at = excluded.good_at, good_sizes = excluded.good_sizes, reason = excluded.reason,
  last = excluded.last, bad_windows = excluded.bad_windows`

/** By the clock of the database, which all nodes share. One that was set back holds up no probe. */
const CLAIM_PROBE = `
UPDATE space_standings SET claims = claims || jsonb_build_object($4::text, moment.ms)
FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms) AS moment
WHERE model = $1 AND deployment = $2 AND target = $3
  AND abs(moment.ms - coalesce((claims ->> $4)::bigint, 0)) >= $5::bigint RETURNING 1`

/** Rows that one statement deletes: a fraction of a second. */
const PAGE_ROWS = 1000

const DELETE_OLD = `
DELETE FROM space_probes WHERE (model, at, deployment, target) IN (
  SELECT model, at, deployment, target FROM space_probes WHERE at < $1 LIMIT ${PAGE_ROWS}
) RETURNING 1`

/** A few rows for each deployment that ever was: no index, no pages. */
const DELETE_OLD_STANDINGS = `
DELETE FROM space_standings WHERE (last->>'atMs')::numeric <
  CASE WHEN is_quarantined OR bad_windows <> '[]' THEN $2::numeric ELSE $1::numeric END`

interface ReferenceRow {
  readonly model: string
  readonly generation: number
  readonly width: number
  readonly vectors: Buffer
  readonly image_vectors: Buffer | null
  readonly spread: number | null
  readonly image_spread: number | null
  readonly deployment: string
  readonly accepted_at: Date
  readonly accepted_by: string | null
}

interface StandingRow {
  readonly model: string
  readonly deployment: string
  readonly target: string
  readonly space: string | null
  readonly is_quarantined: boolean
  readonly last_good_at: Date | null
  readonly good_at: readonly number[]
  readonly good_sizes: Readonly<Record<string, number>>
  readonly reason: string | null
  readonly last: ProbeResult
  readonly bad_windows: readonly BadWindow[]
}

export class PostgresSpaces implements SpaceStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async references(): Promise<readonly SpaceReference[]> {
    const rows = await reachable(this.#database.query<ReferenceRow>(`${REFERENCES} ORDER BY model`))
    return rows.map(referenceOf)
  }

  beginReference(reference: SpaceReference): Promise<SpaceReference> {
    return reachable(
      this.#database.transaction(async (sql) => {
        const begun = await sql.query(BEGIN, valuesOf(reference))
        if (begun.length > 0) await addImagesOf(sql, reference)
        return await inForce(sql, reference.model)
      }),
    )
  }

  addImages(reference: SpaceReference): Promise<SpaceReference> {
    return reachable(
      this.#database.transaction(async (sql) => {
        await addImagesOf(sql, reference)
        return await inForce(sql, reference.model)
      }),
    )
  }

  async replaceReference(reference: SpaceReference, actor: Actor): Promise<void> {
    const { model, deployment } = reference
    await reachable(
      this.#database.transaction(async (sql) => {
        const [before] = await sql.query<{ readonly space: string }>(
          'SELECT space FROM space_references WHERE model = $1 FOR UPDATE',
          [model],
        )
        const replaced = await sql.query(REPLACE, [...valuesOf(reference), actor.name])
        if (replaced.length === 0) return
        await addImagesOf(sql, reference)
        await endWindows(sql, model, reference.acceptedAtMs)
        const detail = { deployment, before: before?.space ?? null, after: spaceIn(reference) }
        await writeAudit(sql, this.#database.auditChain, {
          actor,
          action: 'space.accept',
          target: model,
          detail,
        })
      }),
    )
  }

  async record(result: ProbeResult): Promise<void> {
    await reachable(
      this.#database.transaction(async (sql) => {
        const space = await lockedSpace(sql, result)
        const added = await sql.query(ADD_POINT, pointValues(result))
        if (added.length === 0) return
        const before = await storedStanding(sql, result)
        const after = standingAfter(before, result, space)
        await sql.query(KEEP_STANDING, standingValues(after))
        await followStanding(sql, { before, after }, result, space)
      }),
    )
  }

  async recordGood(checks: readonly GoodCheck[]): Promise<void> {
    for (const check of checks)
      await reachable(
        this.#database.transaction(async (sql) => {
          const space = await lockedSpace(sql, check)
          const before = await storedStanding(sql, check)
          const after = before && standingAfterGood(before, check, space)
          if (after !== undefined && after !== before) await sql.query(KEEP_STANDING, standingValues(after))
        }),
      )
  }

  async claimProbe({ model, deployment, target, name }: ProbeClaim, everyMs: number): Promise<boolean> {
    const values = [model, deployment, target, name, everyMs]
    return (await reachable(this.#database.query(CLAIM_PROBE, values, 'space-claim-probe'))).length > 0
  }

  async standings(): Promise<readonly DeploymentStanding[]> {
    const rows = await reachable(
      this.#database.query<StandingRow>('SELECT * FROM space_standings', [], 'space-standings'),
    )
    return rows.map(standingOf)
  }

  async deleteOld({ pointsBeforeMs, standingsBeforeMs, badStandingsBeforeMs }: OldSpaces): Promise<void> {
    const standings = [standingsBeforeMs, badStandingsBeforeMs]
    await reachable(this.#database.query(DELETE_OLD_STANDINGS, standings))
    for (let rows = PAGE_ROWS; rows === PAGE_ROWS;)
      rows = (await reachable(this.#database.query(DELETE_OLD, [new Date(pointsBeforeMs)]))).length
  }
}

type StandingName = Pick<DeploymentStanding, 'model' | 'deployment' | 'target'>

/**
 * The model's space, which stays so until this is committed. Two results of one deployment are written one after the other.
 */
async function lockedSpace(
  sql: Sql,
  { model, deployment, target }: StandingName,
): Promise<string | undefined> {
  const [current] = await sql.query<{ readonly space: string }>(
    'SELECT space FROM space_references WHERE model = $1 FOR SHARE',
    [model],
  )
  await sql.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
    JSON.stringify(['space', model, deployment, target]),
  ])
  return current?.space
}

async function storedStanding(
  sql: Sql,
  { model, deployment, target }: StandingName,
): Promise<DeploymentStanding | undefined> {
  const [row] = await sql.query<StandingRow>(
    'SELECT * FROM space_standings WHERE model = $1 AND deployment = $2 AND target = $3',
    [model, deployment, target],
  )
  return row && standingOf(row)
}

async function addImagesOf(
  sql: Sql,
  { model, generation, imageVectors, imageSpread }: SpaceReference,
): Promise<void> {
  if (imageVectors !== undefined)
    await sql.query(ADD_IMAGES, [model, generation, bytesOf(imageVectors), imageSpread ?? null])
}

/** A separate statement: it sees the row that another node inserted first. */
async function inForce(sql: Sql, model: string): Promise<SpaceReference> {
  const [row] = await sql.query<ReferenceRow>(`${REFERENCES} WHERE model = $1`, [model])
  return referenceOf(row as ReferenceRow)
}

function valuesOf(reference: SpaceReference): readonly unknown[] {
  const { model, generation, width, vectors, deployment, acceptedAtMs, spread } = reference
  const made = [bytesOf(vectors), deployment, new Date(acceptedAtMs), spread ?? null]
  return [model, generation, width, spaceIn(reference), ...made]
}

function referenceOf(row: ReferenceRow): SpaceReference {
  const { model, generation, width, vectors, deployment } = row
  return {
    model,
    generation,
    width,
    vectors: vectorsIn(vectors, width),
    ...(row.image_vectors !== null && { imageVectors: vectorsIn(row.image_vectors, width) }),
    ...(row.spread !== null && { spread: row.spread }),
    ...(row.image_spread !== null && { imageSpread: row.image_spread }),
    deployment,
    acceptedAtMs: row.accepted_at.getTime(),
    ...(row.accepted_by !== null && { acceptedBy: row.accepted_by }),
  }
}

function pointValues(result: ProbeResult): readonly unknown[] {
  const { model, atMs, deployment, target, space, verdict, cosines, leastCosine, normDrift, reason } = result
  const measured = [
    leastCosine ?? null,
    normDrift ?? null,
    reason ?? null,
    cosines ? plainArray(cosines) : null,
    result.isInUse ?? false,
  ]
  return [model, new Date(atMs), deployment, target, space, verdict, ...measured]
}

function standingValues(standing: DeploymentStanding): readonly unknown[] {
  const { model, deployment, target, space, isQuarantined, lastGoodAtMs, reason, last } = standing
  return [
    model,
    deployment,
    target,
    space ?? null,
    isQuarantined,
    lastGoodAtMs === undefined ? null : new Date(lastGoodAtMs),
    JSON.stringify(standing.goodAtMs),
    JSON.stringify(standing.goodSizes),
    reason ?? null,
    JSON.stringify(last),
    JSON.stringify(standing.badWindows),
  ]
}

function standingOf(row: StandingRow): DeploymentStanding {
  const { last } = row
  return {
    model: row.model,
    deployment: row.deployment,
    target: row.target,
    space: row.space ?? undefined,
    isQuarantined: row.is_quarantined,
    lastGoodAtMs: row.last_good_at?.getTime(),
    goodAtMs: row.good_at,
    goodSizes: row.good_sizes,
    reason: row.reason ?? undefined,
    // JSON leaves out what is undefined.
    last: {
      ...last,
      cosines: last.cosines,
      leastCosine: last.leastCosine,
      normDrift: last.normDrift,
      reason: last.reason,
    },
    badWindows: row.bad_windows,
  }
}

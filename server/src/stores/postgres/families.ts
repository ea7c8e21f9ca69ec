/** Members of families, and the vectors by which they joined. */
import type { FamilyMember, FamilyWitness } from '#ports/spaces.ts'
import type { Database, Sql } from './database.ts'
import { bytesOf, vectorsIn } from './vector-bytes.ts'

const LATEST = `
SELECT * FROM space_family_members AS one
WHERE generation = (SELECT max(generation) FROM space_family_members AS other WHERE other.family = one.family)`

/** Without vectors: every node reads them every two seconds. */
const COLUMNS =
  'family, generation, model, model_generation, is_reference, is_joined, agreement, found, reason, deployment, compared_at'

const KEEP = `
INSERT INTO space_family_members AS there (family, generation, model, model_generation, is_reference, is_joined, agreement, found,
  reason, deployment, compared_at, width, vectors)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (family, generation, model, model_generation) DO UPDATE SET is_joined = excluded.is_joined,
  agreement = excluded.agreement, found = excluded.found, reason = excluded.reason, deployment = excluded.deployment,
  compared_at = excluded.compared_at, vectors = coalesce(there.vectors, excluded.vectors),
  width = CASE WHEN there.vectors IS NULL THEN excluded.width ELSE there.width END`

interface MemberRow {
  readonly family: string
  readonly generation: number
  readonly model: string
  readonly model_generation: number
  readonly is_reference: boolean
  readonly is_joined: boolean
  readonly agreement: number | null
  readonly found: number | null
  readonly reason: string | null
  readonly deployment: string
  readonly compared_at: Date
}

interface WitnessRow extends Pick<MemberRow, 'generation' | 'model' | 'model_generation' | 'is_reference'> {
  readonly width: number
  readonly vectors: Buffer
}

export async function familyMembers(sql: Sql): Promise<readonly FamilyMember[]> {
  const rows = await sql.query<MemberRow>(
    `SELECT ${COLUMNS} FROM (${LATEST}) AS latest ORDER BY family, model, model_generation`,
    [],
    'family-members',
  )
  return rows.map((row) => ({
    family: row.family,
    generation: row.generation,
    model: row.model,
    modelGeneration: row.model_generation,
    isReference: row.is_reference,
    isJoined: row.is_joined,
    agreement: row.agreement ?? undefined,
    found: row.found ?? undefined,
    reason: row.reason ?? undefined,
    deployment: row.deployment,
    comparedAtMs: row.compared_at.getTime(),
  }))
}

export async function familyWitnesses(sql: Sql, family: string): Promise<readonly FamilyWitness[]> {
  const rows = await sql.query<WitnessRow>(
    `SELECT * FROM (${LATEST}) AS latest WHERE family = $1 AND vectors IS NOT NULL ORDER BY model, model_generation`,
    [family],
  )
  return rows.map((row) => ({
    generation: row.generation,
    model: row.model,
    modelGeneration: row.model_generation,
    isReference: row.is_reference,
    vectors: vectorsIn(row.vectors, row.width),
  }))
}

export function beginFamily(
  database: Database,
  member: FamilyMember,
  vectors: readonly Float32Array[],
): Promise<void> {
  const { family, generation } = member
  return database.transaction(async (sql) => {
    const { latest } = await locked(sql, family)
    if (generation !== latest + 1) return
    await sql.query('DELETE FROM space_family_members WHERE family = $1', [family])
    await sql.query(KEEP, valuesOf(member, vectors))
  })
}

export function recordMember(
  database: Database,
  member: FamilyMember,
  vectors: readonly Float32Array[],
  witnesses: number,
): Promise<void> {
  const { family, generation } = member
  return database.transaction(async (sql) => {
    const now = await locked(sql, family)
    if (now.latest === generation && now.witnesses === witnesses)
      await sql.query(KEEP, valuesOf(member, vectors))
  })
}

/** One comparison of a family is written after the other. */
async function locked(
  sql: Sql,
  family: string,
): Promise<{ readonly latest: number; readonly witnesses: number }> {
  await sql.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
    JSON.stringify(['family', family]),
  ])
  const [row] = await sql.query<{ readonly latest: number | null; readonly witnesses: number }>(
    `SELECT max(generation) AS latest, count(vectors)::int AS witnesses FROM (${LATEST}) AS latest WHERE family = $1`,
    [family],
  )
  return { latest: row?.latest ?? 0, witnesses: row?.witnesses ?? 0 }
}

function valuesOf(member: FamilyMember, vectors: readonly Float32Array[]): readonly unknown[] {
  const { family, generation, model, modelGeneration, isReference, isJoined } = member
  return [
    family,
    generation,
    model,
    modelGeneration,
    isReference,
    isJoined,
    member.agreement ?? null,
    member.found ?? null,
    member.reason ?? null,
    member.deployment,
    new Date(member.comparedAtMs),
    vectors[0]?.length ?? 1,
    isJoined ? bytesOf(vectors) : null,
  ]
}

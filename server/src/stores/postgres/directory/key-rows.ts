/** Rows of projects and keys, and their records. */
import type { ConfiguredLimits } from '#core/catalog/catalog.ts'
import type { KeyScope } from '#core/catalog/key-bounds.ts'
import type { KeyRecord, ProjectRecord } from '#ports/key-store.ts'
import { budgetFrom, type BudgetJson } from '../../key-change.ts'

export interface KeyRow {
  readonly key_id: string
  readonly project: string
  readonly name: string
  readonly models: string[] | null
  readonly limits: ConfiguredLimits
  readonly budget: BudgetJson | null
  readonly scopes: KeyScope[] | null
  readonly max_calls_at_once: number | null
  readonly addresses: string[] | null
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly leaked: boolean
  readonly first_used_at: Date | null
  readonly last_used_at: Date | null
  readonly created_at: Date
  readonly version: bigint
  readonly project_limits: ConfiguredLimits
  readonly project_budget: BudgetJson | null
  readonly secrets: readonly {
    readonly digest: string
    readonly pepper: string
    readonly tail: string
    readonly valid_until_ms: number | null
    readonly created_at_ms: number
  }[]
}

/** A key with its project and its secrets. A WHERE clause must follow. */
export const SELECT_KEYS = `
  SELECT keys.key_id, keys.project, keys.name, keys.models, keys.limits, keys.budget, keys.scopes,
    keys.max_calls_at_once, keys.addresses, keys.expires_at, keys.revoked_at, keys.leaked, keys.first_used_at, keys.last_used_at, keys.created_at, greatest(keys.version, projects.version) AS version,
    projects.limits AS project_limits, projects.budget AS project_budget, own.secrets
  FROM keys JOIN projects USING (project) CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_object(
      'digest', encode(digest, 'base64'), 'pepper', pepper, 'tail', tail,
      'valid_until_ms', floor(extract(epoch FROM valid_until) * 1000),
      'created_at_ms', floor(extract(epoch FROM created_at) * 1000)
    ) ORDER BY valid_until DESC NULLS FIRST, created_at DESC), '[]') AS secrets
    FROM key_secrets WHERE key_secrets.key_id = keys.key_id
  ) AS own`

export function keyOf(row: KeyRow): KeyRecord {
  return {
    id: row.key_id,
    project: row.project,
    name: row.name,
    models: row.models ?? undefined,
    limits: row.limits,
    budget: budgetFrom(row.budget),
    scopes: row.scopes ?? undefined,
    maxCallsAtOnce: row.max_calls_at_once ?? undefined,
    addresses: row.addresses ?? undefined,
    expiresAtMs: row.expires_at?.getTime(),
    revokedAtMs: row.revoked_at?.getTime(),
    isLeaked: row.leaked,
    firstUsedAtMs: row.first_used_at?.getTime(),
    lastUsedAtMs: row.last_used_at?.getTime(),
    createdAtMs: row.created_at.getTime(),
    projectTerms: { limits: row.project_limits, budget: budgetFrom(row.project_budget) },
    secrets: row.secrets.map((secret) => ({
      digest: secret.digest,
      pepper: secret.pepper,
      tail: secret.tail,
      validUntilMs: secret.valid_until_ms ?? undefined,
      createdAtMs: secret.created_at_ms,
    })),
    version: row.version,
  }
}

export interface ProjectRow {
  readonly project: string
  readonly limits: ConfiguredLimits
  readonly budget: BudgetJson | null
  readonly created_at: Date
  readonly deleted_at: Date | null
  readonly version: bigint
}

export function projectOf(row: ProjectRow): ProjectRecord {
  return {
    name: row.project,
    limits: row.limits,
    budget: budgetFrom(row.budget),
    createdAtMs: row.created_at.getTime(),
    version: row.version,
  }
}

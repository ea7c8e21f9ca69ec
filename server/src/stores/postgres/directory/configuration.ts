import type { Actor, AuditAction } from '#ports/audit.ts'
import type { CredentialRecord, SealingKeys } from '#ports/credentials.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import type {
  ChangedObject,
  CredentialStep,
  ObjectKind,
  PreparedChange,
  SavedChange,
  StoredConfiguration,
  StoredEntry,
  StoredObject,
} from '#ports/stored-configuration.ts'
import { reachable } from '../unreachable.ts'
import type { AuditedChange } from '../audit.ts'
import type { Database, Sql } from '../database.ts'
import { bindCredential, dropSecret, putCredential } from './credentials.ts'
import { changeDirectory } from './directory.ts'

/** Every node builds a catalog of them after each change: far more than a company has, and still a few milliseconds. */
const MAX_OBJECTS = { upstream: 200, model: 2000 } as const
/** Changes in the history. Beyond them, the oldest are deleted; the audit keeps them all. */
const MAX_CHANGES = 2000

interface ObjectRow {
  readonly object: ObjectKind
  readonly name: string
  readonly entry: StoredEntry
  readonly revision: bigint
  readonly changed_by: string
  readonly changed_at: Date
}

const READ = `
SELECT object, name, entry, revision, changed_by, changed_at FROM configuration_objects ORDER BY object DESC, name`

const PUT = `
INSERT INTO configuration_objects (object, name, entry, revision, changed_by) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (object, name) DO UPDATE
SET entry = excluded.entry, revision = excluded.revision, changed_by = excluded.changed_by, changed_at = now()`

const NOTE = `
INSERT INTO configuration_changes (change_id, changed_by, summary, objects, reverts) VALUES ($1, $2, $3, $4, $5)
RETURNING at`

const FORGET = `
DELETE FROM configuration_changes WHERE change_id <= (
  SELECT change_id FROM configuration_changes ORDER BY change_id DESC OFFSET ${MAX_CHANGES} LIMIT 1
)`

/** What an earlier deployment of an id left behind: it says nothing of the one that takes the id now. */
const LEFT_BEHIND = [
  'DELETE FROM prices WHERE deployment = $1',
  'DELETE FROM deployment_drains WHERE deployment = $1',
  'DELETE FROM space_standings WHERE deployment = $1',
  'DELETE FROM space_probes WHERE deployment = $1',
  'DELETE FROM space_rides WHERE deployment = $1',
  'UPDATE suspect_windows SET until_at = now() WHERE deployment = $1 AND until_at IS NULL',
  'DELETE FROM substitutions WHERE deployment = $1',
] as const

/**
 * What is known of a deployment follows it from one id to the next. The ledger, its sums, price changes and traffic of the past
 * keep the id of their time.
 */
const FOLLOWING = [
  'UPDATE prices SET deployment = $2 WHERE deployment = $1',
  'UPDATE deployment_drains SET deployment = $2 WHERE deployment = $1',
  'UPDATE space_references SET deployment = $2 WHERE deployment = $1',
  'UPDATE space_standings SET deployment = $2 WHERE deployment = $1',
  'UPDATE space_probes SET deployment = $2 WHERE deployment = $1',
  'UPDATE space_rides SET deployment = $2 WHERE deployment = $1',
  'UPDATE space_family_members SET deployment = $2 WHERE deployment = $1',
  'UPDATE suspect_windows SET deployment = $2 WHERE deployment = $1 AND until_at IS NULL',
  'UPDATE substitutions SET deployment = $2 WHERE deployment = $1',
] as const

/** The same for an upstream. */
const LEFT_BEHIND_BY_UPSTREAM = [
  'DELETE FROM upstream_credentials WHERE upstream = $1',
  'DELETE FROM upstream_listings WHERE upstream = $1',
  'DELETE FROM model_end_notices WHERE upstream = $1',
] as const

const FOLLOWING_UPSTREAM = [
  'UPDATE upstream_credentials SET upstream = $2 WHERE upstream = $1',
  'UPDATE upstream_listings SET upstream = $2 WHERE upstream = $1',
  'UPDATE model_end_notices SET upstream = $2 WHERE upstream = $1',
] as const

/** The entry of the upstream is in the audit. */
const NO_STEP = { result: undefined, audit: [] }

export class PostgresConfiguration implements StoredConfiguration {
  readonly #database: Database
  readonly #keys: SealingKeys

  constructor(database: Database, keys: SealingKeys) {
    this.#database = database
    this.#keys = keys
  }

  read(): Promise<readonly StoredObject[]> {
    return reachable(objectsIn(this.#database))
  }

  change(prepare: (before: readonly StoredObject[]) => PreparedChange, actor: Actor): Promise<SavedChange> {
    return changeDirectory(this.#database, async (sql, version) => {
      const prepared = prepare(await objectsIn(sql))
      const { summary, objects, reverts } = prepared
      for (const one of objects) await this.#write(sql, one, version, actor)
      await checkRoom(sql)
      const steps: AuditedChange<CredentialRecord | undefined>[] = []
      for (const step of prepared.credentials) steps.push(await this.#credential(sql, step, actor))
      await this.#follow(sql, prepared)
      const [row] = await sql.query<{ at: Date }>(NOTE, [
        version,
        actor.name,
        summary,
        JSON.stringify(objects),
        reverts ?? null,
      ])
      await sql.query(FORGET)
      const credentials = steps.flatMap(({ result }) => result ?? [])
      const atMs = (row as { at: Date }).at.getTime()
      return {
        result: { id: version, atMs, by: actor.name, summary, objects, credentials },
        audit: [...objects.map((one) => auditOf(one, actor)), ...steps.flatMap(({ audit }) => audit)],
      }
    })
  }

  async #write(sql: Sql, one: ChangedObject, version: bigint, actor: Actor): Promise<void> {
    const { object, name, renamedFrom = name, after } = one
    if (after === null || renamedFrom !== name)
      await sql.query('DELETE FROM configuration_objects WHERE object = $1 AND name = $2', [
        object,
        renamedFrom,
      ])
    if (after !== null) await sql.query(PUT, [object, name, JSON.stringify(after), version, actor.name])
  }

  async #credential(
    sql: Sql,
    step: CredentialStep,
    actor: Actor,
  ): Promise<AuditedChange<CredentialRecord | undefined>> {
    switch (step.kind) {
      case 'bind':
        return bindCredential(sql, step.upstream, step.baseUrl, actor)
      case 'put':
        return putCredential(sql, step, this.#keys, actor)
      case 'drop':
        return dropSecret(sql, step.upstream, actor)
      case 'rename':
        for (const statement of LEFT_BEHIND_BY_UPSTREAM) await sql.query(statement, [step.to])
        for (const statement of FOLLOWING_UPSTREAM) await sql.query(statement, [step.upstream, step.to])
        return NO_STEP
      case 'delete':
        await sql.query('DELETE FROM upstream_credentials WHERE upstream = $1', [step.upstream])
        return NO_STEP
    }
  }

  async #follow(sql: Sql, { renamedDeployments, pricedDeployments }: PreparedChange): Promise<void> {
    for (const { from, to } of renamedDeployments) {
      for (const statement of LEFT_BEHIND) await sql.query(statement, [to])
      for (const statement of FOLLOWING) await sql.query(statement, [from, to])
    }
    if (pricedDeployments.length > 0)
      await sql.query('DELETE FROM prices WHERE deployment = ANY ($1::text[])', [pricedDeployments])
  }
}

async function objectsIn(sql: Sql): Promise<readonly StoredObject[]> {
  const rows = await sql.query<ObjectRow>(READ)
  return rows.map(({ changed_by: by, changed_at: at, ...row }) => ({ ...row, by, atMs: at.getTime() }))
}

async function checkRoom(sql: Sql): Promise<void> {
  const rows = await sql.query<{ readonly object: ObjectKind; readonly count: number }>(
    'SELECT object, count(*)::int AS count FROM configuration_objects GROUP BY object',
  )
  for (const { object, count } of rows)
    if (count > MAX_OBJECTS[object])
      throw new ChangeRefused(
        'full',
        `The store holds at most ${MAX_OBJECTS[object]} ${object}s. Delete some, or use torana.yaml.`,
      )
}

function auditOf(one: ChangedObject, actor: Actor): AuditAction {
  const { object, name, renamedFrom, before, after } = one
  const verb = before === null ? 'create' : after === null ? 'delete' : 'change'
  return {
    actor,
    action: `${object}.${object === 'model' && verb === 'create' ? 'add' : verb}`,
    target: name,
    detail: {
      ...(renamedFrom !== undefined && { renamedFrom }),
      ...(before !== null && { before }),
      ...(after !== null && { after }),
    },
  }
}

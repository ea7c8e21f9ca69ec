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

/** Names that the change gives up: deleted, or renamed from. */
const RELEASE = `
DELETE FROM configuration_objects USING unnest($1::text[], $2::text[]) AS released (object, name)
WHERE configuration_objects.object = released.object AND configuration_objects.name = released.name`

const PUT = `
INSERT INTO configuration_objects (object, name, entry, revision, changed_by)
SELECT object, name, entry, $4, $5 FROM unnest($1::text[], $2::text[], $3::jsonb[]) AS written (object, name, entry)
ON CONFLICT (object, name) DO UPDATE
SET entry = excluded.entry, revision = excluded.revision, changed_by = excluded.changed_by, changed_at = now()`

const NOTE = `
INSERT INTO configuration_changes (change_id, changed_by, summary, objects, reverts) VALUES ($1, $2, $3, $4, $5)
RETURNING at`

const FORGET = `
DELETE FROM configuration_changes WHERE change_id <= (
  SELECT change_id FROM configuration_changes ORDER BY change_id DESC OFFSET ${MAX_CHANGES} LIMIT 1
)`

/** Old and new names, in pairs. No name is twice on either side. */
interface Renames {
  readonly from: readonly string[]
  readonly to: readonly string[]
}

/** What is known under a name, in the order of these steps: old names are given up before the first new one is taken. */
interface Following {
  /** `$1` and `$2`: old and new names. The rows wait under names that nothing else has: \x01 is in none. */
  readonly release: string
  /** `$1`: new names. What an earlier owner of a name left behind says nothing of the one that takes it now. */
  readonly clear: string
  /** `$1`: new names. */
  readonly take: string
}

function following(table: string, column: string): Following {
  return {
    release: `
UPDATE ${table} SET ${column} = E'\\x01' || new_name FROM unnest($1::text[], $2::text[]) AS renamed (old_name, new_name)
WHERE ${column} = old_name`,
    clear: `DELETE FROM ${table} WHERE ${column} = ANY ($1::text[])`,
    take: `
UPDATE ${table} SET ${column} = new_name FROM unnest($1::text[]) AS taken (new_name) WHERE ${column} = E'\\x01' || new_name`,
  }
}

/** Of deployments. The ledger, its sums, price changes and traffic of the past keep the id of their time. */
const FOLLOWING = [
  ...['prices', 'deployment_drains', 'space_standings', 'space_probes'].map((table) =>
    following(table, 'deployment'),
  ),
  {
    release: `${following('suspect_windows', 'deployment').release} AND until_at IS NULL`,
    clear:
      'UPDATE suspect_windows SET until_at = now() WHERE deployment = ANY ($1::text[]) AND until_at IS NULL',
    take: following('suspect_windows', 'deployment').take,
  },
] as const

/**
 * The models of renamed deployments, as a probe locks them before it writes anything else: in another order, a rename and a probe would
 * wait for each other, and PostgreSQL would end one of them.
 */
const HOLD_PROBES = `
SELECT FROM space_references WHERE model IN (SELECT model FROM space_standings WHERE deployment = ANY ($1::text[]))
ORDER BY model FOR UPDATE`

/** Deployments named in rows of something else. */
const NAMED = `
UPDATE space_references SET deployment = new_name FROM unnest($1::text[], $2::text[]) AS renamed (old_name, new_name)
WHERE deployment = old_name`

const FOLLOWING_UPSTREAM = [following('upstream_credentials', 'upstream')]

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
      await write(sql, objects, version, actor)
      await checkRoom(sql)
      await followUpstreams(sql, objects)
      const steps: AuditedChange<CredentialRecord | undefined>[] = []
      for (const step of prepared.credentials) steps.push(await this.#credential(sql, step, actor))
      await followDeployments(sql, prepared)
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
    }
  }
}

async function write(
  sql: Sql,
  objects: readonly ChangedObject[],
  version: bigint,
  actor: Actor,
): Promise<void> {
  const released = objects.filter(({ after, renamedFrom }) => after === null || renamedFrom !== undefined)
  const written = objects.filter(({ after }) => after !== null)
  await sql.query(RELEASE, [
    released.map(({ object }) => object),
    released.map(({ name, renamedFrom = name }) => renamedFrom),
  ])
  await sql.query(PUT, [
    written.map(({ object }) => object),
    written.map(({ name }) => name),
    written.map(({ after }) => JSON.stringify(after)),
    version,
    actor.name,
  ])
}

/** A secret stays with its upstream: one that is deleted takes its own with it, before another upstream takes the name. */
async function followUpstreams(sql: Sql, objects: readonly ChangedObject[]): Promise<void> {
  const upstreams = objects.filter(({ object }) => object === 'upstream')
  const deleted = upstreams.filter(({ after }) => after === null).map(({ name }) => name)
  if (deleted.length > 0)
    await sql.query('DELETE FROM upstream_credentials WHERE upstream = ANY ($1::text[])', [deleted])
  const renamed = upstreams.flatMap(({ name: to, renamedFrom: from }) =>
    from === undefined ? [] : [{ from, to }],
  )
  await follow(sql, FOLLOWING_UPSTREAM, renamesOf(renamed))
}

async function followDeployments(
  sql: Sql,
  { renamedDeployments, pricedDeployments }: PreparedChange,
): Promise<void> {
  const renames = renamesOf(renamedDeployments)
  if (renames.from.length > 0) await sql.query(HOLD_PROBES, [renames.from])
  await follow(sql, FOLLOWING, renames)
  if (renames.from.length > 0) await sql.query(NAMED, [renames.from, renames.to])
  if (pricedDeployments.length > 0)
    await sql.query('DELETE FROM prices WHERE deployment = ANY ($1::text[])', [pricedDeployments])
}

function renamesOf(pairs: PreparedChange['renamedDeployments']): Renames {
  return { from: pairs.map(({ from }) => from), to: pairs.map(({ to }) => to) }
}

async function follow(sql: Sql, tables: readonly Following[], { from, to }: Renames): Promise<void> {
  if (from.length === 0) return
  for (const { release, clear, take } of tables) {
    await sql.query(release, [from, to])
    await sql.query(clear, [to])
    await sql.query(take, [to])
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

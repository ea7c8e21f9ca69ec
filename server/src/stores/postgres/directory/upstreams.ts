import type { Actor } from '#ports/audit.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import type {
  StoredAdditions,
  StoredDeployment,
  StoredUpstream,
  StoredUpstreams,
} from '#ports/stored-upstreams.ts'
import { reachable } from '../unreachable.ts'
import type { Database, Sql } from '../database.ts'
import { changeDirectory } from './directory.ts'

/** Every node builds a catalog of them after each change: far more than a company has, and still a few milliseconds. */
const MAX_UPSTREAMS = 200
const MAX_DEPLOYMENTS = 2000

export class PostgresUpstreams implements StoredUpstreams {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async read(): Promise<StoredAdditions> {
    const [upstreams, deployments] = await reachable(
      Promise.all([
        this.#database.query<StoredUpstream>('SELECT name, entry FROM stored_upstreams ORDER BY name'),
        this.#database.query<StoredDeployment>(
          'SELECT model, upstream, entry FROM stored_deployments ORDER BY model, created_at, upstream',
        ),
      ]),
    )
    return { upstreams, deployments }
  }

  addUpstream({ name, entry }: StoredUpstream, actor: Actor): Promise<void> {
    return changeDirectory(this.#database, async (sql) => {
      await checkRoom(sql, 'stored_upstreams', MAX_UPSTREAMS - 1)
      const added = await sql.query(
        'INSERT INTO stored_upstreams (name, entry) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1',
        [name, JSON.stringify(entry)],
      )
      if (added.length === 0) throw new ChangeRefused('exists', `Upstream ${name} already exists.`)
      return {
        result: undefined,
        audit: [{ actor, action: 'upstream.create', target: name, detail: { after: entry } }],
      }
    })
  }

  changeUpstream({ name, entry }: StoredUpstream, actor: Actor): Promise<void> {
    return changeDirectory(this.#database, async (sql) => {
      const before = await upstreamIn(sql, name)
      await sql.query('UPDATE stored_upstreams SET entry = $2, updated_at = now() WHERE name = $1', [
        name,
        JSON.stringify(entry),
      ])
      const detail = { before: before.entry, after: entry }
      return { result: undefined, audit: [{ actor, action: 'upstream.change', target: name, detail }] }
    })
  }

  dropUpstream(name: string, actor: Actor): Promise<void> {
    return changeDirectory(this.#database, async (sql) => {
      const before = await upstreamIn(sql, name)
      const users = await sql.query<{ readonly model: string }>(
        'SELECT model FROM stored_deployments WHERE upstream = $1 ORDER BY model LIMIT 4',
        [name],
      )
      if (users.length > 0) {
        const models = users.map(({ model }) => model).join(', ')
        throw new ChangeRefused('in-use', `Models run on upstream ${name}: ${models}. Delete them first.`)
      }
      await sql.query('DELETE FROM stored_upstreams WHERE name = $1', [name])
      await sql.query('DELETE FROM upstream_credentials WHERE upstream = $1', [name])
      const detail = { before: before.entry }
      return { result: undefined, audit: [{ actor, action: 'upstream.delete', target: name, detail }] }
    })
  }

  addDeployments(deployments: readonly StoredDeployment[], actor: Actor): Promise<void> {
    return changeDirectory(this.#database, async (sql) => {
      await checkRoom(sql, 'stored_deployments', MAX_DEPLOYMENTS - deployments.length)
      for (const { model, upstream, entry } of deployments) {
        const added = await sql.query(
          `INSERT INTO stored_deployments (model, upstream, entry, created_at) VALUES ($1, $2, $3, clock_timestamp())
           ON CONFLICT DO NOTHING RETURNING 1`,
          [model, upstream, JSON.stringify(entry)],
        )
        if (added.length === 0)
          throw new ChangeRefused('exists', `Model ${model} runs on upstream ${upstream} already.`)
      }
      const audit = deployments.map(({ model, upstream, entry }) => ({
        actor,
        action: 'model.add',
        target: model,
        detail: { upstream, ...entry },
      }))
      return { result: undefined, audit }
    })
  }

  dropModel(model: string, actor: Actor): Promise<void> {
    return changeDirectory(this.#database, async (sql) => {
      const dropped = await sql.query<{ readonly upstream: string }>(
        'DELETE FROM stored_deployments WHERE model = $1 RETURNING upstream',
        [model],
      )
      if (dropped.length === 0) throw new ChangeRefused('missing', `There is no model ${model} in the store.`)
      const detail = { upstreams: dropped.map(({ upstream }) => upstream).sort() }
      return { result: undefined, audit: [{ actor, action: 'model.delete', target: model, detail }] }
    })
  }
}

async function upstreamIn(sql: Sql, name: string): Promise<StoredUpstream> {
  const [row] = await sql.query<StoredUpstream>('SELECT name, entry FROM stored_upstreams WHERE name = $1', [
    name,
  ])
  if (row === undefined) throw new ChangeRefused('missing', `There is no upstream ${name} in the store.`)
  return row
}

/** `table` is one of our own names. */
async function checkRoom(
  sql: Sql,
  table: 'stored_upstreams' | 'stored_deployments',
  max: number,
): Promise<void> {
  const [row] = await sql.query<{ readonly count: number }>(`SELECT count(*)::int AS count FROM ${table}`)
  if ((row?.count ?? 0) > max)
    throw new ChangeRefused('full', 'The store holds as many as it may. Delete some, or use torana.yaml.')
}

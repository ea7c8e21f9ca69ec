/** The doctor on what an operator can do to the database beside Torana: transactions, slots, vacuum, schema, and the way to it. */
import { count, fail, ok, warn, type Finding } from './check-rules.ts'
import type { InstallFigures } from './queries.ts'
import type { NodeSurroundings } from './surroundings-rules.ts'

export function poolerCheck({ isPoolerUnfit }: NodeSurroundings): Finding | undefined {
  if (isPoolerUnfit === undefined) return undefined
  return isPoolerUnfit
    ? fail(
        'the pooler of DATABASE_URL runs in transaction mode, so batches, images and key look-ups fail at random: set pool_mode = session',
      )
    : ok('each connection keeps its own session of PostgreSQL')
}

export function transactionsCheck({ server }: InstallFigures): Finding | undefined {
  if (server === undefined) return undefined
  const { transactions, hidden } = server.open
  const [oldest] = transactions
  const figures = { open: transactions.length, hidden }
  const unseen =
    hidden === 0
      ? ''
      : `; PostgreSQL hides ${count(hidden, 'session')} of other roles: grant pg_read_all_stats to the role of DATABASE_URL`
  if (oldest === undefined) return ok(`none has been open for a minute${unseen}`, figures)
  const { pid, application, is_idle: isIdle, seconds } = oldest
  const more = transactions.length === 1 ? '' : `, and ${transactions.length - 1} more`
  const name = application === '' ? '' : ` (${application})`
  return warn(
    `session ${pid}${name} has a transaction open for ${spanOf(seconds)}${isIdle ? ' and is idle' : ''}${more}: sealing and vacuum wait. Run select pg_terminate_backend(${pid}), if it is not needed${unseen}`,
    figures,
  )
}

export function slotsCheck({ server }: InstallFigures): Finding | undefined {
  if (server === undefined) return undefined
  const [largest] = server.slots
  const bytes = Number(largest?.bytes ?? 0n)
  const figures = { idle: server.slots.length, bytes }
  if (largest === undefined) return ok('every replication slot has a reader', figures)
  const more = server.slots.length === 1 ? '' : `, and ${server.slots.length - 1} more`
  return warn(
    `slot ${largest.name} has no reader and keeps ${(bytes / 1024 ** 2).toFixed(1)} MiB of WAL${more}: it fills the disk of PostgreSQL. Start its reader, or run select pg_drop_replication_slot('${largest.name}')`,
    figures,
  )
}

export function autovacuumCheck({ server }: InstallFigures): Finding | undefined {
  if (server === undefined) return undefined
  const { autovacuum, unvacuumed } = server
  const figures = { off: autovacuum ? 0 : 1, tables: unvacuumed.length }
  const harm = 'tables grow, and PostgreSQL stops at wraparound'
  if (!autovacuum)
    return warn(`autovacuum or track_counts is off: ${harm}. Turn both on, and reload PostgreSQL`, figures)
  return unvacuumed.length === 0
    ? ok('autovacuum is on', figures)
    : warn(`autovacuum is off for ${unvacuumed.join(', ')}: ${harm}. Reset autovacuum_enabled`, figures)
}

/** Objects that are named: most slips are one. */
const MAX_NAMED = 3

export function schemaCheck({ missing }: InstallFigures): Finding {
  if (missing === undefined) return ok('a newer version of Torana has changed it, and this one works on')
  const figures = { missing: missing.length }
  if (missing.length === 0) return ok('the database has all that the migrations made', figures)
  const named = missing.slice(0, MAX_NAMED).map(shownObject)
  const more = missing.length > MAX_NAMED ? `; and ${missing.length - MAX_NAMED} more` : ''
  return warn(
    `statements become slow or are refused. Restore, as the owner of the tables: ${named.join('; ')}${more}`,
    figures,
  )
}

/** The definition of an index is the statement that makes it. */
function shownObject(object: string): string {
  return object.replace(/^index /, '')
}

function spanOf(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.floor(seconds / 60)} min`
}

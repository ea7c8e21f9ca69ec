/** The database of a new installation, made once per server and copied for each test. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { MIGRATIONS_FOLDER } from '#package/files.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { makePartitions } from '#stores/postgres/ledger/upkeep-partitions.ts'
import { migrate } from '#stores/postgres/migrate.ts'

/** The first process makes it, the others wait. An arbitrary number that no other lock of the tests uses. */
const LOCK_NUMBER = 7_061_801

/** `partitions`: what a node finds at its second start. `tables`: without a date, for tests that set the clock. */
export type Prepared = 'tables' | 'partitions'

/** The name of the database. It says what is in it, so that a server that outlives a change has a template for each. */
export async function preparedTemplate(server: string, prepared: Prepared): Promise<string> {
  const nowMs = Date.now()
  const day = prepared === 'partitions' ? new Date(nowMs).toISOString().slice(0, 10) : ''
  const name = `torana_${prepared}_${fingerprintOf(day)}`
  const client = new Client(server)
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK_NUMBER])
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) {
      // A process that was ended may have left it half done.
      await client.query(`drop database if exists ${name}_begun`)
      await client.query(`create database ${name}_begun`)
      const database = openPostgres(databaseOn(server, `${name}_begun`))
      await migrate(database)
      if (prepared === 'partitions') await makePartitions(database, nowMs)
      await database.close()
      await client.query(`alter database ${name}_begun rename to ${name}`)
    }
  } finally {
    await client.end()
  }
  return name
}

export function databaseOn(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

function fingerprintOf(day: string): string {
  const hash = createHash('sha256').update(day)
  for (const file of readdirSync(MIGRATIONS_FOLDER).toSorted())
    hash.update(file).update(readFileSync(join(MIGRATIONS_FOLDER, file)))
  return hash.digest('hex').slice(0, 12)
}

/** Finds a pooler that gives a connection another session of PostgreSQL for each transaction. */
import { randomUUID } from 'node:crypto'
import { DatabaseError } from 'pg'
import type { Database, Sql } from './database.ts'

/** A free pooler shows itself in the first round, a busy one in a few: each statement may meet another session. */
const ROUNDS = 4
/** SQLSTATE: there is no such prepared statement in this session. */
const NO_STATEMENT = '26000'

/**
 * Whether what a session remembers stays behind when a connection's next statement runs. One connection prepares a statement; only
 * this connection may execute it, and always. The other one takes its turn in between, so that a pooler of few sessions, which hands
 * them on in either order, has one to mix up. Needs two connections.
 */
export function changesSessions(database: Database): Promise<boolean> {
  const name = `torana_probe_${randomUUID().replaceAll('-', '')}`
  return database.session((own) =>
    database.session(async (other) => {
      await own.query(`PREPARE ${name} AS SELECT 1`)
      for (let round = 0; round < ROUNDS; round += 1) {
        if (await knows(other, name)) return true
        // Twice: sessions handed out in turn would come back to each connection.
        if (!(await knows(own, name)) || !(await knows(own, name))) return true
      }
      return false
    }),
  )
}

async function knows(sql: Sql, statement: string): Promise<boolean> {
  try {
    await sql.query(`EXECUTE ${statement}`)
    return true
  } catch (error) {
    const { cause = error } = error as Error
    if (cause instanceof DatabaseError && cause.code === NO_STATEMENT) return false
    throw error
  }
}

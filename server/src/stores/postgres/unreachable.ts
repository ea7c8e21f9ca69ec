import { DatabaseError } from 'pg'
import { StoreBusy, StoreUnreachable } from '#ports/store.ts'
import { isStoreUnreachable, PoolFull, type Database } from './database.ts'

/** Converts failures of the store to the errors of the ports; an error of the statement itself is passed on. */
export async function reachable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (error instanceof PoolFull) throw new StoreBusy(`PostgreSQL: ${error.message}`, { cause: error })
    if (!isStoreUnreachable(error) && !wasUndone(error)) throw error
    throw new StoreUnreachable(`PostgreSQL: ${(error as Error).message}`, { cause: error })
  }
}

/** SQLSTATE: unknown role or wrong password, unknown database. */
const MISTAKES = /^(28000|28P01|3D000)$/

/** PostgreSQL's message about a wrong DATABASE_URL. Undefined if the failure may be temporary. */
export function mistakeIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof DatabaseError && MISTAKES.test(error.code ?? '')) return error.message
  return mistakeIn(error.cause)
}

/** A deadlock, or a conflict with others: the transaction was rolled back through no fault of its own and may be retried. */
function wasUndone(error: unknown): boolean {
  return error instanceof DatabaseError && error.code?.startsWith('40') === true
}

/** The same database, which rejects with the errors of the ports. */
export function withReachable(database: Database): Database {
  return {
    ...database,
    query: (...statement) => reachable(database.query(...statement)),
    transaction: (work) => reachable(database.transaction(work)),
    session: (work, queryTimeoutMs) => reachable(database.session(work, queryTimeoutMs)),
  }
}

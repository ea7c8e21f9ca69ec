import { DatabaseError } from 'pg'
import { StoreAway } from '#ports/store.ts'
import { isStoreAway } from './database.ts'

/** Trouble with the store in the word the ports use; an error of the statement itself stays what it is. */
export async function reachable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!isStoreAway(error) && !wasUndone(error)) throw error
    throw new StoreAway(`PostgreSQL: ${(error as Error).message}`, { cause: error })
  }
}

/** SQLSTATE: no such role or a wrong password, no such database. */
const MISTAKES = /^(28000|28P01|3D000)$/

/** What PostgreSQL says of a DATABASE_URL that can't be right. Undefined: the trouble may pass by itself. */
export function mistakeIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof DatabaseError && MISTAKES.test(error.code ?? '')) return error.message
  return mistakeIn(error.cause)
}

/** A deadlock, or a conflict with others: it was rolled back through no fault of its own, and may be asked again. */
function wasUndone(error: unknown): boolean {
  return error instanceof DatabaseError && error.code?.startsWith('40') === true
}

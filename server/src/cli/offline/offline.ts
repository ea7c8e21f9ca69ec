/** Commands that use the database themselves, where no node does. */
import { readEnvironment } from '#config/environment.ts'
import { readText } from '#config/file/variable.ts'
import type { Settings } from '#core/settings.ts'
import { BackupProblem } from '#stores/backup-format.ts'
import { mistakeIn } from '#stores/postgres/unreachable.ts'
import { isStoreUnreachable } from '#stores/postgres/database.ts'
import { CommandProblem } from '../client/command-problem.ts'

export function settingsHere(): Settings {
  return readEnvironment(process.env, process.cwd(), readText)
}

/** Turns errors that the user can fix into a `CommandProblem`. */
export async function asCommandProblem<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (error instanceof BackupProblem)
      throw new CommandProblem(`The file can not be used: ${error.message}.`)
    const mistake = mistakeIn(error)
    if (mistake !== undefined) throw new CommandProblem(`DATABASE_URL: PostgreSQL says: ${mistake}.`)
    if (isStoreUnreachable(error))
      throw new CommandProblem(`PostgreSQL does not answer: ${(error as Error).message}`)
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new CommandProblem((error as Error).message)
    throw error
  }
}

/** The tables of people on one engine, empty, for tests. */
import type { AuditLog } from '#ports/audit.ts'
import { systemClock } from '#runtime/clock.ts'
import { PostgresAudit } from '#stores/postgres/audit.ts'
import { withReachable } from '#stores/postgres/unreachable.ts'
import type { Database } from '#stores/postgres/database.ts'
import { testDatabase, testPglite } from './pglite.ts'
import { reused } from './reused-database.ts'

export type People = ReturnType<typeof peopleIn>

const EMPTY = 'TRUNCATE members, sessions, invitations, first_run_links, sign_on, admin_tokens, audit'

function peopleIn(database: Database) {
  return {
    database: withReachable(database),
    audit: new PostgresAudit(database, systemClock) as AuditLog,
  }
}

export const postgresPeople = () => reused(testDatabase, EMPTY, peopleIn)

export const pglitePeople = () => reused(testPglite, EMPTY, peopleIn)

/** The stores of people on one engine, empty, for tests. */
import { after } from 'node:test'
import type { AuditLog } from '#ports/audit.ts'
import { systemClock } from '#runtime/clock.ts'
import { sealingKeysOf, type NodeSecrets } from '#runtime/secret.ts'
import { PostgresAudit } from '#stores/postgres/audit.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { PostgresAdminTokens } from '#stores/postgres/people/admin-tokens.ts'
import { PostgresInvitations } from '#stores/postgres/people/invitations.ts'
import { PostgresMembers } from '#stores/postgres/people/members.ts'
import { PostgresSavedViews } from '#stores/postgres/people/saved-views.ts'
import { PostgresSessions } from '#stores/postgres/people/sessions.ts'
import { PostgresSignOn } from '#stores/postgres/people/sign-on.ts'
import { SECRETS } from './directory.ts'
import { testPglite } from './pglite.ts'
import { testPostgres } from './servers.ts'

export type People = ReturnType<typeof peopleIn>

const EMPTY =
  'TRUNCATE members, sessions, invitations, first_run_links, sign_on, admin_tokens, saved_views, audit'

function peopleIn(database: Database) {
  return {
    database,
    audit: new PostgresAudit(database, systemClock) as AuditLog,
    members: new PostgresMembers(database),
    invitations: new PostgresInvitations(database),
    sessions: new PostgresSessions(database),
    signOn: new PostgresSignOn(database, sealingKeysOf(SECRETS)),
    signOnWith: (secrets: NodeSecrets) => new PostgresSignOn(database, sealingKeysOf(secrets)),
    adminTokens: new PostgresAdminTokens(database),
    savedViews: new PostgresSavedViews(database),
  }
}

/** One database for the whole test file; emptied each time it is opened. */
function reused(open: () => Promise<Database>): () => Promise<People> {
  let opened: Promise<Database> | undefined
  after(async () => (await opened)?.close())
  return async () => {
    opened ??= open().then(async (database) => {
      await migrate(database)
      return database
    })
    const database = await opened
    await database.query(EMPTY)
    return peopleIn(database)
  }
}

export const postgresPeople = () => reused(async () => openPostgres((await testPostgres()).url))

export const pglitePeople = () => reused(testPglite)

/** The stores of people on one engine, empty, for tests. */
import type { AuditLog } from '#ports/audit.ts'
import { systemClock } from '#runtime/clock.ts'
import { sealingKeysOf, type NodeSecrets } from '#runtime/secret.ts'
import { PostgresAudit } from '#stores/postgres/audit.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { PostgresAdminTokens } from '#stores/postgres/people/admin-tokens.ts'
import { PostgresInvitations } from '#stores/postgres/people/invitations.ts'
import { PostgresMembers } from '#stores/postgres/people/members.ts'
import { PostgresSavedViews } from '#stores/postgres/people/saved-views.ts'
import { PostgresSessions } from '#stores/postgres/people/sessions.ts'
import { PostgresSignOn } from '#stores/postgres/people/sign-on.ts'
import { SECRETS } from './directory.ts'
import { testPglite } from './pglite.ts'
import { reused } from './reused-database.ts'
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

export const postgresPeople = () =>
  reused(async () => openPostgres((await testPostgres()).url), EMPTY, peopleIn)

export const pglitePeople = () => reused(testPglite, EMPTY, peopleIn)

/** Runs of the playground go on by the rights that their member or token has now. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Player, PlayerKind } from '#core/access/actor.ts'
import { playerNow } from '#control/shared/players.ts'
import type { ControlNode } from '#control/shared/node.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { testPostgres } from '#test/support/servers.ts'

const database = openPostgres((await testPostgres()).url)
after(() => database.close())
await migrate(database)

interface Rights {
  readonly member?: { readonly role?: string; readonly projects?: string[] | null; readonly disabled?: true }
  readonly token?: { readonly expiredMs?: number; readonly readOnly?: true; readonly projects?: string[] }
  readonly projects?: readonly { readonly name: string }[]
}

/** A node whose store has these rights and nothing else. */
async function nodeWith({ member, token, projects = [{ name: 'p' }] }: Rights) {
  await database.query('TRUNCATE members, admin_tokens CASCADE')
  if (member)
    await database.query(
      `INSERT INTO members (member_id, name, email, role, projects, source, disabled_at)
       VALUES (gen_random_uuid(), 'Ada', 'ada@example.com', $1, $2, 'local', $3)`,
      [
        member.role ?? 'developer',
        member.projects === undefined ? ['p'] : member.projects,
        member.disabled ? new Date(1) : null,
      ],
    )
  if (token)
    await database.query(
      `INSERT INTO admin_tokens (name, digest, tail, role, projects, read_only, created_by, expires_at)
       VALUES ('ci', 'x', '', 'developer', $1, $2, '', $3)`,
      [token.projects ?? ['p'], token.readOnly ?? false, new Date(Date.now() - (token.expiredMs ?? -60_000))],
    )
  return {
    keyStore: { listProjects: async () => [] } as unknown as ControlNode['keyStore'],
    declaredProjects: () => projects as never,
    reports: database,
    playground: {},
    nodeTokens: ['local-admin'],
  }
}

const ADA: Player = { kind: 'member', name: 'ada@example.com' }
const CI: Player = { kind: 'token', name: 'token:ci' }
const LOCAL: Player = { kind: 'node', name: 'local-admin' }

const TABLE: readonly (readonly [what: string, player: Player, rights: Rights, standing: string])[] = [
  ['a member of the project plays', ADA, { member: {} }, 'valid'],
  ['a member of all projects plays', ADA, { member: { role: 'admin', projects: null } }, 'valid'],
  ['a member who left the project does not', ADA, { member: { projects: ['q'] } }, 'revoked'],
  ['a disabled member does not', ADA, { member: { disabled: true } }, 'revoked'],
  ['a member who is gone does not', ADA, {}, 'revoked'],
  ['a token plays', CI, { token: {} }, 'valid'],
  ['a token that was revoked does not', CI, {}, 'revoked'],
  ['a token that has expired does not', CI, { token: { expiredMs: 1 } }, 'revoked'],
  ['a token that may only read does not', CI, { token: { readOnly: true } }, 'revoked'],
  ['a token of another project does not', CI, { token: { projects: ['q'] } }, 'revoked'],
  ['the node’s own token plays', LOCAL, {}, 'valid'],
  ['a token of the node that is not configured does not', { ...LOCAL, name: 'admin-token' }, {}, 'revoked'],
  [
    'a member named like a token of the node does not',
    { ...LOCAL, kind: 'member' },
    { member: {} },
    'revoked',
  ],
  ['a token named like a token of the node does not', { ...LOCAL, kind: 'token' }, { token: {} }, 'revoked'],
  ['a member is no token of the node', { ...ADA, kind: 'node' }, { member: {} }, 'revoked'],
  ['a member is no token', { ...ADA, kind: 'token' }, { member: {}, token: {} }, 'revoked'],
  ['a token is no member', { ...CI, kind: 'member' }, { member: {}, token: {} }, 'revoked'],
  [
    'an actor of an unknown kind does not',
    { ...LOCAL, kind: 'robot' as PlayerKind },
    { member: {} },
    'revoked',
  ],
  ['the nodes themselves play nothing', { ...LOCAL, kind: 'system' as PlayerKind }, {}, 'revoked'],
]

for (const [what, player, rights, standing] of TABLE) {
  test(`a run of the playground goes on by the rights of now: ${what}`, async () => {
    assert.equal((await playerNow(player, 'p', await nodeWith(rights))).standing, standing)
  })
}

test('a deleted project has no players', async () => {
  const now = await playerNow(ADA, 'p', await nodeWith({ member: {}, projects: [] }))
  assert.deepEqual(now, { standing: 'revoked', isProjectDeleted: true })
})

test('an unreachable store says nothing about a player', async () => {
  const node = await nodeWith({})
  const reports = { ...database, query: () => Promise.reject(new StoreUnreachable('unreachable')) }
  const now = await playerNow(ADA, 'p', { ...node, reports })
  assert.equal(now.standing, 'unreachable')
})

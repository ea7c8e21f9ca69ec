import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MemberRecord } from '#ports/members.ts'
import { StoreAway } from '#ports/store.ts'
import { playerNow, type KnownPlayers } from './player.ts'

const ADA: MemberRecord = {
  id: 'm1',
  name: 'Ada',
  email: 'ada@example.com',
  role: 'developer',
  projects: ['p'],
  source: 'local',
  lastSeenAtMs: undefined,
  createdAtMs: 0,
  disabledAtMs: undefined,
}
const TOKEN = {
  name: 'ci',
  tail: '',
  createdBy: '',
  createdAtMs: 0,
  expiresAtMs: 1000,
  lastUsedAtMs: undefined,
  role: 'developer',
  projects: ['p'],
  isReadOnly: false,
} as const

type Rights = {
  readonly member?: Partial<MemberRecord>
  readonly token?: object
  readonly projects?: object[]
}

function players({ member, token, projects = [{ name: 'p' }] }: Rights): KnownPlayers {
  return {
    keyStore: {} as never,
    declared: () => projects as never,
    terms: {},
    members: {
      byEmail: async (email) =>
        member && email === ADA.email
          ? { member: { ...ADA, ...member }, passwordHash: undefined, lastAddress: undefined }
          : undefined,
    },
    adminTokens: { list: async () => (token ? [{ ...TOKEN, ...token }] : []) },
    nowMs: () => 500,
  }
}

const ADAS = 'p/console.ada@example.com'
const TOKENS = 'p/console.token:ci'

const TABLE: readonly (readonly [what: string, keyId: string, rights: Rights, standing: string])[] = [
  ['a member of the project plays', ADAS, { member: {} }, 'valid'],
  ['a member of all projects plays', ADAS, { member: { role: 'admin', projects: null } }, 'valid'],
  ['a member who left the project does not', ADAS, { member: { projects: ['q'] } }, 'revoked'],
  ['a disabled member does not', ADAS, { member: { disabledAtMs: 1 } }, 'revoked'],
  ['a member who is gone does not', ADAS, {}, 'revoked'],
  ['a token plays', TOKENS, { token: {} }, 'valid'],
  ['a token that was revoked does not', TOKENS, {}, 'revoked'],
  ['a token that has expired does not', TOKENS, { token: { expiresAtMs: 500 } }, 'revoked'],
  ['a token that may only read does not', TOKENS, { token: { isReadOnly: true } }, 'revoked'],
  ['a token of another project does not', TOKENS, { token: { projects: ['q'] } }, 'revoked'],
  ['the install’s own token plays', 'p/console.local-admin', {}, 'valid'],
]

for (const [what, keyId, rights, standing] of TABLE) {
  test(`a run of the playground goes on by the rights of now: ${what}`, async () => {
    assert.equal((await playerNow({ keyId, project: 'p' }, players(rights)))?.standing, standing)
  })
}

test('a deleted project has no players', async () => {
  const keyStore = { listProjects: async () => [] } as never
  const now = await playerNow(
    { keyId: ADAS, project: 'p' },
    { ...players({ member: {}, projects: [] }), keyStore },
  )
  assert.deepEqual(now, { standing: 'revoked', isProjectDeleted: true })
})

test('a store that is away says nothing about a player, and a key of another kind is none', async () => {
  const members = { byEmail: () => Promise.reject(new StoreAway('away')) }
  const now = await playerNow({ keyId: ADAS, project: 'p' }, { ...players({}), members })
  assert.equal(now?.standing, 'unreachable')
  assert.equal(playerNow({ keyId: 'p/k', project: 'p' }, players({})), undefined)
})

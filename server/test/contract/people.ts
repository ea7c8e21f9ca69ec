/** What the queries of people promise, whichever engine keeps their tables. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChangeRefused } from '#ports/key-store.ts'
import {
  acceptInvitation,
  findInvitation,
  invite,
  listInvitations,
  withdrawInvitation,
} from '#control/invitations/queries.ts'
import { changeMember, listMembers } from '#control/members/queries.ts'
import {
  addFirstRunLink,
  hasMembers,
  isFirstRunLink,
  makeFirstAdmin,
  memberSecrets,
  setPassword,
} from '#control/session/queries.ts'
import { identifyMember, openSignOn, type Identity } from '#control/session/sign-on-queries.ts'
import { callerOfToken, rightsOf } from '#control/shared/rights-queries.ts'
import { digestOf } from '#control/shared/secret-text.ts'
import {
  callerOfCookie,
  endSession,
  endSessionsOf,
  startSession,
  sweepSessions,
} from '#control/shared/session-queries.ts'
import { readSignOn } from '#control/shared/sign-on-queries.ts'
import { dropSignOn, putSignOn } from '#control/sign-on/queries.ts'
import { createToken, listTokens, revokeToken } from '#control/tokens/queries.ts'
import { sealingKeysOf } from '#runtime/secret.ts'
import type { Database } from '#stores/postgres/database.ts'
import { SECRETS } from '#test/support/directory.ts'
import type { People } from '#test/support/people.ts'

const HOUR_MS = 3_600_000
const ADDRESS = '192.0.2.7'
export const BOSS = { kind: 'member', name: 'boss@example.com', address: ADDRESS } as const

type Member = Awaited<ReturnType<typeof listMembers>>[number]

async function memberOf(database: Database, id: string | undefined): Promise<Member> {
  const member = (await listMembers(database, { limit: 50 })).find((one) => one.id === id)
  assert.ok(member)
  return member
}

export async function withFirstAdmin({ database }: People, email = 'boss@example.com'): Promise<Member> {
  await addFirstRunLink(database, digestOf('link'))
  const credentials = { name: 'Boss', email, passwordHash: 'hash', address: ADDRESS }
  return memberOf(database, await makeFirstAdmin(database, digestOf('link'), credentials))
}

async function invited(
  { database }: People,
  email: string,
  role: 'developer' | 'admin' = 'developer',
): Promise<Member> {
  const projects = role === 'developer' ? ['search'] : null
  const digest = digestOf(`invite ${email}`)
  await invite(database, { email, role, projects, digest }, BOSS)
  const acceptance = { name: email, passwordHash: 'h', address: ADDRESS }
  return memberOf(database, await acceptInvitation(database, digest, acceptance))
}

async function begun({ database }: People, { id: memberId }: Member, cookie: string): Promise<string> {
  return startSession(database, { memberId, digest: digestOf(cookie), address: ADDRESS })
}

async function callerWith({ database }: People, cookie: string) {
  return (await callerOfCookie(database, digestOf(cookie)))?.caller
}

async function actionsOf({ audit }: People): Promise<string[]> {
  return (await audit.list({ limit: 50 })).map(({ actor, action, target }) => `${actor} ${action} ${target}`)
}

export function peopleSuite(name: string, open: () => Promise<People>): void {
  firstAdminSuite(name, open)
  invitationSuite(name, open)
  memberSuite(name, open)
  sessionSuite(name, open)
  identitySuite(name, open)
  signOnSuite(name, open)
  tokenSuite(name, open)
}

function firstAdminSuite(name: string, open: () => Promise<People>): void {
  test(`${name}: of many who use links at the same time one becomes the first admin`, async () => {
    const { database } = await open()
    assert.equal(await hasMembers(database), false)
    const links = ['one', 'two', 'three', 'four'].map(digestOf)
    for (const link of links) assert.ok(await addFirstRunLink(database, link))
    const made = await Promise.all(
      [...links, ...links].map((link, index) =>
        makeFirstAdmin(database, link, {
          name: 'x',
          email: `${index}@example.com`,
          passwordHash: 'h',
          address: ADDRESS,
        }),
      ),
    )
    assert.equal(made.filter((one) => one !== undefined).length, 1)
    assert.equal((await listMembers(database, { limit: 10 })).length, 1)
    assert.equal(await addFirstRunLink(database, digestOf('five')), false)
    assert.equal(await isFirstRunLink(database, digestOf('two')), false)
  })

  test(`${name}: a first-run link that is wrong or older than a day makes no admin`, async () => {
    const { database } = await open()
    await addFirstRunLink(database, digestOf('old'))
    await database.query(`UPDATE first_run_links SET expires_at = expires_at - interval '24 hours'`)
    const credentials = { name: 'x', email: 'x@example.com', passwordHash: 'h', address: ADDRESS }
    for (const link of ['old', 'wrong']) {
      assert.equal(await isFirstRunLink(database, digestOf(link)), false)
      assert.equal(await makeFirstAdmin(database, digestOf(link), credentials), undefined)
    }
    assert.equal(await hasMembers(database), false)
  })
}

function invitationSuite(name: string, open: () => Promise<People>): void {
  const acceptance = { name: 'Dev', passwordHash: 'h', address: ADDRESS }

  test(`${name}: an invitation works once, and the newest one of an address alone`, async () => {
    const { database } = await open()
    const invitation = { email: 'dev@example.com', role: 'developer', projects: ['search'] } as const
    const given = { ...invitation, projects: [...invitation.projects] }
    await invite(database, { ...given, digest: digestOf('first') }, BOSS)
    await invite(database, { ...given, digest: digestOf('second') }, BOSS)
    assert.equal(await findInvitation(database, digestOf('first')), undefined)
    assert.equal((await findInvitation(database, digestOf('second')))?.email, 'dev@example.com')
    const accepted = await Promise.all(
      ['first', 'second', 'second'].map((link) => acceptInvitation(database, digestOf(link), acceptance)),
    )
    assert.equal(accepted.filter((one) => one !== undefined).length, 1)
    const [member] = await listMembers(database, { limit: 10 })
    assert.deepEqual([member?.role, member?.projects, member?.source], ['developer', ['search'], 'local'])
    assert.deepEqual(await listInvitations(database), [])
  })

  test(`${name}: an invitation that is older than seven days or withdrawn makes no member`, async () => {
    const { database } = await open()
    const invitation = { email: 'a@example.com', role: 'operator', projects: null } as const
    await invite(database, { ...invitation, digest: digestOf('old') }, BOSS)
    await database.query(`UPDATE invitations SET expires_at = expires_at - interval '168 hours'`)
    assert.equal(await findInvitation(database, digestOf('old')), undefined)
    assert.equal(await acceptInvitation(database, digestOf('old'), acceptance), undefined)
    await invite(database, { ...invitation, digest: digestOf('new') }, BOSS)
    await withdrawInvitation(database, 'a@example.com', BOSS)
    assert.equal(await findInvitation(database, digestOf('new')), undefined)
    await assert.rejects(withdrawInvitation(database, 'a@example.com', BOSS), ChangeRefused)
  })

  test(`${name}: an invitation of a member is the way to a new password, and changes neither role nor name`, async () => {
    const people = await open()
    const { database } = people
    const member = await withFirstAdmin(people)
    await begun(people, member, 'cookie')
    const digest = digestOf('again')
    await invite(database, { email: member.email, role: 'developer', projects: [], digest }, BOSS)
    const id = await acceptInvitation(database, digest, {
      name: 'Other',
      passwordHash: 'new',
      address: ADDRESS,
    })
    const again = await memberOf(database, id)
    assert.deepEqual([again.id, again.role, again.name], [member.id, 'admin', 'Boss'])
    assert.equal((await memberSecrets(database, member.email))?.password_hash, 'new')
    assert.equal(await callerWith(people, 'cookie'), undefined)
  })
}

function memberSuite(name: string, open: () => Promise<People>): void {
  test(`${name}: the last admin stays one, also when two are taken away at the same time`, async () => {
    const people = await open()
    const { database } = people
    const boss = await withFirstAdmin(people)
    await assert.rejects(changeMember(database, boss.id, { role: 'operator' }, BOSS), /last admin/)
    await assert.rejects(changeMember(database, boss.id, { disabled: true }, BOSS), /last admin/)
    const second = await invited(people, 'second@example.com', 'admin')
    const outcomes = await Promise.allSettled(
      [boss, second].map(({ id }) => changeMember(database, id, { disabled: true }, BOSS)),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  test(`${name}: only developers have projects, and a changed role takes them away`, async () => {
    const people = await open()
    const { database } = people
    const { id } = await invited(people, 'dev@example.com')
    const operator = await changeMember(database, id, { role: 'operator' }, BOSS)
    assert.deepEqual([operator.role, operator.projects], ['operator', null])
    const developer = await changeMember(database, id, { role: 'developer' }, BOSS)
    assert.deepEqual([developer.role, developer.projects], ['developer', []])
    const moved = await changeMember(database, id, { projects: ['shop'] }, BOSS)
    assert.deepEqual(moved.projects, ['shop'])
    await assert.rejects(changeMember(database, crypto.randomUUID(), { name: 'x' }, BOSS), ChangeRefused)
  })

  test(`${name}: members are listed page by page`, async () => {
    const people = await open()
    for (const one of ['b', 'a', 'c']) await invited(people, `${one}@example.com`)
    const emails = async (page: Parameters<typeof listMembers>[1]) =>
      (await listMembers(people.database, page)).map(({ email }) => email)
    assert.deepEqual(await emails({ limit: 2 }), ['a@example.com', 'b@example.com'])
    assert.deepEqual(await emails({ limit: 2, after: 'b@example.com' }), ['c@example.com'])
  })

  test(`${name}: the rights of an actor are those of this moment`, async () => {
    const people = await open()
    const { database } = people
    const dev = await invited(people, 'dev@example.com')
    const rights = { role: 'developer', projects: ['search'], isReadOnly: false }
    const source = { reports: database, nodeTokens: ['local-admin'] }
    const ci = { kind: 'token', name: 'token:ci' } as const
    assert.deepEqual(await rightsOf({ kind: 'member', name: dev.email }, source), rights)
    await changeMember(database, dev.id, { projects: ['shop'] }, BOSS)
    assert.deepEqual(await rightsOf({ kind: 'member', name: dev.email }, source), {
      ...rights,
      projects: ['shop'],
    })
    await changeMember(database, dev.id, { disabled: true }, BOSS)
    assert.equal(await rightsOf({ kind: 'member', name: dev.email }, source), undefined)
    assert.equal(await rightsOf({ kind: 'member', name: 'gone@example.com' }, source), undefined)
    await createToken(database, { ...TOKEN, expiresAt: new Date(Date.now() + HOUR_MS) }, BOSS)
    assert.deepEqual(await rightsOf(ci, source), {
      role: 'operator',
      projects: null,
      isReadOnly: true,
    })
    await revokeToken(database, 'ci', BOSS)
    assert.equal(await rightsOf(ci, source), undefined)
    await createToken(database, { ...TOKEN, expiresAt: new Date(Date.now() - 1) }, BOSS)
    assert.equal(await rightsOf(ci, source), undefined)
    const ofTheInstall = { role: 'admin', projects: null, isReadOnly: false }
    assert.deepEqual(await rightsOf({ kind: 'node', name: 'local-admin' }, source), ofTheInstall)
  })
}

function sessionSuite(name: string, open: () => Promise<People>): void {
  test(`${name}: a session is found by its cookie until it is ended, and others go on`, async () => {
    const people = await open()
    const { database } = people
    const boss = await withFirstAdmin(people)
    const [one, two] = [await begun(people, boss, 'one'), await begun(people, boss, 'two')]
    assert.equal((await callerWith(people, 'one'))?.member.email, boss.email)
    assert.equal(await callerWith(people, 'three'), undefined)
    await endSession(database, one, BOSS)
    assert.equal(await callerWith(people, 'one'), undefined)
    assert.equal((await callerWith(people, 'two'))?.sessionId, two)
    await endSessionsOf(database, boss.id, BOSS)
    assert.equal(await callerWith(people, 'two'), undefined)
    const [entry] = await people.audit.list({ limit: 1 })
    assert.deepEqual([entry?.action, entry?.detail], ['session.end_all', { sessions: 1 }])
  })

  test(`${name}: a session ends by itself when it is unused, and when it is old, however busy`, async () => {
    const people = await open()
    const { database } = people
    const boss = await withFirstAdmin(people)
    for (const cookie of ['idle', 'old', 'busy']) await begun(people, boss, cookie)
    const back = (column: string, by: string, cookie: string) =>
      database.query(`UPDATE sessions SET ${column} = ${column} - interval '${by}' WHERE digest = $1`, [
        digestOf(cookie),
      ])
    await back('seen_at', '12 hours 1 second', 'idle')
    await back('expires_at', '168 hours', 'old')
    await back('seen_at', '11 hours', 'busy')
    assert.equal(await callerWith(people, 'idle'), undefined)
    assert.equal(await callerWith(people, 'old'), undefined)
    const leftMs = async (): Promise<number> =>
      Date.parse((await callerWith(people, 'busy'))?.expiresAt ?? '') - Date.now()
    assert.ok((await leftMs()) < HOUR_MS)
    await (await callerOfCookie(database, digestOf('busy')))?.touch()
    assert.ok((await leftMs()) > 11 * HOUR_MS)
    await sweepSessions(database)
    const kept = await database.query('SELECT 1 FROM sessions')
    assert.equal(kept.length, 1)
  })

  test(`${name}: a disabled member has no sessions, and what a session may do follows the member`, async () => {
    const people = await open()
    const { database } = people
    await withFirstAdmin(people)
    const dev = await invited(people, 'dev@example.com')
    await begun(people, dev, 'cookie')
    await changeMember(database, dev.id, { role: 'operator' }, BOSS)
    assert.equal((await callerWith(people, 'cookie'))?.role, 'operator')
    await changeMember(database, dev.id, { disabled: true }, BOSS)
    assert.equal(await callerWith(people, 'cookie'), undefined)
    await changeMember(database, dev.id, { disabled: false }, BOSS)
    assert.equal(await callerWith(people, 'cookie'), undefined)
  })

  test(`${name}: nothing kept tells a cookie, a link or a token`, async () => {
    const people = await open()
    const boss = await withFirstAdmin(people)
    await begun(people, boss, 'a-cookie-of-somebody')
    const tables = ['sessions', 'invitations', 'first_run_links', 'admin_tokens', 'audit']
    for (const table of tables) {
      const rows = JSON.stringify(await people.database.query(`SELECT t::text AS row FROM ${table} t`))
      assert.ok(!rows.includes('a-cookie-of-somebody'))
      assert.ok(!rows.includes(Buffer.from('a-cookie-of-somebody').toString('hex')))
    }
  })

  test(`${name}: what is done to people stands in the audit, with the address`, async () => {
    const people = await open()
    const { database } = people
    const boss = await withFirstAdmin(people)
    const session = await begun(people, boss, 'one')
    const dev = await invited(people, 'dev@example.com')
    await changeMember(database, dev.id, { disabled: true }, BOSS)
    await setPassword(database, boss, 'new', BOSS)
    await endSession(database, session, BOSS)
    assert.deepEqual(await actionsOf(people), [
      'boss@example.com member.password boss@example.com',
      'boss@example.com member.set dev@example.com',
      'dev@example.com member.accept dev@example.com',
      'boss@example.com member.invite dev@example.com',
      'boss@example.com session.begin boss@example.com',
      'boss@example.com member.first boss@example.com',
    ])
    const entries = await people.audit.list({ limit: 50 })
    assert.ok(entries.every(({ intact, address }) => intact && address === ADDRESS))
  })
}

function identitySuite(name: string, open: () => Promise<People>): void {
  const identity: Identity = {
    issuer: 'https://id.example.com',
    subject: 'u-1',
    name: 'Ada',
    email: 'ada@example.com',
    emailVerified: true,
    standing: { role: 'developer', projects: ['search'] },
  }

  /** The member, or why there is none. */
  async function identified(
    { database }: People,
    changes: Partial<Identity> = {},
  ): Promise<Member | { problem: string }> {
    const outcome = await identifyMember(database, { ...identity, ...changes }, ADDRESS)
    return 'problem' in outcome ? outcome : memberOf(database, outcome.memberId)
  }

  async function signedIn(people: People, changes: Partial<Identity> = {}): Promise<Member> {
    const member = await identified(people, changes)
    assert.ok('id' in member)
    return member
  }

  test(`${name}: a person with a role by the rules becomes a member, and the rules decide at each sign-in`, async () => {
    const people = await open()
    await withFirstAdmin(people)
    const first = await signedIn(people)
    assert.deepEqual([first.role, first.projects, first.source], ['developer', ['search'], 'oidc'])
    const again = await signedIn(people, {
      name: 'Ada L.',
      email: 'other@example.com',
      standing: { role: 'admin', projects: null },
    })
    assert.deepEqual(
      [again.id, again.role, again.name, again.email],
      [first.id, 'admin', 'Ada L.', 'ada@example.com'],
    )
    assert.deepEqual(await identified(people, { standing: undefined }), { problem: 'no_role' })
    await assert.rejects(changeMember(people.database, first.id, { role: 'operator' }, BOSS), /rules decide/)
  })

  test(`${name}: an unverified address does not open the account of another person`, async () => {
    const people = await open()
    const boss = await withFirstAdmin(people, 'ada@example.com')
    assert.deepEqual(await identified(people, { emailVerified: false }), { problem: 'email_taken' })
    const linked = await signedIn(people)
    assert.deepEqual([linked.id, linked.role, linked.source], [boss.id, 'admin', 'local'])
    assert.deepEqual(await identified(people, { subject: 'u-2' }), { problem: 'email_taken' })
  })

  test(`${name}: a disabled person stays out, and a person without a rule does not come in`, async () => {
    const people = await open()
    await withFirstAdmin(people)
    assert.deepEqual(await identified(people, { standing: undefined }), { problem: 'no_role' })
    const ada = await signedIn(people)
    await changeMember(people.database, ada.id, { disabled: true }, BOSS)
    assert.deepEqual(await identified(people), { problem: 'disabled' })
  })

  test(`${name}: a member that no rule gives a role any more has no session left`, async () => {
    const people = await open()
    await withFirstAdmin(people)
    await begun(people, await signedIn(people), 'laptop')
    assert.deepEqual(await identified(people, { standing: undefined }), { problem: 'no_role' })
    assert.equal(await callerWith(people, 'laptop'), undefined)
    const [entry] = await people.audit.list({ limit: 1 })
    assert.deepEqual([entry?.action, entry?.detail], ['session.end_all', { sessions: 1, reason: 'no_role' }])
  })

  test(`${name}: the rules of the sign-on never take the last admin away`, async () => {
    const people = await open()
    const { database } = people
    const boss = await withFirstAdmin(people)
    const asOperator = { standing: { role: 'operator', projects: null } } as const
    await signedIn(people, { standing: { role: 'admin', projects: null } })
    await changeMember(database, boss.id, { role: 'operator' }, BOSS)
    for (const changes of [asOperator, { standing: undefined }])
      assert.equal((await signedIn(people, changes)).role, 'admin')
    await changeMember(database, boss.id, { role: 'admin' }, BOSS)
    assert.equal((await signedIn(people, asOperator)).role, 'operator')
  })
}

function signOnSuite(name: string, open: () => Promise<People>): void {
  const SECRET = 'a-secret-of-the-client'
  const settings = {
    name: null,
    issuer: 'https://id.example.com',
    client_id: 'torana',
    rules: [{ claim: 'groups', value: 'ops', role: 'operator', projects: null } as const],
  }

  test(`${name}: the secret of the sign-on is sealed, kept while the issuer stays, and dropped with it`, async () => {
    const { audit, database } = await open()
    const keys = sealingKeysOf(SECRETS)
    const by = { keys, actor: BOSS }
    assert.equal(await readSignOn(database), undefined)
    assert.equal(await openSignOn(database, keys), undefined)
    assert.notEqual(
      (await putSignOn(database, { ...settings, client_secret: SECRET }, by)).sealed_secret,
      null,
    )
    const stored = JSON.stringify(await database.query('SELECT s::text AS row FROM sign_on s'))
    assert.ok(!stored.includes(Buffer.from(SECRET).toString('hex')))
    await putSignOn(database, { ...settings, client_id: 'other' }, by)
    const { clientSecret, clientId } = (await openSignOn(database, keys)) ?? {}
    assert.deepEqual([clientSecret, clientId], [SECRET, 'other'])
    const rotating = sealingKeysOf({ current: 'new', previous: 'the secret of these tests' })
    assert.equal((await openSignOn(database, rotating))?.clientSecret, SECRET)
    const rotated = sealingKeysOf({ current: 'new', previous: undefined })
    assert.equal((await openSignOn(database, rotated))?.clientSecret, SECRET)
    const moved = await putSignOn(database, { ...settings, issuer: 'https://evil.example' }, by)
    assert.equal(moved.sealed_secret, null)
    assert.equal((await openSignOn(database, keys))?.clientSecret, undefined)
    await dropSignOn(database, BOSS)
    assert.equal(await readSignOn(database), undefined)
    const details = JSON.stringify((await audit.list({ limit: 9 })).map(({ detail }) => detail))
    assert.ok(!details.includes(SECRET))
  })
}

const TOKEN = {
  name: 'ci',
  role: 'operator',
  projects: null,
  read_only: true,
  tail: 'abcd',
  digest: digestOf('ci'),
} as const

function tokenSuite(name: string, open: () => Promise<People>): void {
  test(`${name}: a token is found until it is revoked or has ended, and its name is one of a kind`, async () => {
    const { database } = await open()
    const token = { ...TOKEN, expiresAt: new Date(Date.now() + HOUR_MS) }
    const made = await createToken(database, token, BOSS)
    assert.deepEqual([made.created_by, made.read_only, made.last_used_at], [BOSS.name, true, null])
    const found = await callerOfToken(database, digestOf('ci'))
    assert.deepEqual([found?.caller.actor, found?.caller.isReadOnly], ['token:ci', true])
    await found?.touch()
    assert.ok((await listTokens(database))[0]?.last_used_at)
    await assert.rejects(createToken(database, { ...token, digest: digestOf('x') }, BOSS), ChangeRefused)
    const ended = { ...token, name: 'old', digest: digestOf('old'), expiresAt: new Date(Date.now() - 1) }
    await createToken(database, ended, BOSS)
    assert.equal(await callerOfToken(database, digestOf('old')), undefined)
    await revokeToken(database, 'ci', BOSS)
    assert.equal(await callerOfToken(database, digestOf('ci')), undefined)
    await assert.rejects(revokeToken(database, 'ci', BOSS), ChangeRefused)
  })
}

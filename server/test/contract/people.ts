/** What the stores of people promise, whichever engine they are kept in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Identity, MemberRecord } from '#ports/members.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import { digestOf } from '#http/control/access/secret-text.ts'
import type { People } from '#test/support/people.ts'

const HOUR_MS = 3_600_000
const ADDRESS = '192.0.2.7'
export const BOSS = { name: 'boss@example.com', address: ADDRESS }

export async function withFirstAdmin(people: People, email = 'boss@example.com'): Promise<MemberRecord> {
  await people.members.addFirstRunLink(digestOf('link'), HOUR_MS)
  const credentials = { name: 'Boss', email, passwordHash: 'hash' }
  const member = await people.members.firstAdmin(digestOf('link'), credentials, ADDRESS)
  assert.ok(member)
  return member
}

async function invited(
  { invitations }: People,
  email: string,
  role: 'developer' | 'admin' = 'developer',
): Promise<MemberRecord> {
  const projects = role === 'developer' ? ['search'] : null
  const digest = digestOf(`invite ${email}`)
  await invitations.invite({ email, role, projects, digest, lifeMs: HOUR_MS }, BOSS)
  const member = await invitations.accept(digest, { name: email, passwordHash: 'h' }, ADDRESS)
  assert.ok(member)
  return member
}

async function actionsOf({ audit }: People): Promise<string[]> {
  return (await audit.list({ limit: 50 })).map(({ actor, action, target }) => `${actor} ${action} ${target}`)
}

export function peopleSuite(name: string, open: () => Promise<People>): void {
  firstAdminSuite(name, open)
  memberSuite(name, open)
  sessionSuite(name, open)
  identitySuite(name, open)
  signOnSuite(name, open)
  tokenSuite(name, open)
}

function firstAdminSuite(name: string, open: () => Promise<People>): void {
  test(`${name}: of many who use links at the same time one becomes the first admin`, async () => {
    const people = await open()
    const { members } = people
    assert.equal(await members.hasMembers(), false)
    const links = ['one', 'two', 'three', 'four'].map(digestOf)
    for (const link of links) assert.ok(await members.addFirstRunLink(link, HOUR_MS))
    const made = await Promise.all(
      [...links, ...links].map((link, index) =>
        members.firstAdmin(link, { name: 'x', email: `${index}@example.com`, passwordHash: 'h' }, ADDRESS),
      ),
    )
    assert.equal(made.filter((one) => one !== undefined).length, 1)
    assert.equal((await members.list({ limit: 10 })).length, 1)
    assert.equal(await members.addFirstRunLink(digestOf('five'), HOUR_MS), false)
    assert.equal(await members.isFirstRunLink(digestOf('two')), false)
  })

  test(`${name}: a first-run link that is wrong or too old makes nobody an admin`, async () => {
    const { members } = await open()
    await members.addFirstRunLink(digestOf('old'), -1)
    const credentials = { name: 'x', email: 'x@example.com', passwordHash: 'h' }
    for (const link of ['old', 'wrong']) {
      assert.equal(await members.isFirstRunLink(digestOf(link)), false)
      assert.equal(await members.firstAdmin(digestOf(link), credentials, ADDRESS), undefined)
    }
    assert.equal(await members.hasMembers(), false)
  })
}

function memberSuite(name: string, open: () => Promise<People>): void {
  test(`${name}: an invitation works once, and the newest one of an address alone`, async () => {
    const people = await open()
    const { invitations, members } = people
    const invitation = {
      email: 'dev@example.com',
      role: 'developer',
      projects: ['search'],
      lifeMs: HOUR_MS,
    } as const
    await invitations.invite({ ...invitation, digest: digestOf('first') }, BOSS)
    await invitations.invite({ ...invitation, digest: digestOf('second') }, BOSS)
    assert.equal(await invitations.find(digestOf('first')), undefined)
    assert.equal((await invitations.find(digestOf('second')))?.email, 'dev@example.com')
    const accepted = await Promise.all(
      ['first', 'second', 'second'].map((link) =>
        invitations.accept(digestOf(link), { name: 'Dev', passwordHash: 'h' }, ADDRESS),
      ),
    )
    assert.equal(accepted.filter((one) => one !== undefined).length, 1)
    const [member] = await members.list({ limit: 10 })
    assert.deepEqual([member?.role, member?.projects, member?.source], ['developer', ['search'], 'local'])
    assert.deepEqual(await invitations.list(), [])
  })

  test(`${name}: an invitation that is too old or withdrawn makes no member`, async () => {
    const { invitations } = await open()
    const invitation = { email: 'a@example.com', role: 'operator', projects: null } as const
    await invitations.invite({ ...invitation, digest: digestOf('old'), lifeMs: -1 }, BOSS)
    assert.equal(await invitations.find(digestOf('old')), undefined)
    assert.equal(
      await invitations.accept(digestOf('old'), { name: 'A', passwordHash: 'h' }, ADDRESS),
      undefined,
    )
    await invitations.invite({ ...invitation, digest: digestOf('new'), lifeMs: HOUR_MS }, BOSS)
    await invitations.withdraw('a@example.com', BOSS)
    assert.equal(await invitations.find(digestOf('new')), undefined)
    await assert.rejects(invitations.withdraw('a@example.com', BOSS), ChangeRefused)
  })

  test(`${name}: an invitation of a member is the way to a new password, and changes neither role nor name`, async () => {
    const people = await open()
    const member = await withFirstAdmin(people)
    await people.sessions.begin({ memberId: member.id, digest: digestOf('cookie'), address: ADDRESS })
    const digest = digestOf('again')
    await people.invitations.invite(
      { email: member.email, role: 'developer', projects: [], digest, lifeMs: HOUR_MS },
      BOSS,
    )
    const again = await people.invitations.accept(digest, { name: 'Other', passwordHash: 'new' }, ADDRESS)
    assert.deepEqual([again?.id, again?.role, again?.name], [member.id, 'admin', 'Boss'])
    assert.equal((await people.members.byEmail(member.email))?.passwordHash, 'new')
    assert.equal(await people.sessions.find(digestOf('cookie')), undefined)
  })

  test(`${name}: the last admin stays one, also when two are taken away at the same time`, async () => {
    const people = await open()
    const boss = await withFirstAdmin(people)
    await assert.rejects(people.members.change(boss.id, { role: 'operator' }, BOSS), /last admin/)
    await assert.rejects(people.members.change(boss.id, { disabled: true }, BOSS), /last admin/)
    const second = await invited(people, 'second@example.com', 'admin')
    const outcomes = await Promise.allSettled(
      [boss, second].map(({ id }) => people.members.change(id, { disabled: true }, BOSS)),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  test(`${name}: only developers have projects, and a changed role takes them away`, async () => {
    const people = await open()
    const { id } = await invited(people, 'dev@example.com')
    const operator = await people.members.change(id, { role: 'operator' }, BOSS)
    assert.deepEqual([operator.role, operator.projects], ['operator', null])
    const developer = await people.members.change(id, { role: 'developer' }, BOSS)
    assert.deepEqual([developer.role, developer.projects], ['developer', []])
    const moved = await people.members.change(id, { projects: ['shop'] }, BOSS)
    assert.deepEqual(moved.projects, ['shop'])
    await assert.rejects(people.members.change(crypto.randomUUID(), { name: 'x' }, BOSS), ChangeRefused)
  })

  test(`${name}: members are listed page by page`, async () => {
    const people = await open()
    for (const one of ['b', 'a', 'c']) await invited(people, `${one}@example.com`)
    const first = await people.members.list({ limit: 2 })
    assert.deepEqual(
      first.map(({ email }) => email),
      ['a@example.com', 'b@example.com'],
    )
    const rest = await people.members.list({ limit: 2, after: 'b@example.com' })
    assert.deepEqual(
      rest.map(({ email }) => email),
      ['c@example.com'],
    )
  })

  test(`${name}: views are kept for their member alone, in their order`, async () => {
    const people = await open()
    const [one, two] = [await invited(people, 'a@example.com'), await invited(people, 'b@example.com')]
    const views = ['z', 'a'].map((view) => ({ page: 'requests', name: view, search: 'outcome=failed' }))
    await people.savedViews.replace(one.id, views)
    await people.savedViews.replace(two.id, [])
    assert.deepEqual(await people.savedViews.list(one.id), views)
    assert.deepEqual(await people.savedViews.list(two.id), [])
    await people.savedViews.replace(one.id, views.slice(1))
    assert.deepEqual(await people.savedViews.list(one.id), views.slice(1))
  })
}

function sessionSuite(name: string, open: () => Promise<People>): void {
  const begun = async (people: People, member: MemberRecord, cookie: string) =>
    people.sessions.begin({ memberId: member.id, digest: digestOf(cookie), address: ADDRESS })

  test(`${name}: a session is found by its cookie until it is ended, and others go on`, async () => {
    const people = await open()
    const boss = await withFirstAdmin(people)
    const [one, two] = [await begun(people, boss, 'one'), await begun(people, boss, 'two')]
    assert.equal((await people.sessions.find(digestOf('one')))?.member.email, boss.email)
    assert.equal(await people.sessions.find(digestOf('three')), undefined)
    await people.sessions.end(one.id, BOSS)
    assert.equal(await people.sessions.find(digestOf('one')), undefined)
    assert.equal((await people.sessions.find(digestOf('two')))?.id, two.id)
    assert.equal(await people.sessions.endAllOf(boss.id, BOSS), 1)
    assert.equal(await people.sessions.find(digestOf('two')), undefined)
  })

  test(`${name}: a session ends by itself when nobody used it, and when it is old, however busy`, async () => {
    const people = await open()
    const boss = await withFirstAdmin(people)
    await begun(people, boss, 'idle')
    await begun(people, boss, 'old')
    await begun(people, boss, 'busy')
    const back = (column: string, by: string, cookie: string) =>
      people.database.query(`UPDATE sessions SET ${column} = now() - interval '${by}' WHERE digest = $1`, [
        digestOf(cookie),
      ])
    await back('seen_at', '12 hours 1 second', 'idle')
    await back('expires_at', '1 second', 'old')
    await back('seen_at', '11 hours', 'busy')
    assert.equal(await people.sessions.find(digestOf('idle')), undefined)
    assert.equal(await people.sessions.find(digestOf('old')), undefined)
    const busy = await people.sessions.find(digestOf('busy'))
    assert.ok(busy && busy.expiresAtMs - Date.now() < HOUR_MS)
    await people.sessions.touch(busy.id)
    const touched = await people.sessions.find(digestOf('busy'))
    assert.ok(touched && touched.expiresAtMs - Date.now() > 11 * HOUR_MS)
    await people.sessions.sweep()
    const kept = await people.database.query('SELECT 1 FROM sessions')
    assert.equal(kept.length, 1)
  })

  test(`${name}: a disabled member has no sessions, and what a session may do follows the member`, async () => {
    const people = await open()
    await withFirstAdmin(people)
    const dev = await invited(people, 'dev@example.com')
    await begun(people, dev, 'cookie')
    await people.members.change(dev.id, { role: 'operator' }, BOSS)
    assert.equal((await people.sessions.find(digestOf('cookie')))?.member.role, 'operator')
    await people.members.change(dev.id, { disabled: true }, BOSS)
    assert.equal(await people.sessions.find(digestOf('cookie')), undefined)
    await people.members.change(dev.id, { disabled: false }, BOSS)
    assert.equal(await people.sessions.find(digestOf('cookie')), undefined)
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
    const boss = await withFirstAdmin(people)
    const session = await begun(people, boss, 'one')
    const dev = await invited(people, 'dev@example.com')
    await people.members.change(dev.id, { disabled: true }, BOSS)
    await people.members.setPassword(boss.id, 'new', BOSS)
    await people.sessions.end(session.id, BOSS)
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

  test(`${name}: somebody whom the rules give a role becomes a member, and the rules decide at each sign-in`, async () => {
    const people = await open()
    await withFirstAdmin(people)
    const { members } = people
    const first = await members.identified(identity, ADDRESS)
    assert.ok(typeof first === 'object')
    assert.deepEqual([first.role, first.projects, first.source], ['developer', ['search'], 'oidc'])
    const again = await members.identified(
      {
        ...identity,
        name: 'Ada L.',
        email: 'other@example.com',
        standing: { role: 'admin', projects: null },
      },
      ADDRESS,
    )
    assert.ok(typeof again === 'object')
    assert.deepEqual(
      [again.id, again.role, again.name, again.email],
      [first.id, 'admin', 'Ada L.', 'ada@example.com'],
    )
    assert.equal(await members.identified({ ...identity, standing: undefined }, ADDRESS), 'no_role')
    await assert.rejects(members.change(first.id, { role: 'operator' }, BOSS), /rules decide/)
  })

  test(`${name}: an address that nobody vouches for does not open the account of another person`, async () => {
    const people = await open()
    const boss = await withFirstAdmin(people, 'ada@example.com')
    const { members } = people
    assert.equal(await members.identified({ ...identity, emailVerified: false }, ADDRESS), 'email_taken')
    const linked = await members.identified(identity, ADDRESS)
    assert.ok(typeof linked === 'object')
    assert.deepEqual([linked.id, linked.role, linked.source], [boss.id, 'admin', 'local'])
    assert.equal(await members.identified({ ...identity, subject: 'u-2' }, ADDRESS), 'email_taken')
  })

  test(`${name}: whoever is disabled stays out, and whoever no rule knows does not come in`, async () => {
    const people = await open()
    await withFirstAdmin(people)
    const { members } = people
    assert.equal(await members.identified({ ...identity, standing: undefined }, ADDRESS), 'no_role')
    const ada = await members.identified(identity, ADDRESS)
    assert.ok(typeof ada === 'object')
    await members.change(ada.id, { disabled: true }, BOSS)
    assert.equal(await members.identified(identity, ADDRESS), 'disabled')
  })

  test(`${name}: a member that no rule gives a role any more has no session left`, async () => {
    const people = await open()
    await withFirstAdmin(people)
    const ada = await people.members.identified(identity, ADDRESS)
    assert.ok(typeof ada === 'object')
    await people.sessions.begin({ memberId: ada.id, digest: digestOf('laptop'), address: ADDRESS })
    assert.equal(await people.members.identified({ ...identity, standing: undefined }, ADDRESS), 'no_role')
    assert.equal(await people.sessions.find(digestOf('laptop')), undefined)
    const [entry] = await people.audit.list({ limit: 1 })
    assert.deepEqual([entry?.action, entry?.detail], ['session.end_all', { sessions: 1, reason: 'no_role' }])
  })

  test(`${name}: the rules of the sign-on never take the last admin away`, async () => {
    const people = await open()
    const { members } = people
    const boss = await withFirstAdmin(people)
    const asAdmin = { ...identity, standing: { role: 'admin', projects: null } } as const
    const ada = await members.identified(asAdmin, ADDRESS)
    assert.ok(typeof ada === 'object')
    await members.change(boss.id, { role: 'operator' }, BOSS)
    for (const standing of [{ role: 'operator', projects: null } as const, undefined]) {
      const again = await members.identified({ ...identity, standing }, ADDRESS)
      assert.ok(typeof again === 'object')
      assert.equal(again.role, 'admin')
    }
    await members.change(boss.id, { role: 'admin' }, BOSS)
    const lesser = await members.identified(
      { ...identity, standing: { role: 'operator', projects: null } },
      ADDRESS,
    )
    assert.equal(typeof lesser === 'object' && lesser.role, 'operator')
  })
}

function signOnSuite(name: string, open: () => Promise<People>): void {
  const change = {
    name: undefined,
    issuer: 'https://id.example.com',
    clientId: 'torana',
    clientSecret: 'a-secret-of-the-client',
    rules: [{ claim: 'groups', value: 'ops', role: 'operator', projects: null } as const],
  }

  test(`${name}: the secret of the sign-on is sealed, kept while the issuer stays, and dropped with it`, async () => {
    const { signOn, signOnWith, audit, database } = await open()
    assert.equal(await signOn.read(), undefined)
    assert.equal(await signOn.open(), undefined)
    assert.equal((await signOn.put(change, BOSS)).hasSecret, true)
    const stored = JSON.stringify(await database.query('SELECT s::text AS row FROM sign_on s'))
    assert.ok(!stored.includes(Buffer.from('a-secret-of-the-client').toString('hex')))
    await signOn.put({ ...change, clientSecret: undefined, clientId: 'other' }, BOSS)
    assert.deepEqual(
      [(await signOn.open())?.clientSecret, (await signOn.open())?.clientId],
      ['a-secret-of-the-client', 'other'],
    )
    const rotating = signOnWith({ current: 'new', previous: 'the secret of these tests' })
    assert.equal((await rotating.open())?.clientSecret, 'a-secret-of-the-client')
    const rotated = signOnWith({ current: 'new', previous: undefined })
    assert.equal((await rotated.open())?.clientSecret, 'a-secret-of-the-client')
    const moved = await signOn.put(
      { ...change, clientSecret: undefined, issuer: 'https://evil.example' },
      BOSS,
    )
    assert.equal(moved.hasSecret, false)
    assert.equal((await signOn.open())?.clientSecret, undefined)
    await signOn.drop(BOSS)
    assert.equal(await signOn.read(), undefined)
    const told = JSON.stringify((await audit.list({ limit: 9 })).map(({ detail }) => detail))
    assert.ok(!told.includes('a-secret-of-the-client'))
  })
}

function tokenSuite(name: string, open: () => Promise<People>): void {
  test(`${name}: a token is found until it is revoked or has ended, and its name is one of a kind`, async () => {
    const { adminTokens } = await open()
    const token = {
      name: 'ci',
      role: 'operator',
      projects: null,
      isReadOnly: true,
      tail: 'abcd',
      digest: digestOf('ci'),
      expiresAtMs: Date.now() + HOUR_MS,
    } as const
    const made = await adminTokens.create(token, BOSS)
    assert.deepEqual([made.createdBy, made.isReadOnly, made.lastUsedAtMs], [BOSS.name, true, undefined])
    assert.equal((await adminTokens.find(digestOf('ci')))?.name, 'ci')
    await adminTokens.touch('ci')
    assert.ok((await adminTokens.list())[0]?.lastUsedAtMs)
    await assert.rejects(adminTokens.create({ ...token, digest: digestOf('x') }, BOSS), ChangeRefused)
    const ended = { ...token, name: 'old', digest: digestOf('old'), expiresAtMs: Date.now() - 1 }
    await adminTokens.create(ended, BOSS)
    assert.equal(await adminTokens.find(digestOf('old')), undefined)
    await adminTokens.revoke('ci', BOSS)
    assert.equal(await adminTokens.find(digestOf('ci')), undefined)
    await assert.rejects(adminTokens.revoke('ci', BOSS), ChangeRefused)
  })
}

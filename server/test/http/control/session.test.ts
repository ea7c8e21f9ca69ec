/** Signing in and out, over a whole node. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { browserWith, cookieIn, memberOf, PASSWORD, signIn } from '#test/support/members.ts'
import { testPostgres } from '#test/support/servers.ts'

const node = await startConsoleNode()
const other = { 'x-forwarded-for': '203.0.113.9' }
let people = 0
const newMember = (role = 'operator', projects: readonly string[] | null = null) =>
  memberOf(node, `person-${(people += 1)}@example.com`, role, projects)

test('a session shows its member, its permissions and its projects', async () => {
  const developer = await newMember('developer', ['search'])
  const { status, body } = await developer.ask('GET', '/session')
  assert.equal(status, 200)
  assert.deepEqual(
    [body['role'], body['projects'], (body['member'] as { email: string }).email, body['insecure']],
    ['developer', ['search'], developer.email, false],
  )
  const permissions = body['permissions'] as string[]
  assert.ok(permissions.includes('keys.create') && !permissions.includes('members.read'))
  const install = body['install'] as Record<string, unknown>
  assert.deepEqual([install['gateway_url'], install['sign_on']], [node.url, null])
  const token = await node.control('GET', '/session', { token: NODE_TOKEN })
  assert.deepEqual([token.body['member'], token.body['role']], [null, 'admin'])
})

test('the cookie is for this host alone, not for pages, and not sent by others', async () => {
  const { email } = await newMember()
  const [cookie = ''] = (await signIn(node, email)).headers.getSetCookie()
  assert.match(cookie, /^torana=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
})

test('a sign-in gives a new session each time, whatever the browser brought', async () => {
  const browser = await newMember()
  const chosen = 'torana=chosen-by-somebody-else'
  const answer = await node.control('POST', '/session', {
    origin: node.controlUrl,
    cookie: chosen,
    body: { email: browser.email, password: PASSWORD },
  })
  assert.notEqual(cookieIn(answer), chosen)
  assert.equal((await node.control('GET', '/session', { cookie: chosen })).status, 401)
  const again = await browser.ask('POST', '/session', { email: browser.email, password: PASSWORD })
  assert.notEqual(cookieIn(again), browser.cookie)
  assert.equal((await browser.ask('GET', '/session')).body.error?.code, 'session_ended')
})

test('a wrong password and an unknown address get the same answer', async () => {
  const { email } = await newMember()
  const [wrong, unknown] = [
    await signIn(node, email, 'wrong'),
    await signIn(node, 'nobody@example.com', 'wrong'),
  ]
  for (const answer of [wrong, unknown]) assert.equal(answer.status, 401)
  assert.equal(wrong.body.error?.message, unknown.body.error?.message)
  assert.deepEqual(wrong.headers.getSetCookie(), [])
})

test('a member that signs out is out, everywhere if asked, and others stay', async () => {
  const first = await newMember()
  const second = browserWith(node, first.email, cookieIn(await signIn(node, first.email)))
  const left = await first.ask('DELETE', '/session')
  assert.equal(left.status, 204)
  assert.match(left.headers.getSetCookie().join(), /^torana=; .*Max-Age=0/)
  assert.equal((await first.ask('GET', '/session')).status, 401)
  assert.equal((await second.ask('GET', '/session')).status, 200)
  const third = browserWith(node, first.email, cookieIn(await signIn(node, first.email)))
  assert.equal((await third.ask('DELETE', '/session/all')).status, 204)
  for (const browser of [second, third]) assert.equal((await browser.ask('GET', '/session')).status, 401)
})

test('another password ends all sessions but the one that chose it', async () => {
  const browser = await newMember()
  const elsewhere = browserWith(node, browser.email, cookieIn(await signIn(node, browser.email)))
  const wrong = await browser.ask('PUT', '/session/password', {
    current: 'wrong',
    password: 'another one, long',
  })
  assert.equal(wrong.status, 400)
  const change = { current: PASSWORD, password: 'another one, long' }
  const changed = await browser.ask('PUT', '/session/password', change)
  assert.equal(changed.status, 204)
  browser.cookie = cookieIn(changed)
  assert.equal((await browser.ask('GET', '/session')).status, 200)
  assert.equal((await elsewhere.ask('GET', '/session')).status, 401)
  assert.equal((await signIn(node, browser.email)).status, 401)
  assert.equal((await signIn(node, browser.email, 'another one, long')).status, 204)
  const short = await browser.ask('PUT', '/session/password', { current: 'x', password: 'short' })
  assert.deepEqual([short.status, short.body.error?.code], [400, 'invalid_parameter'])
})

test('over plain http only this machine signs in, and an untrusted proxy does not count as this machine', async () => {
  const { email, cookie } = await newMember()
  for (const headers of [other, { 'x-forwarded-proto': 'https' }, { forwarded: 'for=127.0.0.1' }] as Record<
    string,
    string
  >[]) {
    assert.equal((await signIn(node, email, PASSWORD, headers)).body.error?.code, 'insecure_sign_in')
    const asked = await node.control('GET', '/session', { cookie, headers })
    assert.equal(asked.body.error?.code, 'insecure_sign_in')
    const options = await node.control('GET', '/session/options', { headers })
    assert.equal(options.body['allowed'], false)
  }
})

test('behind a trusted proxy with TLS the cookie is __Host-, and the address is that of the client', async () => {
  const { url } = await testPostgres()
  const behind = await startConsoleNode({ env: { DATABASE_URL: url, TRUSTED_PROXIES: 'loopback' } })
  await memberOf(behind, 'a@example.com', 'admin')
  const headers = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'torana.example.com',
  }
  const body = { email: 'a@example.com', password: PASSWORD }
  const origin = 'https://torana.example.com'
  const answer = await behind.control('POST', '/session', { origin, headers, body })
  assert.equal(answer.status, 204, answer.text)
  assert.match(
    answer.headers.getSetCookie().join(),
    /^__Host-torana=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  )
  const refused = await behind.control('POST', '/session', { origin: behind.controlUrl, headers, body })
  assert.equal(refused.body.error?.code, 'wrong_origin')
  const audit = await behind.control('GET', '/audit?limit=1', { token: NODE_TOKEN })
  const [entry] = audit.body['data'] as { address: string; actor: string; action: string }[]
  assert.deepEqual(
    [entry?.actor, entry?.action, entry?.address],
    ['a@example.com', 'session.begin', '203.0.113.9'],
  )
})

test('where the operator allows it, others sign in over plain http, and the console warns', async () => {
  const { url } = await testPostgres()
  const open = await startConsoleNode({
    env: { DATABASE_URL: url, TORANA_INSECURE_CONSOLE: 'true', TRUSTED_PROXIES: 'loopback' },
  })
  const { email } = await memberOf(open, 'a@example.com', 'admin')
  const answer = await signIn(open, email, PASSWORD, other)
  assert.equal(answer.status, 204, answer.text)
  const session = await open.control('GET', '/session', { cookie: cookieIn(answer), headers: other })
  assert.equal(session.body['insecure'], true)
})

test('what ends a session on one node ends it on the other within two seconds', async () => {
  const { url } = await testPostgres()
  const [one, two] = [
    await startConsoleNode({ env: { DATABASE_URL: url } }),
    await startConsoleNode({ env: { DATABASE_URL: url } }),
  ]
  const member = await memberOf(one, 'a@example.com', 'operator')
  const there = { ...browserWith(two, member.email, member.cookie) }
  assert.equal((await there.ask('GET', '/session')).status, 200)
  const { body } = await one.control('GET', '/members', { token: NODE_TOKEN })
  const [{ id } = { id: '' }] = body['data'] as { id: string }[]
  const disabled = await one.control('PATCH', `/members/${id}`, {
    token: NODE_TOKEN,
    body: { disabled: true },
  })
  assert.equal(disabled.status, 200, disabled.text)
  assert.equal((await member.ask('GET', '/session')).status, 401)
  await new Promise((resolve) => setTimeout(resolve, 2000))
  assert.equal((await there.ask('GET', '/session')).status, 401)
  assert.equal((await signIn(two, member.email)).status, 401)
})

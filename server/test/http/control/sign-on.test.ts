/** Sign-on by a real OpenID Connect provider, as browsers walk through it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { CLIENT, startIdentityProvider } from '#test/support/identity-provider.ts'
import { memberOf, signIn } from '#test/support/members.ts'

const node = await startConsoleNode()
const callback = `${node.controlUrl}/api/v1/session/oidc/callback`
const person = (email: string, groups: readonly string[], more = {}) => ({
  name: email.split('@')[0],
  email,
  email_verified: true,
  groups,
  ...more,
})
const provider = await startIdentityProvider(
  {
    dora: person('dora@example.com', ['search', 'shop']),
    otto: person('otto@example.com', ['ops']),
    anna: person('Anna@Example.com', ['admins', 'ops']),
    nina: person('nina@example.com', ['kitchen']),
    loki: person('local@example.com', ['admins'], { email_verified: false }),
    liv: person('local@example.com', ['search']),
    mute: { name: 'mute', groups: ['ops'] },
  },
  [callback],
)
const rules = [
  { claim: 'groups', value: 'search', role: 'developer', projects: ['search'] },
  { claim: 'groups', value: 'shop', role: 'developer', projects: ['shop', 'search'] },
  { claim: 'groups', value: 'ops', role: 'operator' },
  { claim: 'groups', value: 'admins', role: 'admin' },
]
const begin = `${node.controlUrl}/api/v1/session/oidc`
const put = (more = {}) =>
  node.control('PUT', '/sign-on', {
    token: NODE_TOKEN,
    body: {
      issuer: provider.issuer,
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      name: 'Example ID',
      rules,
      ...more,
    },
  })

test('without a sign-on there is no redirect', async () => {
  const { location } = await provider.walk(begin, 'dora')
  assert.equal(location, `${node.controlUrl}/sign-in?problem=none`)
  const test = await node.control('POST', '/sign-on/test', { token: NODE_TOKEN })
  assert.equal(test.status, 409)
})

test('the sign-on is set up, and its secret is never shown', async () => {
  const saved = await put()
  assert.equal(saved.status, 200, saved.text)
  const read = await node.control('GET', '/sign-on', { token: NODE_TOKEN })
  assert.deepEqual(
    [read.body['has_secret'], read.body['redirect_url'], read.body['name']],
    [true, callback, 'Example ID'],
  )
  for (const answer of [saved, read]) assert.ok(!answer.text.includes(CLIENT.secret))
  const audit = await node.control('GET', '/audit', { token: NODE_TOKEN })
  assert.ok(!audit.text.includes(CLIENT.secret))
  const options = await node.control('GET', '/session/options')
  assert.equal(options.body['sign_on'], 'Example ID')
})

test('an issuer that could be read or changed on the way is refused', async () => {
  for (const issuer of [
    'http://id.example.com',
    'ftp://id.example.com',
    'id.example.com',
    'http://127.0.0.1.evil.example',
  ])
    assert.equal((await put({ issuer })).status, 400, issuer)
  const projects = [{ claim: 'groups', value: 'x', role: 'admin', projects: ['search'] }]
  assert.equal((await put({ rules: projects })).status, 400)
})

for (const [name, role, projects] of [
  ['dora', 'developer', ['search', 'shop']],
  ['otto', 'operator', null],
  ['anna', 'admin', null],
] as const)
  test(`${name} signs in as ${role}, and comes to the page that was asked for`, async () => {
    const { location, cookies } = await provider.walk(`${begin}?return=/requests?outcome=failed`, name)
    assert.equal(location, `${node.controlUrl}/requests?outcome=failed`)
    assert.equal(cookies.has('torana-sign-on'), false)
    const cookie = `torana=${cookies.get('torana')}`
    const session = await node.control('GET', '/session', { cookie })
    assert.deepEqual([session.body['role'], session.body['projects']], [role, projects])
    assert.equal((session.body['member'] as { email: string }).email, `${name}@example.com`)
  })

test('a person without a rule, without an address or disabled stays out', async () => {
  assert.match((await provider.walk(begin, 'nina')).location ?? '', /problem=no_role$/)
  assert.match((await provider.walk(begin, 'mute')).location ?? '', /problem=no_email$/)
  const { body } = await node.control('GET', '/members', { token: NODE_TOKEN })
  const otto = (body['data'] as { id: string; email: string; source: string }[]).find(
    ({ email }) => email === 'otto@example.com',
  )
  assert.equal(otto?.source, 'oidc')
  const change = (fields: object) =>
    node.control('PATCH', `/members/${otto?.id}`, { token: NODE_TOKEN, body: fields })
  assert.equal((await change({ role: 'admin' })).status, 409)
  assert.equal((await change({ disabled: true })).status, 200)
  const refused = await provider.walk(`${begin}?return=/keys`, 'otto')
  assert.match(refused.location ?? '', /problem=disabled&return=%2Fkeys$/)
  assert.equal(refused.cookies.has('torana'), false)
})

test('an address that the provider does not vouch for opens no other account', async () => {
  const local = await memberOf(node, 'local@example.com', 'operator')
  assert.match((await provider.walk(begin, 'loki')).location ?? '', /problem=email_taken$/)
  const linked = await provider.walk(begin, 'liv')
  const session = await node.control('GET', '/session', { cookie: `torana=${linked.cookies.get('torana')}` })
  assert.equal(session.body['role'], 'operator')
  assert.equal((await local.ask('GET', '/session')).status, 200)
  assert.equal((await signIn(node, 'local@example.com')).status, 204)
})

test('an answer that this browser did not ask for signs no one in', async () => {
  const stolen = await fetch(`${callback}?code=x&state=y`, { redirect: 'manual' })
  assert.match(stolen.headers.get('location') ?? '', /problem=late$/)
  const started = await fetch(begin, { redirect: 'manual' })
  const cookie = started.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  assert.match(
    started.headers.getSetCookie().join(),
    /^torana-sign-on=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
  )
  const state = new URL(started.headers.get('location') ?? '').searchParams
  assert.equal(state.get('code_challenge_method'), 'S256')
  assert.ok(state.get('nonce') !== null && state.get('state') !== null)
  for (const query of ['code=x&state=other', 'code=x', `error=access_denied&state=${state.get('state')}`]) {
    const answer = await fetch(`${callback}?${query}`, { redirect: 'manual', headers: { cookie } })
    assert.match(answer.headers.get('location') ?? '', /problem=(failed|denied)$/, query)
    assert.equal(
      answer.headers.getSetCookie().some((line) => line.startsWith('torana=')),
      false,
    )
  }
})

test('no one is redirected to a foreign address', async () => {
  for (const asked of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
  ]) {
    const { location } = await provider.walk(`${begin}?return=${encodeURIComponent(asked)}`, 'anna')
    assert.equal(new URL(location ?? '').origin, node.controlUrl, asked)
  }
})

test('a test shows the claims and the role, and signs no one in', async () => {
  const { body } = await node.control('POST', '/sign-on/test', { token: NODE_TOKEN })
  const walked = await provider.walk(String(body['url']), 'dora')
  assert.equal(walked.status, 200)
  assert.match(walked.text, /would sign in as <strong>developer<\/strong>/)
  assert.match(walked.text, /dora@example\.com/)
  assert.equal(walked.cookies.has('torana'), false)
  const forged = await provider.walk(`${begin}?test=forged`, 'dora')
  assert.equal(forged.location, `${node.controlUrl}/`)
})

test('an unreachable provider is reported on the sign-in page, and passwords still work', async () => {
  await put({ issuer: 'http://127.0.0.1:1' })
  const { location } = await provider.walk(begin, 'dora')
  assert.match(location ?? '', /sign-in\?problem=failed$/)
  assert.equal((await signIn(node, 'local@example.com')).status, 204)
  assert.equal((await node.control('DELETE', '/sign-on', { token: NODE_TOKEN })).status, 204)
  assert.equal((await node.control('GET', '/session/options')).body['sign_on'], null)
})

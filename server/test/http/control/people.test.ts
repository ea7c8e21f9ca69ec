/** Members, invitations and tokens, over a whole node. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { Agent, fetch as undiciFetch } from 'undici'
import { test } from 'node:test'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { browserWith, cookieIn, memberOf, PASSWORD } from '#test/support/members.ts'
import { testPostgres } from '#test/support/servers.ts'

const node = await startConsoleNode()

interface Member {
  readonly id: string
  readonly email: string
  readonly role: string
}

async function members(): Promise<readonly Member[]> {
  const { body } = await node.control('GET', '/members', { token: NODE_TOKEN })
  return body['data'] as Member[]
}

test('an invitation leads to a member with its role, once, and its link stands in no list and no audit', async () => {
  const invited = await node.control('POST', '/invitations', {
    token: NODE_TOKEN,
    body: { email: 'Mia@Example.com', role: 'developer', projects: ['search'] },
  })
  const link = String(invited.body['link'])
  assert.match(link, new RegExp(`^${node.controlUrl}/invite/[\\w-]{43}$`))
  const token = link.split('/').at(-1) ?? ''
  for (const path of ['/invitations', '/audit'])
    assert.ok(!(await node.control('GET', path, { token: NODE_TOKEN })).text.includes(token))
  const looked = await node.control('POST', '/invitations/look', { body: { token } })
  assert.deepEqual(
    [looked.body['email'], looked.body['role'], looked.body['link']],
    ['mia@example.com', 'developer', undefined],
  )
  const browser = browserWith(node, 'mia@example.com', '')
  const weak = await browser.ask('POST', '/invitations/accept', { token, name: 'Mia', password: 'short' })
  assert.equal(weak.status, 400)
  const accepted = await browser.ask('POST', '/invitations/accept', {
    token,
    name: 'Mia',
    password: PASSWORD,
  })
  assert.equal(accepted.status, 204)
  browser.cookie = cookieIn(accepted)
  assert.equal((await browser.ask('GET', '/keys')).status, 200)
  assert.equal((await browser.ask('GET', '/members')).body.error?.code, 'forbidden')
  const again = await browser.ask('POST', '/invitations/accept', { token, name: 'Mia', password: PASSWORD })
  assert.equal(again.body.error?.code, 'link_invalid')
})

test('only developers are kept to projects', async () => {
  for (const role of ['operator', 'admin'])
    for (const path of ['/invitations', '/tokens']) {
      const body = { email: 'a@example.com', name: 'a', role, projects: ['search'], expires_in_days: 1 }
      const { email: _, ...token } = body
      const { name: __, expires_in_days: ___, ...invitation } = body
      const answer = await node.control('POST', path, {
        token: NODE_TOKEN,
        body: path === '/tokens' ? token : invitation,
      })
      assert.equal(answer.status, 400)
    }
})

test('a changed role applies at once, and a disabled member is out', async () => {
  const browser = await memberOf(node, 'otto@example.com', 'developer', [])
  const { id } = (await members()).find(({ email }) => email === browser.email) as Member
  const change = (body: object) => node.control('PATCH', `/members/${id}`, { token: NODE_TOKEN, body })
  assert.equal((await browser.ask('GET', '/nodes')).status, 403)
  assert.equal((await change({ role: 'operator' })).status, 200)
  assert.equal((await browser.ask('GET', '/nodes')).status, 200)
  assert.equal((await change({ disabled: true })).status, 200)
  assert.equal((await browser.ask('GET', '/session')).status, 401)
  assert.equal((await change({ disabled: false })).status, 200)
  assert.equal((await browser.ask('GET', '/session')).status, 401)
  assert.equal((await node.control('DELETE', `/members/${id}/sessions`, { token: NODE_TOKEN })).status, 204)
})

test('the last admin stays one', async () => {
  const admin = await memberOf(node, 'boss@example.com', 'admin')
  const { id } = (await members()).find(({ email }) => email === admin.email) as Member
  const answer = await admin.ask('PATCH', `/members/${id}`, { role: 'developer' })
  assert.deepEqual([answer.status, answer.body.error?.code], [409, 'conflict'])
})

test('a token is shown once, has its role, and ends when it is revoked', async () => {
  const body = { name: 'ci', role: 'developer', projects: ['search'], read_only: true, expires_in_days: 7 }
  const made = await node.control('POST', '/tokens', { token: NODE_TOKEN, body })
  const secret = String(made.body['secret'])
  assert.match(secret, /^tra_[\w-]{43}$/)
  const listed = await node.control('GET', '/tokens', { token: NODE_TOKEN })
  assert.ok(!listed.text.includes(secret))
  const session = await node.control('GET', '/session', { token: secret })
  assert.deepEqual([session.body['role'], session.body['projects']], ['developer', ['search']])
  assert.ok((session.body['permissions'] as string[]).every((one) => one.endsWith('.read')))
  assert.equal((await node.control('POST', '/tokens', { token: NODE_TOKEN, body })).status, 409)
  assert.equal((await node.control('DELETE', '/tokens/ci', { token: NODE_TOKEN })).status, 204)
  assert.equal((await node.control('GET', '/session', { token: secret })).status, 401)
  const { body: audit } = await node.control('GET', '/audit?limit=2', { token: NODE_TOKEN })
  assert.deepEqual(
    (audit['data'] as { action: string; target: string; address: string }[]).map((one) => [
      one.action,
      one.target,
      one.address,
    ]),
    [
      ['token.revoke', 'ci', '127.0.0.1'],
      ['token.create', 'ci', '127.0.0.1'],
    ],
  )
})

test('with the admin token turned off no token of the node opens the port, and its socket goes on', async () => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, 'close')
  const { url } = await testPostgres()
  const locked = await startConsoleNode({
    env: { DATABASE_URL: url, TORANA_ADMIN_TOKEN: 'off', CONTROL_PORT: String(port) },
  })
  const folder = join(locked.configFile, '..', 'data')
  const token = readFileSync(join(folder, 'admin.token'), 'utf8').trim()
  for (const tried of [token, 'off', NODE_TOKEN])
    assert.equal((await locked.control('GET', '/keys', { token: tried })).status, 401)
  const answer = await undiciFetch('http://localhost/api/v1/keys', {
    dispatcher: new Agent({ connect: { socketPath: join(folder, `control-${port}.sock`) } }),
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(answer.status, 200)
})

test('an install tells how it is set up, to those who may see it', async () => {
  const { body } = await node.control('GET', '/settings', { token: NODE_TOKEN })
  const retention = body['retention'] as { what: string; days: number | null; bytes: number }[]
  assert.deepEqual(
    retention.filter(({ days }) => days === null).map(({ what }) => what),
    ['ledger', 'usage', 'audit'],
  )
  assert.ok(retention.every(({ bytes }) => bytes > 0))
  const stores = body['stores'] as { name: string; state: string; ms: number }[]
  assert.deepEqual([stores[0]?.name, stores[0]?.state], ['postgres', 'there'])
  assert.match(String(body['catalog_date']), /^\d{4}-\d{2}-\d{2}$/)
  assert.ok((body['about'] as { dependencies: unknown[] }).dependencies.length > 10)
})

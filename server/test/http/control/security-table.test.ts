/** Every route of the contract × every kind of caller: a route that is added later is in this table automatically. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { may, ROLES, type Permission, type Role } from '#core/access/permission.ts'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'

interface Route {
  readonly method: string
  readonly path: string
  readonly permission: string
}

const CONTRACT = join(import.meta.dirname, '../../../../contract/control.openapi.json')

/** Values for path parameters that name nothing that exists. */
const NOTHING = '01890000-0000-7000-8000-000000000000'

function routesOfContract(): Route[] {
  const { paths } = JSON.parse(readFileSync(CONTRACT, 'utf8')) as {
    paths: Record<string, Record<string, { 'x-permission': string }>>
  }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.replace('/api/v1', '').replaceAll(/\{[^}]+\}/g, NOTHING),
      permission: operation['x-permission'],
    })),
  )
}

const routes = routesOfContract()
const guarded = routes.filter(({ permission }) => permission !== 'anyone')
const node = await startConsoleNode()
const isRefusal = (status: number): boolean => status === 401 || status === 403
const mayUse = (role: Role, permission: string): boolean =>
  permission === 'signed-in' || may(role, permission as Permission)

test('the contract has routes, and few of them are for anyone', () => {
  assert.ok(guarded.length > 40)
  const open = routes.filter(({ permission }) => permission === 'anyone')
  assert.deepEqual(open.map(({ method, path }) => `${method} ${path}`).toSorted(), [
    'GET /session/oidc',
    'GET /session/oidc/callback',
    'GET /session/options',
    'POST /invitations/accept',
    'POST /invitations/look',
    'POST /session',
    'POST /session/first-run',
    'POST /snapshots/look',
  ])
})

for (const { method, path } of guarded) {
  test(`${method} ${path} needs a caller`, async () => {
    const anonymous = await node.control(method, path)
    assert.deepEqual([anonymous.status, anonymous.body.error?.code], [401, 'missing_api_key'])
    const stranger = await node.control(method, path, { cookie: 'torana=a-guess', origin: node.controlUrl })
    assert.deepEqual([stranger.status, stranger.body.error?.code], [401, 'session_ended'])
  })
}

test('a wrong token opens nothing, whatever it looks like', async () => {
  const [{ method, path } = { method: 'GET', path: '/keys' }] = guarded
  for (const token of ['x', NODE_TOKEN.slice(0, -1), `${NODE_TOKEN}x`, node.key, 'tra_x', 'tra_'])
    assert.equal((await node.control(method, path, { token })).body.error?.code, 'invalid_api_key')
})

for (const role of ROLES) {
  test(`${role}: may use the routes of its permissions, and no other`, async () => {
    const token = await node.tokenOf(role, role === 'developer' ? { projects: ['search'] } : {})
    for (const { method, path, permission } of guarded) {
      const { status, body } = await node.control(method, path, { token })
      const what = `${method} ${path} (${permission}): ${status} ${body.error?.message}`
      if (mayUse(role, permission)) assert.ok(status !== 401 && body.error?.code !== 'forbidden', what)
      else assert.deepEqual([status, body.error?.code], [403, 'forbidden'], what)
    }
  })
}

test('a token that may only read changes nothing, though it is an admin', async () => {
  const token = await node.tokenOf('admin', { read_only: true })
  for (const { method, path } of guarded) {
    const { status, body } = await node.control(method, path, { token })
    assert.equal(body.error?.code === 'forbidden', method !== 'GET', `${method} ${path}: ${status}`)
  }
})

test('no answer of any route can be taken for a page, run, framed or kept', async () => {
  const token = await node.tokenOf('admin')
  for (const { method, path } of routes) {
    const { headers, status } = await node.control(method, path, { token })
    const what = `${method} ${path}: ${status}`
    assert.equal(headers.get('x-content-type-options'), 'nosniff', what)
    assert.equal(headers.get('cache-control'), 'no-store', what)
    assert.match(
      headers.get('content-security-policy') ?? '',
      /^default-src 'self';.*form-action 'self';.*frame-ancestors 'none'/,
      what,
    )
    assert.equal(headers.get('referrer-policy'), 'no-referrer', what)
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin', what)
    assert.ok(isRefusal(status) || !/text\/html/.test(headers.get('content-type') ?? ''), what)
  }
})

test('no other origin is let in by a browser', async () => {
  const preflight = await node.control('OPTIONS', '/keys', {
    headers: { origin: 'https://evil.example', 'access-control-request-method': 'GET' },
  })
  assert.equal(preflight.headers.get('access-control-allow-origin'), null)
})

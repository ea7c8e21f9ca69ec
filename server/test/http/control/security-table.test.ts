/**
 * Every route of the contract × every kind of caller: a route that is added later is in this table automatically. A developer also asks
 * every route for what belongs to another project: none of it is visible, and nothing of it changes.
 */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { may, ROLES, type Permission, type Role } from '#core/access/permission.ts'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { operationsOf } from '#test/support/contract.ts'
import { eventually } from '#test/support/process.ts'

/** Values for path parameters that name nothing that exists. */
const NOTHING = '01890000-0000-7000-8000-000000000000'
/** Part of everything that a developer of `mine` must not see. */
const CANARY = 'canary-other'

interface Route {
  readonly method: string
  readonly path: string
  readonly permission: string
  readonly names: readonly string[]
}

const contract = operationsOf('control').map(({ method, path, permission = '', parameters }): Route => ({
  method,
  path: path.replace('/api/v1', ''),
  permission,
  names: parameters.filter((one) => one.in === 'path').map(({ name }) => name),
}))
const routes = contract.map((route) => ({ ...route, path: route.path.replaceAll(/\{[^}]+\}/g, NOTHING) }))
const guarded = routes.filter(({ permission }) => permission !== 'anyone')
const node = await startConsoleNode({
  models: { 'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 1000 } } },
})
const isRefusal = (status: number): boolean => status === 401 || status === 403
const mayUse = (role: Role, permission: string): boolean =>
  permission === 'signed-in' || may(role, permission as Permission)

const developer = await node.tokenOf('developer', { projects: ['mine'] })
const ofDevelopers = contract.filter(({ permission }) => may('developer', permission as Permission))
/** Routes that show the other project to an admin, so that its absence means something. */
const seenByAdmin: string[] = []
const ids = { request: '', key: `${CANARY}-key` }

before(async () => {
  for (const project of ['mine', CANARY]) {
    const body = { name: project, budget: { usd: '5', per: 'month', hard: true } }
    const made = await node.control('POST', '/projects', { token: NODE_TOKEN, body })
    assert.equal(made.status, 201, made.text)
  }
  const body = { project: CANARY, name: ids.key, budget: { usd: '2', per: 'month', hard: true } }
  const key = await node.control('POST', '/keys', { token: NODE_TOKEN, body })
  const secret = String(key.body['secret'])
  const asked = await eventually(async () => {
    const answer = await node.ask({ model: 'plain-w16', input: 'a text' }, { key: secret })
    assert.equal(answer.status, 200)
    return answer
  })
  ids.request = asked.headers.get('x-request-id') ?? ''
  await eventually(async () => {
    const found = await node.control('GET', `/requests/${ids.request}`, { token: NODE_TOKEN })
    // The ledger has it before the log.
    assert.equal(found.body['log'], 'kept')
  })
})

/** The path with the names of the other project. */
function filled({ path }: Route): string {
  const values: Record<string, string> = {
    project: CANARY,
    name: ids.key,
    request_id: ids.request,
    scope: 'project',
    attempt: '0',
  }
  return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => values[name] ?? ids.request)
}

test('the routes of developers are walked', () => {
  assert.ok(ofDevelopers.length > 8)
  assert.ok(ofDevelopers.some(({ path }) => path === '/requests/{id}'))
  assert.ok(ofDevelopers.some(({ names }) => names.includes('project')))
})

for (const route of ofDevelopers.filter(({ method, names }) => method === 'GET' && names.length === 0))
  test(`GET ${route.path}: nothing of another project is in it`, async () => {
    const admin = await node.control('GET', route.path, { token: NODE_TOKEN })
    if (admin.text.includes(CANARY)) seenByAdmin.push(route.path)
    const own = await node.control('GET', route.path, { token: developer })
    assert.ok(!own.text.includes(CANARY), own.text.slice(0, 500))
    assert.ok(admin.status < 500 && own.status < 500, `${admin.status} ${own.status}`)
    const named = await node.control('GET', `${route.path}?project=${CANARY}`, { token: developer })
    const isIgnored = named.status === 200 && !named.text.includes(CANARY)
    assert.ok(isIgnored || named.status >= 400, `${named.status} ${named.text.slice(0, 300)}`)
  })

for (const route of ofDevelopers.filter(({ names }) => names.length > 0))
  test(`${route.method} ${route.path}: what belongs to another project is not there`, async () => {
    const options = {
      token: developer,
      ...(route.method !== 'GET' && route.method !== 'DELETE' && { body: {} }),
    }
    const { status, text } = await node.control(route.method, filled(route), options)
    assert.ok([400, 403, 404, 405].includes(status), `${status} ${text.slice(0, 300)}`)
  })

test('nothing of the other project was changed, and an admin saw it in many places', async () => {
  for (const path of ['/keys', '/projects', '/requests', '/budgets'])
    assert.ok(seenByAdmin.includes(path), path)
  const { body } = await node.control('GET', `/keys?project=${CANARY}`, { token: NODE_TOKEN })
  const [key] = body['data'] as { id: string; revoked_at: string | null; secrets: unknown[] }[]
  assert.deepEqual([key?.id, key?.revoked_at, key?.secrets.length], [`${CANARY}/${ids.key}`, null, 1])
  const projects = await node.control('GET', '/projects', { token: NODE_TOKEN })
  assert.ok(projects.text.includes(CANARY))
})

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

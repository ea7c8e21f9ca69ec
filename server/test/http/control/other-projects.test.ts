/** A developer asks every route for what belongs to another project: none of it is visible, and nothing of it changes. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { may, type Permission } from '#core/access/permission.ts'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { eventually } from '#test/support/process.ts'

const CONTRACT = join(import.meta.dirname, '../../../../contract/control.openapi.json')
/** Part of everything that a developer of `mine` must not see. */
const CANARY = 'canary-other'

const node = await startConsoleNode({
  models: { 'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 1000 } } },
})
const token = await node.tokenOf('developer', { projects: ['mine'] })
/** Routes that show the other project to an admin, so that its absence means something. */
const seenByAdmin: string[] = []
const ids = { request: '', key: `${CANARY}-key` }

interface Route {
  readonly method: string
  readonly path: string
  readonly names: readonly string[]
}

const { paths } = JSON.parse(readFileSync(CONTRACT, 'utf8')) as {
  paths: Record<string, Record<string, { 'x-permission': string }>>
}
const routes: readonly Route[] = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([, operation]) => may('developer', operation['x-permission'] as Permission))
    .map(([method]) => ({
      method: method.toUpperCase(),
      path: path.replace('/api/v1', ''),
      names: Array.from(path.matchAll(/\{([^}]+)\}/g), ([, name = '']) => name),
    })),
)

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
  assert.ok(routes.length > 8)
  assert.ok(routes.some(({ path }) => path === '/requests/{id}'))
  assert.ok(routes.some(({ names }) => names.includes('project')))
})

for (const route of routes.filter(({ method, names }) => method === 'GET' && names.length === 0))
  test(`GET ${route.path}: nothing of another project is in it`, async () => {
    const admin = await node.control('GET', route.path, { token: NODE_TOKEN })
    if (admin.text.includes(CANARY)) seenByAdmin.push(route.path)
    const own = await node.control('GET', route.path, { token })
    assert.ok(!own.text.includes(CANARY), own.text.slice(0, 500))
    assert.ok(admin.status < 500 && own.status < 500, `${admin.status} ${own.status}`)
    const named = await node.control('GET', `${route.path}?project=${CANARY}`, { token })
    const isIgnored = named.status === 200 && !named.text.includes(CANARY)
    assert.ok(isIgnored || named.status >= 400, `${named.status} ${named.text.slice(0, 300)}`)
  })

for (const route of routes.filter(({ names }) => names.length > 0))
  test(`${route.method} ${route.path}: what belongs to another project is not there`, async () => {
    const options = { token, ...(route.method !== 'GET' && route.method !== 'DELETE' && { body: {} }) }
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

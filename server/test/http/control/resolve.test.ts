import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { eventually } from '#test/support/process.ts'

const node = await startConsoleNode({
  models: { 'plain-w16': { on: 'plain', aliases: ['small'] } },
  projects: {
    search: { keys: [{ name: 'indexer', secret: 'a-key-of-these-tests-0000001' }] },
    ads: { keys: [{ name: 'website', secret: 'a-key-of-these-tests-0000002' }] },
  },
})
const developer = await node.tokenOf('developer', { projects: ['search'] })

interface Hit {
  readonly type: string
  readonly id: string
  readonly title: string
}
async function find(q: string, token = NODE_TOKEN): Promise<Hit[]> {
  const answer = await node.control('GET', `/resolve?q=${encodeURIComponent(q)}`, { token })
  assert.equal(answer.status, 200, answer.text)
  return answer.body['data'] as Hit[]
}
const typesOf = (hits: readonly Hit[]) => hits.map(({ type, id }) => `${type} ${id}`)

test('a part of a name finds keys, projects, models and deployments', async () => {
  assert.deepEqual(typesOf(await find('index')), ['key search/indexer'])
  assert.deepEqual(typesOf(await find('ADS')), ['key ads/website', 'project ads'])
  assert.deepEqual(typesOf(await find('small')), ['model plain-w16'])
  assert.ok(typesOf(await find('plain')).some((one) => one.startsWith('deployment plain-w16/')))
  assert.deepEqual(await find('nothing like it'), [])
  assert.equal((await node.control('GET', '/resolve?q=', { token: NODE_TOKEN })).status, 400)
})

test('a part of its name finds an upstream, for those who may see upstreams', async () => {
  const upstreams = async (token?: string) =>
    (await find('plain', token)).filter(({ type }) => type === 'upstream').length
  assert.equal(await upstreams(), 1)
  assert.equal(await upstreams(developer), 0)
})

test('many hits of one type do not hide the others', async () => {
  for (let n = 0; n < 9; n++)
    await node.control('POST', '/keys', { token: NODE_TOKEN, body: { project: 'crowd', name: `plain-${n}` } })
  const types = (await find('plain')).map(({ type }) => type)
  assert.equal(types.filter((type) => type === 'key').length, 4)
  assert.ok(types.includes('model') && types.includes('deployment'), types.join())
})

test('the id of a request finds it, and a call leads to its request', async () => {
  const asked = await node.ask({ model: 'plain-w16', input: 'a' }, { key: 'a-key-of-these-tests-0000002' })
  const id = asked.headers.get('x-request-id') ?? ''
  await eventually(async () => assert.deepEqual(typesOf(await find(id)), [`request ${id}`]))
  // The ledger knows it a moment before the log does.
  await eventually(async () => {
    const detail = await node.control('GET', `/requests/${id}`, { token: NODE_TOKEN })
    const [call] = detail.body['attempts'] as { call_id: string }[]
    assert.deepEqual(typesOf(await find(call?.call_id ?? '')), [`call ${id}`])
  })
  assert.deepEqual(await find(id, developer), [], 'it is of another project')
})

test('a caller finds nothing that it may not see', async () => {
  assert.deepEqual(await find('ads', developer), [])
  assert.deepEqual(typesOf(await find('search', developer)), ['key search/indexer', 'project search'])
  assert.ok((await find('plain', developer)).every(({ type }) => type === 'model'))
  assert.deepEqual(typesOf(await find('#1')), ['audit 1'])
  assert.deepEqual(await find('#1', developer), [])
})

test('a node is found by its id', async () => {
  const listed = await node.control('GET', '/nodes', { token: NODE_TOKEN })
  const [one] = listed.body['data'] as { id: string }[]
  assert.deepEqual(typesOf(await find(one?.id ?? '')), [`node ${one?.id}`])
  assert.deepEqual(await find(one?.id ?? '', developer), [])
})

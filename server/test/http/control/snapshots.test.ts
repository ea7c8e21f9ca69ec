/** Views that a project shares, and snapshots that a link opens without a session. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { memberOf } from '#test/support/members.ts'
import { eventually } from '#test/support/process.ts'

const SECRETS = { search: 'a-key-of-these-tests-0000001', ads: 'a-key-of-these-tests-0000002' }
const node = await startConsoleNode({
  models: { 'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } } },
  projects: {
    search: {
      budget: { usd: 5, per: 'month', hard: true },
      keys: [{ name: 'indexer', secret: SECRETS.search }],
    },
    ads: { keys: [{ name: 'website', secret: SECRETS.ads }] },
  },
})
const li = await memberOf(node, 'li@example.com', 'developer', ['search'])
const mia = await memberOf(node, 'mia@example.com', 'developer', ['search', 'ads'])
const anna = await memberOf(node, 'anna@example.com', 'admin')

for (const key of Object.values(SECRETS))
  await node.ask({ model: 'plain-w16', input: 'a', user: 'a-person', metadata: { team: 'a-team' } }, { key })
await eventually(async () => {
  const { body } = await node.control('GET', '/requests', { token: NODE_TOKEN })
  assert.equal((body['data'] as unknown[]).length, 2)
})

const look = (token: string) => node.control('POST', '/snapshots/look', { body: { token } })
const tokenIn = (link: unknown): string => String(link).split('#').at(-1) ?? ''
const REQUESTS = {
  page: 'requests',
  title: 'Failures',
  days: 7,
  queries: { requests: '', histogram: 'slots=10' },
}

test('a view that is shared with a project is seen by its members alone, and deleted by its maker or an admin', async () => {
  const view = { project: 'search', page: 'requests', name: 'Slow', search: 'slower=1000' }
  const made = await li.ask('POST', '/shared-views', view)
  assert.equal(made.status, 201, made.text)
  const names = async (of: typeof li, query = '') =>
    ((await of.ask('GET', `/shared-views${query}`)).body['data'] as { name: string }[]).map(
      ({ name }) => name,
    )
  assert.deepEqual(await names(li), ['Slow'])
  assert.deepEqual(await names(mia, '?project=search&page=requests'), ['Slow'])
  assert.deepEqual(await names(mia, '?project=ads'), [])
  assert.equal((await li.ask('POST', '/shared-views', view)).body.error?.code, 'conflict', 'names are unique')
  const foreign = await li.ask('POST', '/shared-views', { ...view, project: 'ads' })
  assert.equal(foreign.body.error?.code, 'forbidden')
  assert.equal((await li.ask('GET', '/shared-views?project=ads')).body.error?.code, 'forbidden')
  const other = await mia.ask('POST', '/shared-views', { ...view, project: 'ads' })
  assert.deepEqual(await names(li), ['Slow'], 'a view of another project is not there')
  const id = String(made.body['id'])
  assert.equal((await mia.ask('DELETE', `/shared-views/${id}`)).status, 404)
  assert.equal((await li.ask('DELETE', `/shared-views/${String(other.body['id'])}`)).status, 404)
  assert.equal((await anna.ask('DELETE', `/shared-views/${String(other.body['id'])}`)).status, 204)
  assert.equal((await li.ask('DELETE', `/shared-views/${id}`)).status, 204)
  const missing = await anna.ask('POST', '/shared-views', { ...view, project: 'nothing' })
  assert.equal(missing.body.error?.code, 'invalid_parameter')
  const audit = await node.control('GET', '/audit', { token: NODE_TOKEN })
  assert.ok(audit.text.includes('view.share') && audit.text.includes('view.unshare'))
})

test('a project has at most 50 shared views', async () => {
  const share = (n: number) =>
    mia.ask('POST', '/shared-views', { project: 'ads', page: 'requests', name: `View ${n}`, search: '' })
  for (let n = 0; n < 50; n++) assert.equal((await share(n)).status, 201)
  assert.equal((await share(50)).body.error?.code, 'conflict')
})

test('a snapshot shows what its maker saw, to anyone with the link, without people', async () => {
  const made = await li.ask('POST', '/snapshots', REQUESTS)
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(made.body['projects'], ['search'])
  const link = String(made.body['link'])
  assert.match(link, new RegExp(`^${node.controlUrl}/snapshot#[\\w-]{43}$`))
  const token = tokenIn(link)
  for (const path of ['/snapshots', '/audit'])
    assert.ok(!(await node.control('GET', path, { token: NODE_TOKEN })).text.includes(token))
  await node.ask({ model: 'plain-w16', input: 'later' }, { key: SECRETS.search })
  const seen = await look(token)
  assert.equal(seen.status, 200, seen.text)
  const { requests } = seen.body['content'] as { requests: { data: { project: string; user: unknown }[] } }
  assert.deepEqual(
    requests.data.map(({ project, user }) => [project, user]),
    [['search', null]],
    'one request of the project, as it was',
  )
  assert.ok(!seen.text.includes('a-person') && !seen.text.includes('a-team'))
  assert.equal(seen.headers.get('x-robots-tag'), 'noindex')
})

test('each page has a snapshot, and a snapshot never has more than its maker may see', async () => {
  for (const [page, queries] of [
    ['overview', { overview: '', day: '' }],
    ['usage', { usage: 'by=key' }],
    ['budgets', { budgets: '' }],
  ] as const) {
    const made = await li.ask('POST', '/snapshots', { page, title: page, days: 1, queries })
    assert.equal(made.status, 201, made.text)
    const seen = await look(tokenIn(made.body['link']))
    assert.ok(!seen.text.includes('ads/website'), page)
  }
  for (const [body, code] of [
    [{ ...REQUESTS, queries: { requests: 'project=ads', histogram: 'project=ads' } }, 'forbidden'],
    [{ ...REQUESTS, queries: { requests: 'outcome=great', histogram: '' } }, 'invalid_parameter'],
    [{ ...REQUESTS, queries: { requests: '' } }, 'invalid_parameter'],
    [{ ...REQUESTS, queries: { requests: '', histogram: '', audit: '' } }, 'invalid_parameter'],
    [{ ...REQUESTS, page: 'audit' }, 'invalid_parameter'],
    [{ ...REQUESTS, days: 31 }, 'invalid_parameter'],
  ] as const)
    assert.equal((await li.ask('POST', '/snapshots', body)).body.error?.code, code, JSON.stringify(body))
  const token = await node.control('POST', '/snapshots', { token: NODE_TOKEN, body: REQUESTS })
  assert.equal(token.body.error?.code, 'conflict', 'a token is no member')
})

test('a link ends when it is revoked, when its maker loses the project, and when its maker is disabled', async () => {
  const make = async (of: typeof li, project: string) => {
    const queries = { requests: `project=${project}`, histogram: `project=${project}` }
    const { body } = await of.ask('POST', '/snapshots', { ...REQUESTS, queries })
    return { id: String(body['id']), token: tokenIn(body['link']) }
  }
  const status = async (token: string) => (await look(token)).body.error?.code ?? 200
  const own = await make(mia, 'search')
  assert.equal((await li.ask('DELETE', `/snapshots/${own.id}`)).status, 404)
  assert.equal((await mia.ask('DELETE', `/snapshots/${own.id}`)).status, 204)
  assert.equal(await status(own.token), 'link_invalid')

  const [search, ads] = [await make(mia, 'search'), await make(mia, 'ads')]
  const members = (await node.control('GET', '/members', { token: NODE_TOKEN })).body['data'] as {
    id: string
    email: string
  }[]
  const id = members.find(({ email }) => email === 'mia@example.com')?.id ?? ''
  const change = (body: object) => node.control('PATCH', `/members/${id}`, { token: NODE_TOKEN, body })
  await change({ projects: ['search'] })
  assert.deepEqual([await status(search.token), await status(ads.token)], [200, 'link_invalid'])
  const listed = await node.control('GET', '/snapshots', { token: NODE_TOKEN })
  assert.ok(!listed.text.includes(ads.id) && listed.text.includes(search.id))
  await change({ disabled: true })
  assert.equal(await status(search.token), 'link_invalid')
})

test('openings are bounded by address', async () => {
  const made = await li.ask('POST', '/snapshots', REQUESTS)
  const token = tokenIn(made.body['link'])
  const openings = await Promise.all(Array.from({ length: 70 }, () => look(token)))
  const refused = openings.filter(({ status }) => status === 429)
  assert.ok(refused.length > 0 && refused.length < 70, `${refused.length} of 70`)
  assert.equal(refused[0]?.body.error?.code, 'rate_limit_exceeded')
  assert.ok(Number(refused[0]?.headers.get('retry-after')) > 0)
})

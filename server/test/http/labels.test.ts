/** `user` and tags from the request to the ledger, the request log and the usage report, on a real node and PostgreSQL. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { BatchCaller, requestLines } from '#test/support/batches.ts'
import { EDITS } from '#test/support/edits.ts'
import { GATEWAY_KEY } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { tokensOf } from '../../../lab/fake-provider/vectors.ts'

const POOR_KEY = 'gateway-test-key-poor-0003'
const ADMIN = 'an-admin-token-for-these-tests-0123456789'
const price = { usdPerMillionTokens: 1 }
const { gateway, database } = await startGatewayOnPostgres({
  models: {
    'plain-w8': { on: 'plain', price },
    'shared-w8': { on: 'plain', price, microBatch: { maxWaitMs: 200, maxItems: 16 } },
  },
  images: {
    'plain-image': { on: 'plain', price: { usdPerImage: 0.02 }, capabilities: { edits: EDITS } },
  },
  projects: {
    poor: { keys: [{ name: 'k', secret: POOR_KEY }], budget: { usd: 1, per: 'total', hard: true } },
  },
  env: { TORANA_ADMIN_TOKEN: ADMIN },
})

interface Row {
  readonly request_id: string
  readonly call_id: string
  readonly end_user: string | null
  readonly tags: Readonly<Record<string, string>> | null
  readonly tokens: bigint
  readonly nano: bigint
}

const rowsWith = (condition: string): Promise<readonly Row[]> =>
  database.query<Row>(
    `SELECT request_id, call_id, end_user, tags, tokens, amount_nano AS nano FROM usage_events WHERE ${condition} ORDER BY end_user`,
  )

async function control<Body>(path: string): Promise<Body> {
  const answer = await fetch(`${gateway.controlUrl}/api/v1${path}`, {
    headers: { authorization: `Bearer ${ADMIN}` },
  })
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return JSON.parse(text) as Body
}

interface UsageBody {
  readonly data: readonly { readonly group: string; readonly total: { readonly usd: string } }[]
  readonly none: { readonly total: { readonly usd: string } } | null
  readonly total: { readonly usd: string }
  readonly tag_keys: readonly string[]
}

test('the tags of the header and of metadata are in the ledger, and metadata is no unknown field any more', async () => {
  // Under a hard budget Torana passes no field on that it does not know.
  const answer = await gateway.ask(
    { model: 'plain-w8', input: 'one', user: 'alice', metadata: { job: 'nightly' } },
    { key: POOR_KEY, headers: { 'x-torana-tags': 'team=red' } },
  )
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(
    (await rowsWith(`end_user = 'alice'`)).map(({ tags }) => tags),
    [{ job: 'nightly', team: 'red' }],
  )
})

test('an image, also one that is edited, is in the ledger with its tags', async () => {
  const image = await gateway.ask(
    { model: 'plain-image', prompt: 'a heron', size: '64x64', user: 'painter', metadata: { team: 'blue' } },
    { path: '/v1/images/generations', headers: { 'x-torana-tags': 'job=cover' } },
  )
  assert.equal(image.status, 200, image.text)
  const form = new FormData()
  form.set('model', 'plain-image')
  form.set('prompt', 'a heron at dawn')
  form.set('user', 'painter')
  const [picture] = image.body.data as unknown as readonly [{ b64_json: string }]
  form.set('image', new File([Buffer.from(picture.b64_json, 'base64')], 'heron.png', { type: 'image/png' }))
  const edit = await fetch(`${gateway.url}/v1/images/edits`, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'x-torana-tags': 'team=blue' },
  })
  assert.equal(edit.status, 200, await edit.text())
  assert.deepEqual(
    (await rowsWith(`end_user = 'painter'`)).map(({ tags }) => tags?.['team']),
    ['blue', 'blue'],
  )
})

test('users who share a call have a row each, and the rows are what the call used', async () => {
  const users = ['share a', 'share bb bb', 'share ccc ccc ccc']
  const answers = await Promise.all(
    users.map((user) =>
      gateway.ask({ model: 'shared-w8', input: user, user, metadata: { team: user.slice(6, 7) } }),
    ),
  )
  for (const { status, text } of answers) assert.equal(status, 200, text)
  const rows = await rowsWith(`model = 'shared-w8'`)
  assert.equal(new Set(rows.map(({ call_id }) => call_id)).size, 1, 'they shared a call')
  assert.deepEqual(
    rows.map(({ end_user, tags }) => [end_user, tags?.['team']]),
    users.map((user) => [user, user.slice(6, 7)]),
  )
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)
  assert.equal(sum(rows.map(({ tokens }) => Number(tokens))), sum(users.map(tokensOf)))
  assert.deepEqual(
    rows.map(({ tokens, nano }) => Number(nano) - Number(tokens) * 1000),
    [0, 0, 0],
  )
})

test('lines of a batch have their own user and tags, and those of the batch', async () => {
  const caller = new BatchCaller(gateway.url)
  const lines = requestLines('/v1/embeddings', [
    { model: 'plain-w8', input: 'batch one', user: 'batch-a' },
    { model: 'plain-w8', input: 'batch two two', user: 'batch-b', metadata: { team: 'green' } },
    { model: 'plain-w8', input: 'batch three three three', user: 'batch-b', metadata: { team: 'green' } },
    { model: 'plain-w8', input: 'a bad line', metadata: { team: 7 } },
  ])
  const answer = await caller.ask(
    await caller.upload(lines),
    {},
    { 'x-torana-tags': 'corpus=wiki, team=red' },
  )
  const created = (await answer.json()) as { id: string; torana: { tags: unknown } }
  assert.deepEqual(created.torana.tags, { corpus: 'wiki', team: 'red' })
  const batch = await caller.ended(created.id)
  assert.deepEqual(batch.request_counts, { total: 4, completed: 3, failed: 1 })
  const [bad] = await caller.lines(batch.error_file_id)
  assert.match(JSON.stringify(bad?.response?.body), /"param":"metadata"/)
  const rows = await rowsWith(`end_user LIKE 'batch-%'`)
  const sums = Map.groupBy(rows, ({ end_user, tags }) => `${end_user} ${tags?.['team']} ${tags?.['corpus']}`)
  assert.deepEqual(
    [...sums].map(([who, own]) => [who, own.reduce((sum, { tokens }) => sum + Number(tokens), 0)]),
    [
      ['batch-a red wiki', tokensOf('batch one')],
      ['batch-b green wiki', tokensOf('batch two two') + tokensOf('batch three three three')],
    ],
  )
})

test('lines of one user and several tags have rows for each tag, and together the rows are what was used', async () => {
  const caller = new BatchCaller(gateway.url)
  const bodies = ['red', 'blue', 'red', 'green green green'].map((team, index) => ({
    model: 'plain-w8',
    input: `together ${index} ${team}`,
    user: 'batch-together',
    metadata: { team: team.slice(0, 5).trim() },
  }))
  const file = await caller.upload(requestLines('/v1/embeddings', bodies))
  const batch = await caller.ended((await caller.create(file)).id)
  assert.equal(batch.request_counts.completed, 4)
  const rows = await rowsWith(`end_user = 'batch-together'`)
  assert.deepEqual(new Set(rows.map(({ tags }) => tags?.['team'])), new Set(['red', 'blue', 'green']))
  const tokens = bodies.reduce((sum, { input }) => sum + tokensOf(input), 0)
  assert.equal(
    rows.reduce((sum, row) => sum + Number(row.tokens), 0),
    tokens,
  )
  assert.equal(new Set(rows.map(({ call_id }) => call_id)).size, 1, 'one call for all lines')
  assert.deepEqual([batch.usage.total_tokens, Number(batch.torana.cost_usd)], [tokens, tokens / 1e6])
  assert.equal(
    rows.reduce((sum, row) => sum + row.nano, 0n),
    BigInt(tokens) * 1000n,
  )
})

test('lines of a batch of pictures have the tags of the batch', async () => {
  const caller = new BatchCaller(gateway.url)
  const lines = requestLines('/v1/images/generations', [
    { model: 'plain-image', prompt: 'a boat', size: '64x64', response_format: 'url', user: 'batch-painter' },
  ])
  const answer = await caller.ask(
    await caller.upload(lines),
    { endpoint: '/v1/images/generations' },
    { 'x-torana-tags': 'corpus=boats' },
  )
  const { id } = (await answer.json()) as { id: string }
  assert.equal((await caller.ended(id)).request_counts.completed, 1)
  assert.deepEqual(
    (await rowsWith(`end_user = 'batch-painter'`)).map(({ tags }) => tags),
    [{ corpus: 'boats' }],
  )
})

const refused: [title: string, fields: object, headers: Record<string, string>, param: string][] = [
  ['a tag without a value', {}, { 'x-torana-tags': 'team' }, 'x-torana-tags'],
  ['metadata with a number', { metadata: { team: 1 } }, {}, 'metadata'],
  ['metadata with a NUL', { metadata: { team: 'a\0' } }, {}, 'metadata'],
  ['a user with a NUL', { user: 'a\0' }, {}, 'user'],
  ['two values', { metadata: { team: 'a' } }, { 'x-torana-tags': 'team=b' }, 'x-torana-tags'],
]
const routes: [path: string, body: object][] = [
  ['/v1/embeddings', { model: 'plain-w8', input: 'a' }],
  ['/v1/images/generations', { model: 'plain-image', prompt: 'a' }],
]
for (const [path, body] of routes)
  for (const [title, fields, headers, param] of refused)
    test(`${path}: ${title} is refused with ${param} named, and nothing is bought`, async () => {
      const { calls } = gateway.provider.counters()
      const answer = await gateway.ask({ ...body, ...fields }, { path, headers })
      assert.equal(answer.status, 400, answer.text)
      assert.deepEqual([answer.body.error.code, answer.body.error.param], ['invalid_parameter', param])
      assert.equal(gateway.provider.counters().calls, calls)
    })

test('sums by user and by tag add up to the ledger, and the request log is filtered by both', async () => {
  const [ledger] = await database.query<{ usd: string }>(
    'SELECT (sum(amount_nano) / 1e9)::numeric(20, 9)::text AS usd FROM usage_events',
  )
  for (const by of ['user', 'tag:team', 'tag:job', 'tag:no-such-key']) {
    const usage = await control<UsageBody>(`/usage?by=${by}`)
    assert.equal(usage.total.usd, ledger?.usd, by)
    const nano = (usd: string): bigint => BigInt(usd.replace('.', ''))
    const sum = [...usage.data, ...(usage.none ? [usage.none] : [])].reduce(
      (total, one) => total + nano(one.total.usd),
      0n,
    )
    assert.equal(sum, nano(usage.total.usd), by)
    assert.deepEqual(usage.tag_keys, ['corpus', 'job', 'team'])
  }
  const models = await control<UsageBody>('/usage?by=model&only=user:painter')
  assert.deepEqual(
    models.data.map(({ group }) => group),
    ['plain-image'],
  )
  interface Log {
    readonly data: readonly { readonly user: string; readonly tags: Record<string, string> }[]
  }
  await eventually(async () => {
    const { data } = await control<Log>('/requests?user=alice&tag=team:red&tag=job:nightly')
    assert.deepEqual(
      data.map(({ user, tags }) => [user, tags]),
      [['alice', { team: 'red', job: 'nightly' }]],
    )
  })
  assert.deepEqual((await control<Log>('/requests?user=alice&tag=team:blue')).data, [])
  const { facets } = await control<{ facets: { user: object; tag: Record<string, number> } }>(
    '/requests/histogram?facets=true',
  )
  assert.ok((facets.tag['team:red'] ?? 0) >= 1)
})

test('a question that cannot be answered is refused, and a parameter that is not known is not ignored', async () => {
  for (const [path, words] of [
    ['/usage?by=tag', /tag:<key>/],
    ['/usage?by=user&only=tag:team:red', /counted one by one/],
    ['/usage?group=user', /group/],
    ['/requests?tag=team', /<key>:<value>/],
    ['/requests?users=alice', /users/],
    ['/requests/histogram?usr=alice', /usr/],
  ] as const) {
    const answer = await fetch(`${gateway.controlUrl}/api/v1${path}`, {
      headers: { authorization: `Bearer ${ADMIN}` },
    })
    assert.equal(answer.status, 400, path)
    assert.match(await answer.text(), words)
  }
})

test('the export has a row for each value and what is beside them, and the ledger’s rows have user and tags', async () => {
  const read = async (query: string): Promise<readonly string[]> => {
    const answer = await fetch(`${gateway.controlUrl}/api/v1/usage/export?${query}`, {
      headers: { authorization: `Bearer ${ADMIN}` },
    })
    return (await answer.text()).trimEnd().split('\n')
  }
  const [head = '', ...lines] = await read('by=tag:team&from=2026-01-01T00:00:00Z&to=2026-12-31T00:00:00Z')
  assert.match(head, /^day,tag:team,counted_as,requests,/)
  assert.ok(lines.some((line) => /^\d{4}-\d{2}-\d{2},red,value,/.test(line)))
  const rows = await read('rows=ledger&format=ndjson&only=user:alice')
  const row = JSON.parse(rows[0] ?? '') as { user: string; tags: string }
  assert.deepEqual([row.user, JSON.parse(row.tags)], ['alice', { job: 'nightly', team: 'red' }])
})

/** Models that end: by whose word, who still uses them, and who may see it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { z } from 'zod'
import type { Caller } from '#control/shared/caller.ts'
import type { ControlNode } from '#control/shared/node.ts'
import { registerModelEndings, type modelEndingList } from '#control/models/endings-routes.ts'
import { postgresStores } from '#test/support/ledger-stores.ts'
import { catalogOf } from '#test/support/config.ts'
import { developerOf, startScope, TESTER } from '#test/support/control-scope.ts'
import { assertFault } from '#test/support/errors.ts'
import { absent } from '#test/support/stores/absent.ts'

type List = z.output<typeof modelEndingList>

const BGE = 'BAAI/bge-m3'
const CONFIG = `
upstreams:
  openai: { provider: openai, apiKey: sk-of-this-test }
  azure: { provider: azure, dialect: azure, resource: mine, apiKey: k-of-this-test }
  deepinfra: { provider: deepinfra, apiKey: k-of-this-test }
models:
  gpt-image-1.5: { deployments: [{ upstream: openai }, { upstream: azure, endsOn: 2027-06-01 }] }
  ${BGE}:
    deployments: [{ upstream: deepinfra, endsOn: 2026-11-30, successor: bge-next }]
  old-embed: { kind: embedding, embedding: { dimensions: 8 }, deployments: [{ upstream: openai, endsOn: 2026-11-01 }] }
  text-embedding-3-small: { deployments: [{ upstream: openai }] }
`

const open = postgresStores()

async function world(caller: Caller = TESTER, isOldUsed = false) {
  const { database, clock, ledger, nodeId, entry } = await open()
  clock.ms = Date.UTC(2026, 10, 21, 12)
  const used = (project: string, key: string, model: string, times: number) =>
    Array.from({ length: times }, () =>
      entry({ countsRequest: true, project, keyId: `${project}/${key}`, model, deployment: `${model}/x` }),
    )
  await ledger.append(nodeId, [
    ...used('ads', 'web', 'gpt-image-1.5', 3),
    ...used('ads', 'job', 'gpt-image-1.5', 1),
    ...used('search', 'ci', 'gpt-image-1.5', 2),
    ...used('system', 'probe', BGE, 9),
    ...used('search', 'ci', 'old-embed', isOldUsed ? 1 : 0),
  ])
  await database.query(
    `INSERT INTO model_end_notices (upstream, model, ends_on, days, sent_at) VALUES
     ('openai', 'gpt-image-1.5', '2026-12-01', 14, '2026-11-17T08:00:00Z'),
     ('openai', 'gpt-image-1.5', '2026-11-30', 30, '2026-10-31T08:00:00Z')`,
  )
  const catalog = catalogOf(CONFIG)
  const node = absent<ControlNode>('node', { clock, reports: database, catalog: () => catalog })
  return startScope(
    (api) => registerModelEndings(api, node),
    () => caller,
  )
}

const rows = ({ body }: { readonly body: List }) =>
  body.data.map(({ upstream, model, ends_on: on }) => [upstream, model, on])

test('each model on each upstream has its day, its source, its users and its notices, the soonest first', async () => {
  const ask = await world()
  const { body } = await ask<List>('GET', '/model-endings')
  const coming = [90, 30, 14, 7, 1].map((days) => ({ days, sent_at: null }))
  const [bge, image] = body.data
  assert.equal(body.data.length, 2)
  const { source_at: place, ...rest } = bge as List['data'][number]
  assert.match(place, /^torana\.yaml:\d+$/)
  assert.deepEqual(rest, {
    upstream: 'deepinfra',
    model: BGE,
    ends_on: '2026-11-30',
    successor: 'bge-next',
    source: 'configuration',
    used_by: [],
    requests_30d: 0,
    notices: coming,
    change: null,
  })
  const { source_at: readOn, ...announced } = image as List['data'][number]
  assert.match(readOn, /^\d{4}-\d\d-\d\d$/)
  assert.deepEqual(announced, {
    upstream: 'openai',
    model: 'gpt-image-1.5',
    ends_on: '2026-12-01',
    successor: 'gpt-image-2.5-sunburst',
    source: 'catalog',
    used_by: [
      { key: 'ads/web', requests_30d: 3 },
      { key: 'search/ci', requests_30d: 2 },
      { key: 'ads/job', requests_30d: 1 },
    ],
    requests_30d: 6,
    // The other notice was about another day.
    notices: coming.map((one) => (one.days === 14 ? { ...one, sent_at: '2026-11-17T08:00:00.000Z' } : one)),
    change: null,
  })
})

test('the list reaches as far as it is asked to', async () => {
  const ask = await world()
  assert.deepEqual(rows(await ask<List>('GET', '/model-endings?days=9')), [['deepinfra', BGE, '2026-11-30']])
  assert.deepEqual(rows(await ask<List>('GET', '/model-endings?days=365')).at(-1), [
    'azure',
    'gpt-image-1.5',
    '2027-06-01',
  ])
  assertFault(await ask('GET', '/model-endings?days=0'), 'invalid_parameter')
})

test('a model that has ended is listed while it is used', async () => {
  const ask = await world(TESTER, true)
  assert.deepEqual(rows(await ask<List>('GET', '/model-endings'))[0], ['openai', 'old-embed', '2026-11-01'])
})

test('a developer sees the models that keys of its projects used, and those keys alone', async () => {
  const ask = await world(developerOf('search'))
  const { body } = await ask<List>('GET', '/model-endings')
  assert.deepEqual(
    body.data.map(({ model, used_by: users, requests_30d: requests }) => [model, users, requests]),
    [['gpt-image-1.5', [{ key: 'search/ci', requests_30d: 2 }], 2]],
  )
  const other = await world(developerOf('fresh'))
  assert.deepEqual((await other<List>('GET', '/model-endings')).body.data, [])
})

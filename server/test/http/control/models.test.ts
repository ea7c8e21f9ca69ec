/** The routes that show models. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { z } from 'zod'
import type { Catalog } from '#core/catalog/catalog.ts'
import { spaceOf } from '#core/embedding/space.ts'
import type { Caller } from '#control/shared/caller.ts'
import type { modelDetail } from '#control/models/detail-rules.ts'
import { registerModels, type modelList } from '#control/models/routes.ts'
import type { ControlNode } from '#control/shared/node.ts'
import { defaultLimits } from '#core/settings.ts'
import type { DeploymentSummary, NodeSummary } from '#core/traffic/node-summary.ts'
import type { RequestRecord } from '#ports/observer.ts'
import { PostgresDrains } from '#stores/postgres/directory/drains.ts'
import { PostgresTrafficHistory } from '#stores/postgres/traffic-history.ts'
import { postgresStores } from '#test/support/ledger-stores.ts'
import { catalogOf } from '#test/support/config.ts'
import { developerOf, startScope, TESTER } from '#test/support/control-scope.ts'
import { someSecret } from '#test/support/directory.ts'
import { assertFault } from '#test/support/errors.ts'
import { absent } from '#test/support/stores/absent.ts'

type List = z.output<typeof modelList>
type Model = z.output<typeof modelDetail>

const CONFIG = `
upstreams:
  openai: { provider: openai, apiKey: sk-secret-of-this-test }
  tei: { provider: tei, baseUrl: 'http://tei.test/v1' }
  deepinfra: { provider: deepinfra, apiKey: k-of-this-test }
models:
  text-embedding-3-small: { aliases: [search-embed], deployments: [{ upstream: openai }] }
  BAAI/bge-m3:
    cache: { ttl: 12h }
    deployments:
      - { upstream: tei, weight: 2 }
      - { upstream: deepinfra, priority: 1, endsOn: 2026-12-01, successor: bge-next, endSource: a mail, limits: { tokensPerMinute: 500000 } }
  gpt-image-2: { deployments: [{ upstream: openai }] }
projects:
  open: { keys: [{ name: all, secret: a-secret-of-the-open-project }] }
  narrow: { keys: [{ name: one, secret: a-secret-of-the-narrow-one, models: [search-embed] }] }
`

/** Cells of a week in which only the present one has a state: its worst is bad. */
const CELLS = `${'.'.repeat(27)}b`
const BGE = 'BAAI/bge-m3'
const SMALL = 'text-embedding-3-small'

const open = postgresStores()

/** An upstream that calls fail at. */
const EJECTED: DeploymentSummary = {
  id: `${BGE}/tei`,
  state: 'ejected',
  sinceMs: 0,
  untilMs: null,
  reason: null,
  inFlight: 0,
  limit: null,
  learnsLimit: false,
  rate: { requests: 0, tokens: 0, images: 0 },
  calls: 1,
  failed: 1,
  failures: {},
  latency: { classes: [], counts: [] },
}
const SUMMARY: NodeSummary = {
  node: 'here',
  atMs: 0,
  loopBusy: 0,
  spoolWaiting: 0,
  callsUnderWay: 0,
  isStoreAway: false,
  ledgerDifferences: 0,
  deployments: [EJECTED],
  flows: [],
}

interface Given {
  readonly config?: string
  readonly caller?: Caller
  /** Models of a key of project `stored`. */
  readonly storedKey?: readonly string[]
  /** Keys that used BGE too, with their requests. */
  readonly users?: readonly (readonly [key: string, requests: number])[]
}

/** A day of requests, of the projects `open` and `narrow`. */
async function world({ config = CONFIG, caller = TESTER, storedKey, users }: Given = {}) {
  const { database, clock, identifiers, requests, ledger, nodeId, entry, keys } = await open()
  clock.ms = Date.UTC(2026, 10, 21)
  const asked = (model: string, overrides: Partial<RequestRecord> = {}): RequestRecord => ({
    requestId: identifiers.next(),
    route: '/v1/embeddings',
    status: 200,
    project: 'open',
    keyId: 'open/all',
    model,
    inputs: 0,
    durationMs: 186.5,
    ...overrides,
  })
  const gone = { status: 404, fault: 'model_retired', route: '/v1/images/generations' }
  await requests.append([
    ...Array.from({ length: 10 }, () => asked(BGE)),
    asked(BGE, { inputs: 125, cache: { hits: 16, misses: 109 } }),
    asked(BGE, { status: 502 }),
    asked(SMALL),
    asked(SMALL, { project: 'narrow', keyId: 'narrow/one' }),
    asked('dall-e-3', gone),
    asked('dall-e-3', gone),
  ])
  const posted = (upstream: string, count: number, savedNanoUsd = 0n) =>
    Array.from({ length: count }, () =>
      entry({
        countsRequest: true,
        project: 'open',
        keyId: 'open/all',
        model: BGE,
        deployment: `${BGE}/${upstream}`,
        savedNanoUsd,
      }),
    )
  const used = (keyId: string, count: number) =>
    posted('tei', count).map((one) => ({ ...one, project: keyId.split('/')[0] ?? '', keyId }))
  await ledger.append(nodeId, [
    ...posted('tei', 30),
    ...posted('deepinfra', 10, 150_000n),
    ...(users ?? []).flatMap(([keyId, count]) => used(keyId, count)),
  ])
  if (storedKey !== undefined)
    await keys.createKey(
      { project: 'stored', name: 'one', secret: someSecret().stored, models: storedKey },
      { kind: 'member', name: 'tester' },
    )
  const catalog: Catalog = catalogOf(config)
  const node = absent<ControlNode>('node', {
    clock,
    startedAtMs: Date.UTC(2026, 10, 20),
    limits: defaultLimits,
    reports: database,
    catalog: () => catalog,
    declaredProjects: () => catalog.projects,
    drains: new PostgresDrains(database),
    history: new PostgresTrafficHistory(database, clock),
    summaries: async () => [SUMMARY],
    nameSpace: ({ id }, width) => spaceOf(id, width),
    averageItems: () => undefined,
  })
  return startScope(
    (api) => registerModels(api, node),
    () => caller,
  )
}

test('a model says what it is, where it runs, what it costs and how it goes', async () => {
  const ask = await world()
  const { body, text } = await ask<List>('GET', '/models')
  assert.deepEqual(
    body.data.map(({ id }) => id),
    [BGE, 'dall-e-3', 'gpt-image-2', SMALL],
    'the busiest first, then by name',
  )
  const [bge, , image, small] = body.data
  assert.deepEqual(bge?.last_hour, { requests: 12, failed: 1, p95_ms: 186.5 })
  assert.equal(bge?.cells, CELLS)
  assert.deepEqual(
    bge?.deployments.map(({ id, state }) => [id, state]),
    [
      ['BAAI/bge-m3/tei', 'ejected'],
      ['BAAI/bge-m3/deepinfra', 'healthy'],
    ],
  )
  assert.deepEqual(bge?.embedding, {
    width: 1024,
    narrower: 'none',
    max_input_tokens: 8192,
    max_inputs: 1024,
    contents: null,
  })
  assert.equal(small?.space, spaceOf('text-embedding-3-small', 1536))
  assert.deepEqual(small?.can, { base64: 'native', dimensions: 'native', token_ids: 'native' })
  assert.deepEqual(small?.price, [{ amount: '0.02', unit: 'million tokens', note: null }])
  assert.deepEqual(image?.image?.sizes, {
    kind: 'free',
    values: [],
    default: '1024x1024',
    multiple_of: 16,
    min_pixels: 655_360,
    max_pixels: 8_294_400,
    max_edge: 3840,
    max_ratio: 3,
  })
  assert.deepEqual(Object.keys(image?.can ?? {}).sort(), ['edits', 'mask', 'previews', 'transparent'])
  assert.match(bge?.managed_at ?? '', /^torana\.yaml:\d+$/)
  assert.doesNotMatch(text, /sk-secret|k-of-this-test/)
})

test('each filter leaves what it names', async () => {
  const ask = await world()
  const idsOf = async (query: string) =>
    (await ask<List>('GET', `/models?${query}`)).body.data.map(({ id }) => id)
  assert.deepEqual(await idsOf('kind=image'), ['dall-e-3', 'gpt-image-2'])
  assert.deepEqual(await idsOf('q=SEARCH'), ['text-embedding-3-small'])
  assert.deepEqual(await idsOf('upstream=tei'), ['BAAI/bge-m3'])
  assert.deepEqual(await idsOf('health=ill'), ['BAAI/bge-m3'])
  assert.deepEqual(await idsOf('health=well&sort=name'), ['dall-e-3', 'gpt-image-2', SMALL])
  assert.deepEqual(await idsOf('can=base64&can=dimensions'), ['text-embedding-3-small'])
  assert.deepEqual(await idsOf('can=mask'), ['gpt-image-2'])
})

test('one model tells what each deployment does with each option, and who gets a call', async () => {
  const ask = await world()
  const { body } = await ask<Model>('GET', `/models/${encodeURIComponent('BAAI/bge-m3')}`)
  const cell = (option: string) => body.options.find((row) => row.option === option)?.by_deployment
  assert.deepEqual(cell('base64'), {
    'BAAI/bge-m3/tei': { how: 'native', value: 'native' },
    'BAAI/bge-m3/deepinfra': { how: 'emulated', value: 'from numbers' },
  })
  assert.deepEqual(cell('dimensions')?.['BAAI/bge-m3/tei'], { how: 'refused', value: 'refused' })
  assert.deepEqual(cell('token ids')?.['BAAI/bge-m3/tei'], { how: 'emulated', value: 'turned into text' })
  assert.deepEqual(cell('texts in a call')?.['BAAI/bge-m3/tei'], { how: 'value', value: '32' })
  assert.deepEqual(body.cache, { ttl_seconds: 43_200, hits_share: 0.128, saved_usd: '0.001500000' })
  assert.deepEqual(body.tiers, [
    [
      {
        deployment: 'BAAI/bge-m3/tei',
        weight: 2,
        share: 0.75,
        last_used_at: '2026-11-21T00:00:00.000Z',
        limits: {},
      },
    ],
    [
      {
        deployment: 'BAAI/bge-m3/deepinfra',
        weight: 1,
        share: 0.25,
        last_used_at: '2026-11-21T00:00:00.000Z',
        limits: { tokens_per_minute: 500_000 },
      },
    ],
  ])
  const { body: small } = await ask<Model>('GET', '/models/search-embed')
  assert.equal(small.id, SMALL, 'by an alias')
  const [[unused] = []] = small.tiers
  assert.deepEqual([unused?.share, unused?.last_used_at], [0, null])
  assertFault(await ask('GET', '/models/nothing'), 'not_found')
})

test('a model tells when it ends, and the keys that use a deployment that ends soon', async () => {
  const ask = await world()
  const { body } = await ask<Model>('GET', `/models/${encodeURIComponent('BAAI/bge-m3')}`)
  assert.equal(body.ends, null, 'the other deployment goes on')
  assert.deepEqual(
    body.deployments.map(({ ends_on: on }) => on),
    [null, '2026-12-01'],
  )
  const end = { on: '2026-12-01', days_left: 10, successor: 'bge-next' }
  assert.deepEqual(body.ends_by_deployment, {
    'BAAI/bge-m3/deepinfra': { ...end, source: 'a mail', as_of: null, note: null },
  })
  assert.deepEqual(body.used_by, {
    keys: [{ key: 'open/all', requests_30d: 40 }],
    count: 1,
    requests_30d: 40,
  })
  const { body: small } = await ask<Model>('GET', '/models/search-embed')
  assert.deepEqual([small.ends, small.ends_by_deployment, small.used_by], [null, {}, null])
  const ending = await world({
    config: CONFIG.replace('{ upstream: tei, weight: 2 }', '{ upstream: tei, endsOn: 2026-11-30 }'),
  })
  const row = (await ending<List>('GET', '/models')).body.data.find(({ id }) => id === BGE)
  assert.deepEqual(row?.ends, end)
})

test('of the keys that use a model that ends, the busiest is first; probes are no use, and a developer sees its own', async () => {
  const users = [['system/probe', 90] as const, ['search/ci', 50] as const]
  const path = `/models/${encodeURIComponent(BGE)}`
  const seenBy = async (caller?: Caller) => {
    const ask = await world({ users, ...(caller && { caller }) })
    return (await ask<Model>('GET', path)).body.used_by
  }
  const [open, search] = [
    { key: 'open/all', requests_30d: 40 },
    { key: 'search/ci', requests_30d: 50 },
  ]
  assert.deepEqual(await seenBy(), { keys: [search, open], count: 2, requests_30d: 90 })
  assert.deepEqual(await seenBy(developerOf('open')), { keys: [open], count: 1, requests_30d: 40 })
  assert.deepEqual(await seenBy(developerOf('fresh')), { keys: [], count: 0, requests_30d: 0 })
})

test('a developer sees the models that keys of its projects may use, and figures of its projects alone', async () => {
  const narrow = await world({ caller: developerOf('narrow') })
  const { body } = await narrow<List>('GET', '/models')
  assert.deepEqual(
    body.data.map(({ id, last_hour: { requests } }) => [id, requests]),
    [[SMALL, 1]],
  )
  assertFault(await narrow('GET', '/models/gpt-image-2'), 'not_found')
  assertFault(await narrow('GET', '/models?project=open'), 'forbidden')

  const all = await world({ caller: developerOf('open') })
  const seen = (await all<List>('GET', '/models')).body.data
  assert.deepEqual(
    seen.map(({ id, last_hour: { requests } }) => [id, requests]),
    [
      [BGE, 12],
      ['dall-e-3', 0],
      ['gpt-image-2', 0],
      [SMALL, 1],
    ],
  )
  const stored = await world({ caller: developerOf('stored'), storedKey: ['gpt-image-2'] })
  assert.deepEqual(
    (await stored<List>('GET', '/models')).body.data.map(({ id }) => id),
    ['gpt-image-2'],
  )
  const keyless = await world({ caller: developerOf('fresh') })
  assert.equal((await keyless<List>('GET', '/models')).body.data.length, 3, 'no key hides nothing')
})

test('a model that is gone and yet asked for is listed with its day, its successor and who asks', async () => {
  const ask = await world()
  const { body } = await ask<List>('GET', '/models?q=dall-e&kind=image')
  assert.deepEqual(
    body.data.map(({ id, retired }) => [id, retired]),
    [
      [
        'dall-e-3',
        {
          on: '2026-05-12',
          successor: 'gpt-image-2',
          asked_by: [{ key: 'open/all', requests_7d: 2 }],
        },
      ],
    ],
  )
})

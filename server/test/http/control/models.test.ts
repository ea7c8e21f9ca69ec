/** The routes that show models. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { z } from 'zod'
import type { Catalog } from '#core/catalog.ts'
import { spaceOf } from '#core/embedding/space.ts'
import type { Caller } from '#http/control/access/caller.ts'
import { registerModels, type ModelsDependencies } from '#http/control/models/routes.ts'
import type { model, modelList } from '#http/control/models/schemas.ts'
import type { ModelFigure, ModelFigures, Projects } from '#ports/model-figures.ts'
import { catalogOf } from '#test/support/config.ts'
import { developerOf, startScope, TESTER } from '#test/support/control-scope.ts'
import { assertFault } from '#test/support/errors.ts'

type List = z.output<typeof modelList>
type Model = z.output<typeof model>

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

const CELLS = `${'.'.repeat(27)}g`

interface World extends Partial<ModelsDependencies> {
  readonly caller?: Caller
  readonly keyModels?: readonly (readonly string[] | undefined)[]
  readonly retired?: Awaited<ReturnType<ModelFigures['askedRetired']>>
}

async function world({ caller = TESTER, keyModels = [], retired = new Map(), ...overrides }: World = {}) {
  const catalog: Catalog = catalogOf(CONFIG)
  const asked: Projects[] = []
  const figures: ModelFigures = {
    async figures(projects) {
      asked.push(projects)
      const busy: ModelFigure = {
        lastHour: { requests: 12, failed: 1, p95Ms: 186.4 },
        lastDay: { requests: 400 },
      }
      return new Map([['BAAI/bge-m3', busy]])
    },
    pins: async () => [],
    uses: async () =>
      new Map([
        ['BAAI/bge-m3/tei', { calls: 30, lastUsedAtMs: Date.UTC(2026, 10, 20, 12) }],
        ['BAAI/bge-m3/deepinfra', { calls: 10, lastUsedAtMs: undefined }],
      ]),
    askedRetired: async () => retired,
    users: async (models) =>
      new Map(models.map((id) => [id, { keys: [{ key: 'open/all', requests: 40 }], count: 1 }])),
    cacheUse: async () => ({ hitsShare: 0.128, savedNanoUsd: 1_500_000n }),
    keyModels: async () => keyModels,
  }
  const ask = await startScope(
    (api) =>
      registerModels(api, {
        catalog: () => catalog,
        declared: () => catalog.projects,
        figures,
        generationOf: () => 1,
        averageItems: () => undefined,
        nowMs: () => Date.UTC(2026, 10, 21),
        limits: { maxInputs: 2048, maxEditPictures: 16 },
        health: async () => ({
          standingOf: (id) => ({
            state: id.endsWith('/tei') ? 'ejected' : 'healthy',
            untilMs: undefined,
            sinceMs: Date.UTC(2026, 10, 20),
          }),
          cellsOf: () => CELLS,
        }),
        ...overrides,
      }),
    () => caller,
  )
  return { ask, asked }
}

test('a model says what it is, where it runs, what it costs and how it goes', async () => {
  const { ask } = await world()
  const { body, text } = await ask<List>('GET', '/models')
  assert.deepEqual(
    body.data.map(({ id }) => id),
    ['BAAI/bge-m3', 'gpt-image-2', 'text-embedding-3-small'],
    'the busiest first',
  )
  const [bge, image, small] = body.data
  assert.deepEqual(bge?.last_hour, { requests: 12, failed: 1, p95_ms: 186.4 })
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
  const { ask } = await world()
  const idsOf = async (query: string) =>
    (await ask<List>('GET', `/models?${query}`)).body.data.map(({ id }) => id)
  assert.deepEqual(await idsOf('kind=image'), ['gpt-image-2'])
  assert.deepEqual(await idsOf('q=SEARCH'), ['text-embedding-3-small'])
  assert.deepEqual(await idsOf('upstream=tei'), ['BAAI/bge-m3'])
  assert.deepEqual(await idsOf('health=ill'), ['BAAI/bge-m3'])
  assert.deepEqual(await idsOf('health=well&sort=name'), ['gpt-image-2', 'text-embedding-3-small'])
  assert.deepEqual(await idsOf('can=base64&can=dimensions'), ['text-embedding-3-small'])
  assert.deepEqual(await idsOf('can=mask'), ['gpt-image-2'])
})

test('one model tells what each deployment does with each option, and who gets a call', async () => {
  const { ask } = await world()
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
        last_used_at: '2026-11-20T12:00:00.000Z',
        limits: {},
      },
    ],
    [
      {
        deployment: 'BAAI/bge-m3/deepinfra',
        weight: 1,
        share: 0.25,
        last_used_at: null,
        limits: { tokens_per_minute: 500_000 },
      },
    ],
  ])
  assert.equal(
    (await ask<Model>('GET', '/models/search-embed')).body.id,
    'text-embedding-3-small',
    'by an alias',
  )
  assertFault(await ask('GET', '/models/nothing'), 'not_found')
})

test('a model tells when it ends, and the keys that use a deployment that ends soon', async () => {
  const nowMs = () => Date.UTC(2026, 10, 21)
  const { ask } = await world({ nowMs })
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
  assert.deepEqual(body.used_by, { keys: [{ key: 'open/all', requests_30d: 40 }], count: 1 })
  const whole = catalogOf(
    CONFIG.replace('{ upstream: tei, weight: 2 }', '{ upstream: tei, endsOn: 2026-11-30 }'),
  )
  const ending = await world({ nowMs, catalog: () => whole })
  const row = (await ending.ask<List>('GET', '/models')).body.data.find(({ id }) => id === 'BAAI/bge-m3')
  assert.deepEqual(row?.ends, end)
  const { body: small } = await ask<Model>('GET', '/models/search-embed')
  assert.deepEqual([small.ends, small.ends_by_deployment, small.used_by], [null, {}, null])
})

test('a developer sees the models that keys of its projects may use, and figures of its projects alone', async () => {
  const narrow = await world({ caller: developerOf('narrow') })
  const { body } = await narrow.ask<List>('GET', '/models')
  assert.deepEqual(
    body.data.map(({ id }) => id),
    ['text-embedding-3-small'],
  )
  assert.deepEqual(narrow.asked, [['narrow']])
  assertFault(await narrow.ask('GET', '/models/gpt-image-2'), 'not_found')
  assertFault(await narrow.ask('GET', '/models?project=open'), 'forbidden')

  const open = await world({ caller: developerOf('open') })
  assert.equal((await open.ask<List>('GET', '/models')).body.data.length, 3)
  const stored = await world({ caller: developerOf('stored'), keyModels: [['gpt-image-2']] })
  assert.deepEqual(
    (await stored.ask<List>('GET', '/models')).body.data.map(({ id }) => id),
    ['gpt-image-2'],
  )
  const keyless = await world({ caller: developerOf('fresh') })
  assert.equal((await keyless.ask<List>('GET', '/models')).body.data.length, 3, 'no key hides nothing')
})

test('a node that keeps nothing lists its models without figures', async () => {
  const { ask } = await world({ figures: undefined })
  const { body } = await ask<List>('GET', '/models')
  assert.deepEqual(body.data[0]?.last_hour, { requests: 0, failed: 0, p95_ms: null })
})

test('a model that is gone and yet asked for is listed with its day, its successor and who asks', async () => {
  const asker = { key: 'search/website', requests: 412, kind: 'image' } as const
  const { ask } = await world({ retired: new Map([['dall-e-3', [asker]]]) })
  const { body } = await ask<List>('GET', '/models?q=dall-e&kind=image')
  assert.deepEqual(
    body.data.map(({ id, retired }) => [id, retired]),
    [
      [
        'dall-e-3',
        {
          on: '2026-05-12',
          successor: 'gpt-image-2',
          asked_by: [{ key: 'search/website', requests_7d: 412 }],
        },
      ],
    ],
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, EmbeddingModel, ImageEdits, ImageSizes } from '#core/catalog/catalog.ts'
import { modelEnd } from '#core/catalog/model-end.ts'
import type { Price } from '#core/money/price.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { anImageDeployment, anImageModel } from '#test/support/images.ts'
import { aModel } from '#test/support/models.ts'
import { retiredRow, rowBody, type ModelView } from './row-rules.ts'

const STANDING = { state: 'limited', until: null, since: '2026-11-17T00:00:00.000Z' } as const
const FIGURES = { last_hour: { requests: 3, failed: 1, p95_ms: 20 }, last_day: { requests: 40 } }
const NOTHING = { last_hour: { requests: 0, failed: 0, p95_ms: null }, last_day: { requests: 0 } }
const OLD = { source: 'a page', asOf: '2026-07-01' }
const VIEW = {
  health: { standingOf: () => STANDING, cellsOf: (ids) => ids.join() },
  figures: new Map([['m', FIGURES]]),
  nowMs: Date.UTC(2026, 10, 17, 12),
  nameSpace: ({ id }: EmbeddingModel, width: number) => (id === 'm' ? `shared@${width}:0123abcd` : undefined),
  averageItems: () => undefined,
  limits: { maxInputs: 2048, maxEditPictures: 16 },
} as Pick<ModelView, 'health' | 'figures' | 'nowMs'> as ModelView

const on = (name: string, overrides: Parameters<typeof aDeployment>[0] = {}): Deployment =>
  aDeployment({ id: `m/${name}`, upstream: { name }, ...overrides })

test('a row of an embedding model has its space, its widths, and the most that one call takes', () => {
  const model = aModel({
    id: 'm',
    aliases: ['old-m'],
    ownedBy: 'them',
    managedBy: 'store',
    facts: { dimensions: 16, matryoshka: true, maxInputTokens: 8191 },
    end: modelEnd({ on: '2026-12-01', successor: 'later' }),
    deployments: [
      on('one', { capabilities: { maxInputs: 96 }, factsFrom: OLD, end: modelEnd({ on: '2026-12-01' }) }),
      on('two', { capabilities: { maxInputs: 128 } }),
    ],
  })
  const { can, ...row } = rowBody(model, VIEW)
  assert.equal(can['split'], 'emulated')
  const brief = { model: 'm', kind: 'embedding', ...STANDING }
  assert.deepEqual(row, {
    managed_by: 'store',
    managed_at: null,
    id: 'm',
    kind: 'embedding',
    aliases: ['old-m'],
    owned_by: 'them',
    space: 'shared@16:0123abcd',
    retired: null,
    ends: { on: '2026-12-01', days_left: 14, successor: 'later' },
    embedding: { width: 16, narrower: 'any', max_input_tokens: 8191, max_inputs: 128, contents: null },
    image: null,
    deployments: [
      { ...brief, id: 'm/one', upstream: 'one', ends_on: '2026-12-01' },
      { ...brief, id: 'm/two', upstream: 'two', ends_on: null },
    ],
    price: [{ amount: '', unit: 'unpriced', note: null }],
    as_of: '2026-07-01',
    is_old: true,
    ...FIGURES,
    cells: 'm/one,m/two',
  })
})

test('a model without figures, end, space or limit says so', () => {
  const model = aModel({
    id: 'other',
    deployments: [on('one', { capabilities: { dimensions: { kind: 'list', values: [8, 4, 2] } } })],
  })
  const row = rowBody(model, VIEW)
  assert.partialDeepStrictEqual(row, { ...NOTHING, space: null, ends: null })
  assert.deepEqual(row.embedding, {
    width: 8,
    narrower: [2, 4],
    max_input_tokens: null,
    max_inputs: 2048,
    contents: null,
  })
  assert.equal(rowBody({ ...model, deployments: [] }, VIEW).embedding?.max_inputs, 1)
  assert.deepEqual(rowBody({ ...model, end: modelEnd({ on: '2026-12-01' }) }, VIEW).ends?.successor, null)
})

const FREE: Price = { kind: 'free' }
const UNPRICED: Price = { kind: 'unpriced' }
const paid = (usd: bigint): Price => ({ kind: 'perToken', nanoUsdPerMillionTokens: usd * 1_000_000_000n })

test('the price of a model is the first that is known; where that is free, its note has the first that is not', () => {
  for (const [prices, price] of [
    [[], []],
    [[UNPRICED], [{ amount: '', unit: 'unpriced', note: null }]],
    [[UNPRICED, paid(2n), paid(1n)], [{ amount: '2', unit: 'million tokens', note: null }]],
    [[UNPRICED, FREE, UNPRICED, paid(2n), paid(1n)], [{ amount: '0', unit: 'free', note: 'u3 2' }]],
    [[FREE, UNPRICED], [{ amount: '0', unit: 'free', note: null }]],
    [[paid(2n), FREE], [{ amount: '2', unit: 'million tokens', note: null }]],
  ] as const)
    assert.deepEqual(
      rowBody(
        aModel({ id: 'm', deployments: prices.map((one, index) => on(`u${index}`, { price: one })) }),
        VIEW,
      ).price,
      price,
    )
})

const listed = (...sizes: (readonly [number, number])[]): ImageSizes => ({
  kind: 'list',
  values: sizes.map(([width, height]) => ({ width, height })),
})
const any = (width: number, height: number): ImageSizes => ({ kind: 'any', default: { width, height } })
const BOUNDS = { multipleOf: 16, minPixels: 100, maxPixels: 9000, maxEdge: 300, maxRatio: 3 }
const free: ImageSizes = { kind: 'free', default: { width: 64, height: 32 }, ...BOUNDS }
const UNBOUND = { multiple_of: null, min_pixels: null, max_edge: null, max_ratio: null }
const BOUND = { multiple_of: 16, min_pixels: 100, max_pixels: 9000, max_edge: 300 }

test('the sizes of an image model: bounds say more than a list, and a list more than any', () => {
  for (const [all, sizes] of [
    [
      [any(9, 9), listed([3, 5]), free],
      { kind: 'free', values: [], default: '64x32', ...BOUND, max_ratio: 3 },
    ],
    // The longest edge bounds the ratio anyway.
    [
      [{ ...free, maxRatio: 300 } as ImageSizes],
      { kind: 'free', values: [], default: '64x32', ...BOUND, max_ratio: null },
    ],
    [
      [any(9, 9), listed([3, 5], [4, 4]), listed([3, 5], [2, 9])],
      { kind: 'list', values: ['3x5', '4x4', '2x9'], default: '3x5', max_pixels: 18, ...UNBOUND },
    ],
    [[any(9, 9), any(20, 2)], { kind: 'any', values: [], default: '9x9', max_pixels: 81, ...UNBOUND }],
    [[any(9, 9)], { kind: 'any', values: [], default: '9x9', max_pixels: 81, ...UNBOUND }],
    [[], { kind: 'any', values: [], default: 'auto', max_pixels: 0, ...UNBOUND }],
  ] as const) {
    const deployments = all.map((one) => anImageDeployment({ capabilities: { sizes: one } }))
    assert.deepEqual(rowBody(anImageModel({ deployments }), VIEW).image?.sizes, sizes)
  }
})

test('an image model has the most of what its deployments do, and no more inputs than the gateway takes', () => {
  const edits: ImageEdits = {
    maxInputs: 10,
    inputFormats: ['png'],
    mask: undefined,
    markup: false,
    fidelities: [],
    bodies: ['json'],
    maxFileBytes: 500,
  }
  const one = anImageDeployment({
    capabilities: {
      maxImages: 4,
      stream: true,
      maxPartialImages: 2,
      qualities: ['low', 'high'],
      formats: ['png'],
      edits,
    },
  })
  const two = anImageDeployment({
    capabilities: {
      maxImages: 10,
      stream: false,
      maxPartialImages: 9,
      qualities: ['high', 'auto'],
      formats: ['png', 'webp'],
      edits: undefined,
    },
  })
  const bodyOf = (deployments: (typeof one)[], maxEditPictures = 16) =>
    rowBody(anImageModel({ deployments }), { ...VIEW, limits: { ...VIEW.limits, maxEditPictures } })
  const row = bodyOf([one, two])
  assert.deepEqual([row.embedding, row.space, row.kind], [null, null, 'image'])
  const { sizes: _sizes, ...image } = row.image ?? {}
  assert.deepEqual(image, {
    max_given: 10,
    max_given_bytes: 500,
    max_per_call: 10,
    previews: 2,
    qualities: ['low', 'high', 'auto'],
    formats: ['png', 'webp'],
  })
  assert.equal(bodyOf([one], 3).image?.max_given, 3)
  const { max_given, max_given_bytes, previews } = bodyOf([two]).image ?? {}
  assert.deepEqual([max_given, max_given_bytes, previews], [0, 0, 0])
  assert.equal(bodyOf([]).image?.max_per_call, 1)
})

test('a model that is gone is a row of those who still ask for it', () => {
  const askers = [{ key: 'ads/web', requests_7d: 4, model: 'gone', kind: 'image' }] as const
  assert.deepEqual(retiredRow({ id: 'gone', on: '2026-01-01', successor: 'm' }, askers), {
    managed_by: 'built-in',
    managed_at: null,
    id: 'gone',
    kind: 'image',
    aliases: [],
    owned_by: '',
    space: null,
    retired: { on: '2026-01-01', successor: 'm', asked_by: [{ key: 'ads/web', requests_7d: 4 }] },
    ends: null,
    embedding: null,
    image: null,
    can: {},
    deployments: [],
    price: [],
    as_of: null,
    is_old: false,
    ...NOTHING,
    cells: '.'.repeat(28),
  })
  const unasked = retiredRow({ id: 'gone', on: '2026-01-01' }, [])
  assert.deepEqual([unasked.kind, unasked.retired?.successor], ['embedding', null])
})

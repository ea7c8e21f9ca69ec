import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effectsOf } from '#core/feed/effects.ts'
import { canonicalText, MAX_FEED_MODELS, type FeedDocument } from '#core/feed/document.ts'
import { Fault } from '#core/fault/fault.ts'
import { changedDocument, tokenPrice, type TestProvider } from '#test/support/feed.ts'
import { readConfig } from '../load.ts'
import { factChanges } from './feed-diff.ts'
import { builtInFacts } from './facts.ts'
import { factsFor, factsOfFeed } from './feed.ts'

const CONFIG = `
upstreams:
  openai: { provider: openai, apiKey: k }
  house: { provider: openai, apiKey: k }
models:
  text-embedding-3-small: { deployments: [{ upstream: openai }] }
  fixed:
    facts: text-embedding-3-large
    embedding: { dimensions: 3072, inputType: none }
    price: { usdPerMillionTokens: 9 }
    deployments: [{ upstream: house }]
`

function catalogWith(facts = builtInFacts()) {
  const surroundings = { env: {}, readFile: () => '', bootstrapKey: undefined, nowMs: Date.now() }
  return readConfig('torana.yaml', CONFIG, { ...surroundings, facts }).catalog
}

const factsAfter = (change: (provider: TestProvider) => void, providers?: readonly string[]) =>
  factsOfFeed(changedDocument(1, change, providers))

test('the catalogue of the program and the feed made of it have the same facts', () => {
  const document = changedDocument(0)
  assert.deepEqual(factsOfFeed(document), builtInFacts())
  assert.deepEqual(factsFor(canonicalText(document)), builtInFacts())
  assert.equal(factsFor(undefined), builtInFacts())
  assert.deepEqual(factChanges(builtInFacts(), factsOfFeed(document)), [])
})

test('a feed never changes where calls go, nor by which wire: credentials would follow', () => {
  const moved = changedDocument(1, (provider) => {
    provider.baseUrl = 'https://attacker.example/v1'
    Object.assign(provider, { dialect: 'ai-sdk', imageDialect: 'azure' })
  })
  const { openai: known, ...others } = moved.providers as Record<string, object>
  const stranger = { ...known, provider: 'stranger', models: {}, retired: {} }
  const facts = factsOfFeed({ ...moved, providers: { ...others, openai: known, stranger } })
  const { baseUrl, dialect, imageDialect } = facts.get('openai') ?? {}
  const program = builtInFacts().get('openai')
  assert.deepEqual([baseUrl, dialect, imageDialect], [program?.baseUrl, program?.dialect, undefined])
  assert.equal(facts.get('stranger')?.baseUrl, undefined)
})

const many = (count: number): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`m-${at}`, { kind: 'image' }]))

const REFUSED: readonly (readonly [string, FeedDocument, RegExp])[] = [
  [
    'a fact that this version does not know',
    changedDocument(1, ({ models }) => void (models['x'] = { kind: 'image', shape: 1 })),
    /openai: models\.x/,
  ],
  [
    'a price without a source',
    changedDocument(
      1,
      ({ models }) => void ((models['text-embedding-3-small'] ?? {})['price'] = { usdPerMillionTokens: 1 }),
    ),
    /openai: models\.text-embedding-3-small\.price/,
  ],
  [
    'facts without a source',
    changedDocument(1, (provider) => void delete (provider as { factSource?: unknown }).factSource),
    /openai: .*factSource/,
  ],
  [
    'a provider under the name of another',
    { ...changedDocument(1), providers: { other: changedDocument(1).providers['openai'] } },
    /must be other/,
  ],
  ['the demo', { ...changedDocument(1), providers: { demo: {} } }, /demo/],
  [
    'too many models',
    changedDocument(1, ({ models }) => void Object.assign(models, many(MAX_FEED_MODELS))),
    /a feed may have 5000/,
  ],
]

for (const [what, document, message] of REFUSED) {
  test(`a feed with ${what} is refused with the place`, () => {
    assert.throws(
      () => factsOfFeed(document),
      (error) =>
        error instanceof Fault && error.code === 'catalog_feed_invalid' && message.test(error.message),
    )
  })
}

test('the differences name group, source and day; a price that was only read again is none', () => {
  const facts = factsAfter(({ models, retired }) => {
    ;(models['text-embedding-3-small'] ?? {})['price'] = tokenPrice(0.01)
    ;(models['text-embedding-3-large'] ?? {})['price'] = tokenPrice(0.13)
    models['text-embedding-4'] = { ...models['text-embedding-3-small'] }
    delete models['text-embedding-ada-002']
    retired['text-embedding-ada-002'] = { on: '2026-11-01' }
  })
  const changes = factChanges(builtInFacts(), facts)
  const words = changes.map(({ model, group, before, after }) =>
    [model, group, before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'].join(' '),
  )
  assert.deepEqual(words, [
    'text-embedding-3-small price changed',
    'text-embedding-4 facts added',
    'text-embedding-4 price added',
    'text-embedding-4 wire added',
    'text-embedding-ada-002 facts removed',
    'text-embedding-ada-002 price removed',
    'text-embedding-ada-002 retired added',
  ])
  const [price] = changes
  assert.deepEqual([price?.source, price?.asOf], ['https://example.com/prices', '2026-11-18'])
})

test('what the operator declared is never changed; the rest is reported for each deployment', () => {
  const after = factsAfter(
    ({ models, capabilities }) => {
      for (const id of ['text-embedding-3-small', 'text-embedding-3-large']) {
        const model = models[id] ?? {}
        model['price'] = tokenPrice(0.01)
        model['embedding'] = { ...(model['embedding'] as object), dimensions: 64 }
      }
      capabilities['harmlessFields'] = ['late']
    },
    ['openai', 'azure'],
  )
  const { vectorChanges, priceChanges, lostModels } = effectsOf(catalogWith(), catalogWith(after))
  assert.deepEqual(
    vectorChanges.map(({ model, deployment, fact }) => [model, deployment, fact]),
    [
      ['text-embedding-3-small', undefined, 'dimensions'],
      ['text-embedding-3-small', 'text-embedding-3-small/openai', 'harmlessFields'],
      ['fixed', 'fixed/house', 'harmlessFields'],
    ],
  )
  assert.deepEqual(
    priceChanges.map(({ deployment }) => deployment),
    ['text-embedding-3-small/openai'],
  )
  assert.deepEqual(lostModels, [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../load.ts'
import type { ConfigAddition } from './additions.ts'
import { builtInFacts } from './facts.ts'

const FILE = `
upstreams:
  main: { provider: openai, apiKey: sk-1 }
  spare: { provider: openai, apiKey: sk-2 }
models:
  text-embedding-3-small:
    aliases: [small]
    price: { usdPerMillionTokens: 5 }
    deployments: [{ upstream: main }]
`
const surroundings = {
  env: {},
  readFile: () => '',
  facts: builtInFacts(),
  bootstrapKey: undefined,
  nowMs: Date.UTC(2026, 10, 18),
}
const loaded = readConfig('torana.yaml', FILE, surroundings)

const model = (name: string, entry: object): ConfigAddition => ({
  object: 'model',
  name,
  entry,
  by: 'alice',
  atMs: 7,
})
const own = (more: object = {}) => ({
  kind: 'embedding',
  embedding: { dimensions: 8 },
  deployments: [{ upstream: 'main' }],
  ...more,
})

function extended(...additions: readonly ConfigAddition[]) {
  const { catalog, problems } = loaded.extend(additions)
  return { catalog, problems: problems.map(({ text }) => text) }
}

test('deployments of the store follow those of the file, under every name of the model, with their own places', () => {
  const deployments = [{ upstream: 'spare', priority: 1, price: 'free' }]
  const { catalog, problems } = extended(model('text-embedding-3-small', { deployments }))
  assert.deepEqual(problems, [])
  const merged = catalog.models.get('small')
  assert.equal(merged, catalog.models.get('text-embedding-3-small'))
  assert.equal(merged?.managedBy, 'torana.yaml:6')
  assert.deepEqual(
    merged?.deployments.map(({ id, managedBy, price, priceFrom }) => [id, managedBy, price.kind, priceFrom]),
    [
      [
        'text-embedding-3-small/main',
        'torana.yaml:9',
        'perToken',
        { from: 'configuration', at: 'torana.yaml:8' },
      ],
      ['text-embedding-3-small/spare', 'store', 'free', { from: 'store', by: 'alice', atMs: 7 }],
    ],
  )
})

test('the file comes first: on its upstreams nothing is added, and its other fields stay', () => {
  const entry = { aliases: ['mine'], cache: { ttl: '1h' }, deployments: [{ upstream: 'main', weight: 9 }] }
  const { catalog, problems } = extended(model('text-embedding-3-small', entry))
  assert.deepEqual(problems, [])
  assert.equal(catalog.models.get('small'), loaded.catalog.models.get('small'))
  assert.ok(!catalog.models.has('mine'))
})

test('a faulty entry is left out with its reason, in the words for torana.yaml, and affects no other', () => {
  const { catalog, problems } = extended(
    model('text-embedding-3-small', { deployments: [{ upstream: 'spares' }] }),
    model('mine', own({ cache: { ttl: 'long' } })),
    model('good', own()),
    model('small', own()),
  )
  assert.deepEqual(problems, [
    'models.text-embedding-3-small.deployments[1].upstream: there is no upstream spares. Did you mean spare?',
    'models.mine.cache.ttl: expected a time such as 30d, 12h, 90m or 45s',
    'models.small: small is an alias of text-embedding-3-small in the configuration',
  ])
  assert.deepEqual([...catalog.models.keys()], ['text-embedding-3-small', 'small', 'good'])
})

test('an alias that is taken is left out, and its model is served by its other names', () => {
  const { catalog, problems } = extended(
    model('one', own({ aliases: ['first', 'small', 'two', 'first'] })),
    model('two', own({ aliases: ['first', 'second'] })),
  )
  assert.deepEqual(problems, [
    'models.one.aliases[1]: small is already an alias of text-embedding-3-small',
    'models.one.aliases[2]: two is already the id of a model',
    'models.one.aliases[3]: first is already an alias of one',
    'models.two.aliases[0]: first is already an alias of one',
  ])
  assert.deepEqual(catalog.models.get('first')?.aliases, ['first'])
  assert.deepEqual(catalog.models.get('second')?.id, 'two')
})

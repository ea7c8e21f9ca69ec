import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Deployment, EmbeddingCapabilities, EmbeddingModel } from '#core/catalog/catalog.ts'
import { listModels } from '#core/catalog/catalog.ts'
import { keyFrom } from '#core/keys/key.ts'
import { readFacts } from './facts.ts'
import { readConfig } from '../load.ts'
import type { LoadedConfig, Surroundings } from '../load.ts'
import type { CapabilityFields } from '../schema/model.ts'
import { ConfigError } from '../file/problem.ts'
import { resolveCapabilities } from './resolve.ts'

const facts = readFacts([
  {
    name: 'catalog/acme.yaml',
    text: `
provider: acme
factSource: { source: a test, asOf: 2026-11-18 }
name: Acme
dialect: openai
baseUrl: https://api.acme.test/v1/
capabilities: { maxInputs: 100, maxTokens: 5000, encodings: [float, base64], user: true }
models:
  acme-embed:
    kind: embedding
    upstreamModel: acme/embed@1
    aliases: [acme-e]
    embedding: { dimensions: 8, matryoshka: true, maxInputTokens: 512, inputType: { field: task, values: { query: q } } }
    capabilities: { maxInputs: 50, dimensions: [2, 4, 8] }
    price: { usdPerMillionTokens: 0.02, source: 'https://acme.test/prices', asOf: 2026-08-08 }
retired:
  acme-old: { on: 2020-01-01, successor: acme-embed }
  acme-older: { on: 2019-01-01, successor: acme-old }
  acme-future: { on: 2999-01-01 }
`,
  },
  {
    name: 'catalog/budget.yaml',
    text: `
provider: budget
factSource: { source: a test, asOf: 2026-11-18 }
name: Budget
dialect: openai
baseUrl: http://localhost:9/v1
capabilities: { maxInputs: 10 }
models:
  acme-embed:
    kind: embedding
    embedding: { dimensions: 8, matryoshka: true, maxInputTokens: 512, inputType: { field: task, values: { query: q } } }
    price: free
`,
  },
])

const surroundings: Surroundings = {
  env: { OPENAI_API_KEY: 'sk-test' },
  readFile: () => assert.fail('there are no files'),
  facts,
  bootstrapKey: undefined,
  nowMs: Date.parse('2026-11-01'),
}

const load = (text: string): LoadedConfig => readConfig('t.yaml', text, surroundings)

function modelOf({ catalog }: LoadedConfig, id: string): EmbeddingModel {
  const model = catalog.models.get(id)
  assert.ok(model?.kind === 'embedding', `${id} is served`)
  return model
}

function deploymentOf(text: string): Deployment {
  const [model] = listModels(load(text).catalog)
  assert.ok(model?.kind === 'embedding' && model.deployments[0])
  return model.deployments[0]
}

test('a deployment takes the most specific word on each capability', () => {
  const { capabilities } = deploymentOf(`
upstreams: { a: { provider: acme } }
models: { acme-embed: { deployments: [{ upstream: a, capabilities: { maxTokens: 7, tokenArrays: true } }] } }`)
  assert.deepEqual(capabilities, {
    maxInputs: 50, // facts of the model
    maxTokens: 7, // deployment
    maxBytes: undefined,
    encodings: ['float', 'base64'], // provider
    tokenArrays: true,
    dimensions: { kind: 'list', values: [2, 4, 8] },
    dimensionsField: 'dimensions', // default
    unitDimensions: true,
    user: true,
    maxParallelCalls: 8,
    countsTokens: true,
    harmlessFields: [],
  } satisfies EmbeddingCapabilities)
})

test('an upstream without provider gets the careful defaults, whatever is known of the model', () => {
  const deployment = deploymentOf(`
upstreams: { a: { dialect: openai, baseUrl: 'http://10.0.0.1/v1//' } }
models: { acme-embed: { deployments: [{ upstream: a }] } }`)
  assert.deepEqual(deployment.capabilities, resolveCapabilities([]))
  assert.deepEqual(deployment.price, { kind: 'unpriced' })
  assert.equal(deployment.upstreamModel, 'acme-embed')
  assert.equal(deployment.upstream.baseUrl, 'http://10.0.0.1/v1')
  assert.equal(deployment.upstream.provider, undefined)
})

test('unknown fields pass, or are refused, or are a list', () => {
  const fieldsOf = (rule: string) =>
    modelOf(
      load(`
upstreams: { a: { provider: acme } }
models: { acme-embed: { ${rule}, deployments: [{ upstream: a }] } }`),
      'acme-embed',
    ).unknownFields
  assert.equal(fieldsOf('aliases: []'), undefined)
  assert.equal(fieldsOf('unknownFields: pass'), undefined)
  assert.deepEqual(fieldsOf('unknownFields: refuse'), [])
  assert.deepEqual(fieldsOf('unknownFields: [late_chunking]'), ['late_chunking'])
})

test('layers of capabilities: the last one that says anything wins, field by field', () => {
  const layer = fc.record(
    { maxInputs: fc.nat(), user: fc.boolean(), harmlessFields: fc.array(fc.string()), maxBytes: fc.nat() },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.array(fc.option(layer, { nil: undefined })), (layers) => {
      const resolved = resolveCapabilities(layers)
      const careful = resolveCapabilities([])
      for (const field of ['maxInputs', 'user', 'harmlessFields', 'maxBytes'] as const) {
        const last = layers.findLast((fields: CapabilityFields | undefined) => fields?.[field] !== undefined)
        assert.deepEqual(resolved[field], last?.[field] ?? careful[field])
      }
    }),
  )
})

test('prices: deployment, then model, then the facts of provider and model, then unpriced', () => {
  const price = (model: string, deployment: string, provider = 'acme', id = 'acme-embed') =>
    deploymentOf(`
upstreams: { a: { provider: ${provider} } }
models: { ${id}: { kind: embedding, embedding: { dimensions: 8 }${model}, deployments: [{ upstream: a${deployment} }] } }`)
      .price
  const perToken = (nanoUsdPerMillionTokens: bigint) => ({ kind: 'perToken', nanoUsdPerMillionTokens })
  assert.deepEqual(price(', price: free', ', price: { usdPerMillionTokens: 0.000000001 }'), perToken(1n))
  assert.deepEqual(price(", price: { usdPerMillionTokens: '1.5' }", ''), perToken(1_500_000_000n))
  assert.deepEqual(price('', ''), perToken(20_000_000n))
  assert.deepEqual(price('', '', 'budget'), { kind: 'free' })
  assert.deepEqual(price('', ', price: unpriced', 'budget'), { kind: 'unpriced' })
  assert.deepEqual(price('', '', 'acme', 'mine'), { kind: 'unpriced' })
})

test('single facts of a model can be overridden, and the rest stays', () => {
  const { facts: resolved } = modelOf(
    load(`
upstreams: { a: { provider: acme } }
models: { acme-embed: { embedding: { maxInputTokens: 100, inputType: none }, deployments: [{ upstream: a }] } }`),
    'acme-embed',
  )
  assert.deepEqual(resolved, {
    dimensions: 8,
    matryoshka: true,
    maxInputTokens: 100,
    tokenizer: 'cl100k_base',
    tokenCounts: 'estimated',
    inputType: { rule: 'none' },
  })
})

test('a model of one’s own needs no more than a kind and a width', () => {
  const model = modelOf(
    load(`
upstreams: { a: { dialect: openai, baseUrl: 'http://x' } }
models:
  # A comment before it.
  mine: { kind: embedding, embedding: { dimensions: 3 }, deployments: [{ upstream: a }] }`),
    'mine',
  )
  assert.deepEqual(model.facts, {
    dimensions: 3,
    matryoshka: false,
    maxInputTokens: undefined,
    tokenizer: 'cl100k_base',
    tokenCounts: 'estimated',
    inputType: { rule: 'none' },
  })
  assert.equal(model.ownedBy, 'a')
  assert.equal(model.managedBy, 't.yaml:5')
})

test('counts are exact where a deployment reads token arrays, unless the file says otherwise', () => {
  const counts = (embedding: string) =>
    modelOf(
      load(`
upstreams: { a: { provider: acme } }
models: { m: { kind: embedding, embedding: { dimensions: 3${embedding} }, deployments: [{ upstream: a, capabilities: { tokenArrays: true } }] } }`),
      'm',
    ).facts.tokenCounts
  assert.equal(counts(''), 'exact')
  assert.equal(counts(', tokenCounts: estimated'), 'estimated')
  assert.equal(counts(', tokenizer: none'), 'estimated')
})

test('facts serve a model under another public id, and the upstream hears its own name for it', () => {
  const named = (id: string, fields: string, deployment = '') =>
    deploymentOf(`
upstreams: { a: { provider: acme }, b: { provider: budget } }
models: { ${id}: { ${fields} deployments: [{ upstream: a${deployment} }] } }`).upstreamModel
  assert.equal(named('acme-embed', ''), 'acme/embed@1')
  assert.equal(named('acme-e', ''), 'acme/embed@1')
  assert.equal(named('house', 'facts: acme-embed,'), 'acme/embed@1')
  assert.equal(named('house', 'facts: acme-embed,', ', model: other'), 'other')
  assert.equal(
    deploymentOf(
      '{ upstreams: { b: { provider: budget } }, models: { house: { facts: acme-e, deployments: [{ upstream: b }] } } }',
    ).upstreamModel,
    'house',
  )
})

test('the provider is read off a published https address, never off one of one’s own network', () => {
  const upstream = (fields: string) =>
    deploymentOf(`
upstreams: { a: { ${fields} } }
models: { m: { kind: embedding, embedding: { dimensions: 3 }, deployments: [{ upstream: a }] } }`).upstream
  assert.equal(upstream('dialect: openai, baseUrl: https://api.acme.test/v1').provider, 'acme')
  assert.equal(upstream('dialect: openai, baseUrl: https://api.acme.test/v2').provider, undefined)
  assert.equal(upstream('dialect: openai, baseUrl: http://localhost:9/v1').provider, undefined)
  assert.equal(upstream('provider: acme').baseUrl, 'https://api.acme.test/v1')
  assert.equal(upstream('provider: acme').dialect, 'openai')
  assert.equal(upstream('dialect: demo').provider, 'demo')
  const azure = upstream('dialect: azure, resource: my-eu, apiKey: k')
  assert.equal(azure.baseUrl, 'https://my-eu.openai.azure.com')
  assert.equal(azure.apiVersion, 'v1')
})

test('deployments are identified by the upstream’s name of the model', () => {
  const model = modelOf(
    load(`
upstreams: { a: { provider: acme }, b: { provider: budget } }
models: { acme-embed: { deployments: [{ upstream: a }, { upstream: a, model: two, priority: 1, weight: 0.5 }, { upstream: b }] } }`),
    'acme-embed',
  )
  assert.deepEqual(
    model.deployments.map(({ id, priority, weight }) => [id, priority, weight]),
    [
      ['acme-embed/a/acme/embed@1', 0, 1],
      ['acme-embed/a/two', 1, 0.5],
      ['acme-embed/b', 0, 1],
    ],
  )
})

test('an alias is the same model, and a key that names it may use the model; limits and budgets are read exactly', () => {
  const secret = keyFrom(new Uint8Array(32).fill(9))
  const { catalog } = load(`
upstreams: { a: { provider: acme } }
models: { acme-embed: { aliases: [search], deployments: [{ upstream: a }] } }
projects:
  p: { budget: { usd: 12.5, hard: true }, keys: [{ name: ci, limits: { tokensPerMinute: 9 }, secret: ${secret}, models: [search, acme-embed], expires: 2027-01-01T00:00:00+01:00 }, { name: all, secret: ${'z1234567'.repeat(3)} }] }`)
  assert.equal(catalog.models.get('search'), catalog.models.get('acme-embed'))
  assert.deepEqual(catalog.projects, [
    {
      name: 'p',
      managedAt: 't.yaml:5',
      limits: undefined,
      budget: { limitNanoUsd: 12_500_000_000n, per: 'month', hard: true },
      keys: [
        {
          name: 'ci',
          managedAt: 't.yaml:5',
          secret,
          models: ['acme-embed'],
          expiresAtMs: Date.parse('2026-12-31T23:00:00Z'),
          limits: { tokensPerMinute: 9 },
          budget: undefined,
          scopes: undefined,
          maxCallsAtOnce: undefined,
          addresses: undefined,
        },
        {
          name: 'all',
          managedAt: 't.yaml:5',
          secret: 'z1234567'.repeat(3),
          models: undefined,
          expiresAtMs: undefined,
          limits: undefined,
          budget: undefined,
          scopes: undefined,
          maxCallsAtOnce: undefined,
          addresses: undefined,
        },
      ],
      webhooks: [],
    },
  ])
})

test('what providers retired is known, and names only successors that are served here', () => {
  const { retired } = load(`
upstreams: { a: { provider: acme } }
models: { acme-embed: { deployments: [{ upstream: a }] } }
retired: { mine: { on: 2026-01-01 } }`).catalog
  assert.deepEqual(
    [...retired.values()],
    [
      { id: 'acme-old', on: '2020-01-01', successor: 'acme-embed' },
      { id: 'acme-older', on: '2019-01-01', successor: undefined },
      { id: 'mine', on: '2026-01-01', successor: undefined },
    ],
  )
})

test('what works but is hardly meant is a warning with its place', () => {
  const { warnings } = load(`
upstreams: { a: { provider: acme }, b: { dialect: { embedding: openai, image: ai-sdk }, provider: budget } }
models:
  acme-old: { facts: acme-embed, deployments: [{ upstream: a }] }
  acme-older: { kind: embedding, embedding: { dimensions: 3 }, deployments: [{ upstream: a }] }
projects: { p: { keys: [{ name: ci, secret: ${'y1234567'.repeat(3)}, expires: 2026-01-01 }] } }`)
  assert.deepEqual(warnings, [
    't.yaml:2:40 upstreams.b: no model is deployed on it',
    't.yaml:5:78 models.acme-older.deployments[0]: acme-older on acme ended on 2019-01-01. Torana goes on calling it until you remove it. Its successor is acme-old',
    't.yaml:6:80 projects.p.keys[0].expires: the key ci has expired and is refused',
  ])
})

test('anchors work, also for values from variables', () => {
  const { catalog } = load(`
upstreams: { a: { provider: acme, headers: { x-key: &key "\${OPENAI_API_KEY}", x-again: *key } } }
models:
  acme-embed: { deployments: &where [{ upstream: a }] }
  mine: { facts: acme-embed, deployments: *where }`)
  assert.deepEqual(catalog.models.get('mine')?.deployments[0]?.upstream.headers, {
    'x-key': 'sk-test',
    'x-again': 'sk-test',
  })
})

test('facts that contradict one another, or their file, are refused with their place', () => {
  const file = (provider: string, width: number) => `provider: ${provider}
name: X
dialect: openai
models: { m: { kind: embedding, embedding: { dimensions: ${width} } } }
factSource: { source: a test, asOf: 2026-11-18 }
`
  assert.throws(
    () =>
      readFacts([
        { name: 'catalog/a.yaml', text: file('a', 1) },
        { name: 'catalog/b.yaml', text: file('c', 2) },
      ]),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError)
      assert.deepEqual(error.problems, [
        'catalog/b.yaml:1:11 provider: must be b, like the file',
        'catalog/b.yaml:4:44 models.m.embedding: differs from what catalog/a.yaml says of the same model',
      ])
      return true
    },
  )
})

test('what is for embedding models alone is refused on an image model, whatever it says', () => {
  for (const field of ['cache: { ttl: 1h }', 'microBatch: {}', 'spaceGuard: false', 'spaceGuard: true'])
    assert.throws(
      () =>
        load(`
upstreams: { a: { dialect: openai, baseUrl: 'http://x' } }
models: { mine: { kind: image, ${field}, deployments: [{ upstream: a }] } }`),
      { message: new RegExp(`models\\.mine\\.${field.split(':')[0]}.* is for embedding models`, 's') },
      field,
    )
})

test('a wire whose calls carry one input has that limit, whatever its layers say', () => {
  for (const wire of ['vertex', 'vertex-predict', 'titan'])
    assert.equal(
      deploymentOf(`
upstreams: { a: { provider: acme } }
models: { acme-embed: { deployments: [{ upstream: a, capabilities: { contents: { wire: ${wire}, inputs: [text] } } }] } }`)
        .capabilities.maxInputs,
      1,
      wire,
    )
})

for (const [what, embedding, contents, place, words] of [
  [
    'formats of a kind that is not taken',
    '',
    'wire: gemini, inputs: [text, image], formats: [png, wav, mp3]',
    'formats',
    'names wav, mp3, and inputs has no audio',
  ],
  [
    'a wire that needs an input type, on a model without one',
    '',
    'wire: cohere, inputs: [text, image]',
    'wire',
    'cohere makes no vector without an input type',
  ],
  [
    'the same on a model with prefixes',
    ', inputType: { prefixes: { query: "q: ", document: "d: " } }',
    'wire: nova, inputs: [text, image]',
    'wire',
    'nova makes no vector without an input type',
  ],
] as const)
  test(`${what}: a problem with its place`, () => {
    assert.throws(
      () =>
        load(`
upstreams: { a: { dialect: openai, baseUrl: 'http://x' } }
models: { mine: { kind: embedding, embedding: { dimensions: 8${embedding} }, deployments: [{ upstream: a, capabilities: { contents: { ${contents} } } }] } }`),
      { message: new RegExp(`capabilities\\.contents\\.${place}.* ${words}`, 's') },
    )
  })

test('what is shown of where an object stands names the file, not its folder', () => {
  const text = `upstreams: { a: { provider: acme } }
models: { acme-embed: { deployments: [{ upstream: a }] } }
projects:
  p: { keys: [{ name: ci, secret: ${'z1234567'.repeat(3)} }] }`
  const { catalog } = readConfig('/etc/torana/torana.yaml', text, surroundings)
  assert.equal(catalog.projects[0]?.managedAt, 'torana.yaml:4')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listModels, type EmbeddingModel } from '#core/catalog/catalog.ts'
import { defaultLimits } from '#core/settings.ts'
import { builtInFacts } from './build/facts.ts'
import { lateChanges, readConfig, readNothing, type LoadedConfig, type Surroundings } from './load.ts'
import { problemsOf } from '#test/support/config.ts'
import { exampleFile } from '../../generate/example.ts'

const surroundings: Surroundings = {
  env: {
    OPENAI_API_KEY: 'sk-test',
    AZURE_KEY: 'az',
    COHERE_API_KEY: 'co',
    TOGETHER_KEY: 'to',
    SEARCH_CI_KEY: 's1234567'.repeat(3),
  },
  readFile: () => assert.fail('there are no files'),
  facts: builtInFacts(),
  bootstrapKey: undefined,
  nowMs: Date.parse('2026-11-01'),
}

function modelOf({ catalog }: LoadedConfig, id: string): EmbeddingModel {
  const model = catalog.models.get(id)
  assert.ok(model?.kind === 'embedding', `${id} is served`)
  return model
}

test('a variable may stand for a number or a truth value, and stays text where text belongs', () => {
  const loaded = readConfig(
    't.yaml',
    `
upstreams: { a: { dialect: openai, baseUrl: \${URL}, apiKey: \${NUMBER} } }
models: { m: { kind: embedding, embedding: { dimensions: \${NUMBER}, matryoshka: "\${YES}" }, price: { usdPerMillionTokens: \${PRICE} }, deployments: [{ upstream: a }] } }
limits: { maxInputs: \${LIMIT:-5}, fetchImageUrls: \${FETCH:-true}, uploadIdleMs: 1000 }`,
    { ...surroundings, env: { URL: 'http://x', NUMBER: '1024', YES: 'true', PRICE: '0.13' } },
  )
  const model = modelOf(loaded, 'm')
  assert.equal(model.facts.dimensions, 1024)
  assert.equal(model.facts.matryoshka, true)
  assert.equal(model.deployments[0]?.upstream.apiKey, '1024')
  assert.deepEqual(model.deployments[0]?.price, { kind: 'perToken', nanoUsdPerMillionTokens: 130_000_000n })
  assert.deepEqual(loaded.limits, {
    ...defaultLimits,
    maxInputs: 5,
    fetchImageUrls: true,
    uploadIdleMs: 1000,
  })
})

test('origins of web pages are a list or a star, and nothing that no browser would send', () => {
  const read = (cors: string): LoadedConfig =>
    readConfig('t.yaml', `${exampleFile}\ncors: ${cors}\n`, surroundings)
  assert.equal(readConfig('t.yaml', exampleFile, surroundings).cors, undefined)
  assert.deepEqual(read('{ origins: "*" }').cors, { origins: '*' })
  const origins = ['https://app.example.com', 'http://localhost:3000', 'http://[::1]:80', 'app://obsidian.md']
  assert.deepEqual(read(`{ origins: [${origins.map((one) => `"${one}"`).join()}] }`).cors, { origins })
  for (const wrong of [
    'https://a.example/',
    'https://A.example',
    'a.example',
    '*',
    'https://*.example',
    'null',
  ])
    assert.match(problemsOf(() => read(`{ origins: ["${wrong}"] }`)).join(), /cors\.origins/, wrong)
  assert.equal(problemsOf(() => read('{ origins: [] }')).length, 1)
})

test('without a file there are the demo models, and OpenAI’s once there is a key', () => {
  assert.deepEqual(
    [...readNothing(undefined, surroundings).catalog.models.keys()],
    ['demo-embed', 'demo-image'],
  )
  const loaded = readNothing('sk-test', surroundings)
  assert.ok(loaded.catalog.models.has('text-embedding-3-small'))
  assert.equal(loaded.catalog.models.get('gpt-image-2')?.kind, 'image')
  assert.ok(listModels(loaded.catalog).every(({ managedBy }) => managedBy === 'built-in'))
  const demo = modelOf(loaded, 'demo-embed')
  assert.equal(demo.facts.dimensions, 512)
  assert.equal(demo.facts.tokenizer, 'cl100k_base')
  assert.equal(demo.deployments[0]?.upstream.dialect, 'demo')
  assert.equal(demo.deployments[0]?.capabilities.maxInputs, 64)
  assert.deepEqual(demo.deployments[0]?.price, { kind: 'free' })
})

const OURS = 'tr_Zk1mQ8vX3sT5wY7bN2cR4dF6gH9jK0pL_00000000'

test('a key of Torana in OPENAI_API_KEY adds no upstream that it could be sent to, and a warning says so', () => {
  const { catalog, warnings } = readNothing(OURS, surroundings)
  assert.deepEqual([...catalog.models.keys()], ['demo-embed', 'demo-image'])
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /^OPENAI_API_KEY: holds a key of Torana/)
  assert.ok(!warnings[0]?.includes(OURS))
})

test('a key of Torana is refused as the key of a provider, and is right for a server of one’s own', () => {
  const read = (upstream: string): LoadedConfig =>
    readConfig(
      't.yaml',
      `
upstreams: { a: { ${upstream}, apiKey: \${OPENAI_API_KEY} } }
models: { text-embedding-3-small: { deployments: [{ upstream: a }] } }`,
      { ...surroundings, env: { OPENAI_API_KEY: OURS } },
    )
  for (const provider of ['provider: openai', 'dialect: openai, baseUrl: "https://api.openai.com/v1/"']) {
    const [problem = '', ...others] = problemsOf(() => read(provider))
    assert.match(problem, /upstreams\.a\.apiKey: holds a key of Torana/)
    assert.ok(!problem.includes(OURS) && others.length === 0, problem)
  }
  assert.equal(
    modelOf(read('provider: openai, baseUrl: https://torana.example.com/v1'), 'text-embedding-3-small')
      .deployments[0]?.upstream.apiKey,
    OURS,
  )
})

test('the example of the documentation loads against the built-in facts, without a warning', () => {
  const loaded = readConfig('torana.yaml', exampleFile, surroundings)
  assert.deepEqual(loaded.warnings, [])
  assert.equal(listModels(loaded.catalog).length, 6)
  assert.equal(loaded.limits.requestTimeoutMs, 45_000)
  assert.deepEqual(
    modelOf(loaded, 'text-embedding-3-small').deployments.map(({ upstreamModel, price }) => [
      upstreamModel,
      price.kind,
    ]),
    [
      ['text-embedding-3-small', 'perToken'],
      ['my-embedding-deployment', 'perToken'],
    ],
  )
})

/** The example of the design, without what this version does not have yet. */
const designExample = `# yaml-language-server: $schema=./torana.schema.json
upstreams:
  openai:   { dialect: openai, baseUrl: https://api.openai.com/v1, apiKey: \${OPENAI_API_KEY} }
  azure-eu: { dialect: azure, resource: my-eu, apiKey: \${AZURE_KEY} }
  tei:      { dialect: openai, baseUrl: http://tei:8080/v1 }
  cohere:   { dialect: ai-sdk, provider: cohere, apiKey: \${COHERE_API_KEY} }
  together: { dialect: { embedding: openai, image: ai-sdk }, provider: togetherai, apiKey: \${TOGETHER_KEY} }
models:
  text-embedding-3-small:            # facts come from the built-in catalog; anything here overrides it
    aliases: [search-embed]
    deployments:
      - { upstream: openai }
      - { upstream: azure-eu, model: my-embedding-deployment, priority: 1 }
  house-embed:
    kind: embedding
    embedding: { dimensions: 1024, matryoshka: false, maxInputTokens: 512, tokenizer: none }
    price: free
    deployments: [{ upstream: tei, model: bge-large, capabilities: { maxInputs: 32, encodings: [float] } }]
  gpt-image-2: { deployments: [{ upstream: openai }] }
projects:
  search:
    keys: [{ name: ci, secret: \${SEARCH_CI_KEY}, models: ["text-embedding-3-small"] }]
`

test('the example of the design loads: references need no quotes inside braces', () => {
  const loaded = readConfig('torana.yaml', designExample, surroundings)
  const [openai, azure] = modelOf(loaded, 'search-embed').deployments
  assert.equal(openai?.upstream.apiKey, 'sk-test')
  assert.deepEqual(openai?.price, { kind: 'perToken', nanoUsdPerMillionTokens: 20_000_000n })
  assert.deepEqual(openai?.capabilities.encodings, ['float', 'base64'])
  assert.equal(azure?.upstream.baseUrl, 'https://my-eu.openai.azure.com')
  assert.equal(azure?.upstreamModel, 'my-embedding-deployment')
  assert.equal(loaded.catalog.projects[0]?.keys[0]?.secret, 's1234567'.repeat(3))
})

test('a changed configuration names its parts that wait for the next start', () => {
  const before = {
    limits: defaultLimits,
    cors: undefined,
    playground: { requestsPerMinute: 10, usdPerDay: undefined },
    ledger: { keepDays: 'forever' as const },
  }
  assert.deepEqual(lateChanges(before, { ...before, limits: { ...defaultLimits } }), [])
  const now = {
    ...before,
    limits: { ...defaultLimits, drainMs: 1 },
    cors: { origins: ['https://a.example'] },
    ledger: { keepDays: 90 },
  }
  assert.deepEqual(lateChanges(before, now), [
    'changed limits take effect at the next start',
    'changed origins of cors take effect at the next start',
    'changed settings of the ledger take effect at the next start',
  ])
})

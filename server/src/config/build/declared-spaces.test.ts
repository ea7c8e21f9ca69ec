import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listModels } from '#core/catalog/catalog.ts'
import { readConfig, type LoadedConfig } from '../load.ts'
import { ConfigError } from '../file/problem.ts'
import { readFacts } from './facts.ts'

const FACTS = `
provider: acme
factSource: { source: a test, asOf: 2026-11-18 }
name: Acme
dialect: openai
baseUrl: https://api.acme.test/v1
models:
  embed-large: &embed
    kind: embedding
    embedding: { dimensions: 16, matryoshka: true, maxInputTokens: 100, tokenizer: cl100k_base, inputType: none }
    space: { name: acme-series, source: 'https://acme.test/series', asOf: 2026-11-01 }
  embed-small: *embed
  embed-rigid:
    kind: embedding
    embedding: { dimensions: 32, matryoshka: false, maxInputTokens: 100, tokenizer: cl100k_base, inputType: none }
  embed-wide:
    kind: embedding
    embedding: { dimensions: 32, matryoshka: true, maxInputTokens: 100, tokenizer: cl100k_base, inputType: none }
  draw: { kind: image }
`
const facts = readFacts([{ name: 'catalog/acme.yaml', text: FACTS }])

const MODELS = ['embed-large', 'embed-small', 'embed-rigid', 'embed-wide', 'draw']

/** Fields of each model, by its id. */
function load(fields: Readonly<Record<string, string>>, models: readonly string[] = MODELS): LoadedConfig {
  const entries = models.map((id) => {
    const { [id]: own = '' } = fields
    const deployments = own.includes('deployments') ? '' : 'deployments: [{ upstream: a }], '
    return `  ${id}: { ${deployments}${own} }`
  })
  return readConfig('t.yaml', `upstreams: { a: { provider: acme } }\nmodels:\n${entries.join('\n')}\n`, {
    env: {},
    readFile: () => assert.fail('there are no files'),
    facts,
    bootstrapKey: undefined,
    nowMs: Date.parse('2026-11-17'),
  })
}

test('models declare their space, also of other full widths if they can answer one width', () => {
  const { catalog, warnings } = load({
    'embed-large': 'aliases: [big], space: acme',
    'embed-small': 'space: acme',
    'embed-wide': 'space: acme',
  })
  const spaces = listModels(catalog).map((model) => [model.id, model.kind === 'embedding' && model.space])
  assert.deepEqual(Object.fromEntries(spaces), {
    'embed-large': 'acme',
    'embed-small': 'acme',
    'embed-wide': 'acme',
    'embed-rigid': undefined,
    draw: false,
  })
  assert.equal(catalog.models.get('big'), catalog.models.get('embed-large'))
  assert.deepEqual(warnings, [])
})

test('a space that cannot be shared is refused, with the names of both models and what to write instead', () => {
  const problems: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [
      { draw: 'space: acme' },
      'models.draw.space: is for embedding models, and draw is an image model: remove it',
    ],
    [
      { 'embed-large': 'space: acme', 'embed-small': 'space: acme, spaceGuard: false' },
      'models.embed-small.space: embed-small has spaceGuard: false, and only models whose vectors are probed can share a space',
    ],
    [
      { 'embed-small': 'space: acme', 'embed-rigid': 'space: acme' },
      'models.embed-rigid.space: embed-small has 16 dimensions and embed-rigid 32, and there is no width that both can answer: models that share a space need one',
    ],
    [
      { 'embed-large': 'space: draw', 'embed-small': 'space: draw' },
      'models.embed-large.space: draw is the id of a model: name the space otherwise, such as draw-series',
    ],
    [
      { 'embed-large': 'aliases: [big], space: big' },
      'models.embed-large.space: big is an alias of embed-large: name the space otherwise, such as big-series',
    ],
  ]
  for (const [fields, problem] of problems) assert.equal(problemsOf(fields)[0], problem)
})

test('a width that an upstream makes itself counts, and so does one that neither has in full', () => {
  const rigid = (native: string): string =>
    `space: acme, deployments: [{ upstream: a, capabilities: { dimensions: ${native} } }]`
  const widths: readonly (readonly [string, string, boolean])[] = [
    ['embed-small', '[16, 32]', true],
    ['embed-small', '[24, 32]', false],
    ['embed-small', '{ min: 8, max: 32 }', true],
    ['embed-large', '[8, 32]', true],
  ]
  for (const [other, native, isAccepted] of widths) {
    const fields = { [other]: 'space: acme', 'embed-rigid': rigid(native) }
    const loaded = (): LoadedConfig => load(fields, [other, 'embed-rigid'])
    if (isAccepted) assert.deepEqual(loaded().warnings, [])
    else assert.throws(loaded, ConfigError)
  }
})

test('a space that only one model declares is probably a slip, and said', () => {
  const { warnings } = load({ 'embed-wide': 'space: acm', 'embed-rigid': '' }, ['embed-wide', 'embed-rigid'])
  assert.deepEqual(warnings, [
    't.yaml:3:56 models.embed-wide.space: no other model declares the space acm: write it at each model that shares it',
  ])
})

test('a space by the word of its maker is suggested, and never applied', () => {
  const { catalog, warnings } = load({})
  assert.deepEqual(warnings, [
    't.yaml:3:16 models.embed-large: its maker says that embed-large, embed-small share one vector space: you could index with one and query with another. To use that, write space: acme-series at each of them',
  ])
  assert.ok(listModels(catalog).every((model) => model.kind === 'image' || model.space === undefined))
})

test('models of the store declare spaces by the same rules, and take no name of one', () => {
  const { extend } = load({ 'embed-small': 'space: acme', 'embed-large': 'space: acme' })
  const entry = (facts: string, fields: object = {}) => ({
    facts,
    deployments: [{ upstream: 'a' }],
    ...fields,
  })
  const added = (name: string, one: object) =>
    ({ object: 'model', name, entry: one, by: 'alice', atMs: 0 }) as const
  const { catalog, problems } = extend([
    added('third', entry('embed-small', { space: 'acme' })),
    added('rigid', entry('embed-rigid', { space: 'acme' })),
    added('other', entry('embed-rigid', { space: 'draw' })),
    added('acme', entry('embed-small')),
    added('aliased', entry('embed-small', { aliases: ['acme', 'free'] })),
  ])
  const third = catalog.models.get('third')
  assert.equal(third?.kind === 'embedding' && third.space, 'acme')
  assert.deepEqual(
    problems.map(({ text }) => text),
    [
      'models.rigid.space: embed-large has 16 dimensions and rigid 32, and there is no width that both can answer: models that share a space need one',
      'models.other.space: draw is the id of a model: name the space otherwise, such as draw-series',
      'models.acme: acme is the name of a space that models declare',
      'models.aliased.aliases[0]: acme is already the name of a space that models declare',
    ],
  )
  assert.ok(catalog.models.has('free'))
})

/** Without their lines and columns. */
function problemsOf(fields: Readonly<Record<string, string>>): readonly string[] {
  try {
    load(fields)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((one) => one.slice(one.indexOf(' ') + 1))
    throw error
  }
  return assert.fail('it was accepted')
}

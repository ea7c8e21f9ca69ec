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
    family: { name: acme-family, source: 'https://acme.test/family', asOf: 2026-11-01 }
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

const HEAD = `upstreams: { a: { provider: acme } }
models:
  embed-large: { aliases: [big], deployments: [{ upstream: a }] }
  embed-small: { deployments: [{ upstream: a }] }
  embed-rigid: { deployments: [{ upstream: a }] }
  embed-wide: { deployments: [{ upstream: a }] }
  loose: { facts: embed-small, spaceGuard: false, deployments: [{ upstream: a }] }
  draw: { deployments: [{ upstream: a }] }
`

function load(spaces: string): LoadedConfig {
  return readConfig('t.yaml', `${HEAD}spaces:\n${spaces}`, {
    env: {},
    readFile: () => assert.fail('there are no files'),
    facts,
    bootstrapKey: undefined,
    nowMs: Date.parse('2026-11-17'),
  })
}

test('each member knows its family, by its id and by its aliases', () => {
  const { catalog, warnings } = load('  acme: { members: [embed-large, embed-small, embed-wide] }')
  const family = { name: 'acme', members: ['embed-large', 'embed-small', 'embed-wide'] }
  const families = listModels(catalog).map((model) => [model.id, model.kind === 'embedding' && model.family])
  assert.deepEqual(Object.fromEntries(families), {
    'embed-large': family,
    'embed-small': family,
    'embed-wide': family,
    'embed-rigid': undefined,
    loose: undefined,
    draw: false,
  })
  assert.equal(catalog.models.get('big'), catalog.models.get('embed-large'))
  assert.deepEqual(warnings, [])
})

test('a family that cannot work is refused, with what to write instead', () => {
  const problems: Readonly<Record<string, string>> = {
    'acme: { members: [embed-large, embed-smal] }':
      'spaces.acme.members[1]: there is no model embed-smal. Did you mean embed-small?',
    'acme: { members: [embed-large, draw] }':
      'spaces.acme.members[1]: draw makes images, which have no vector space',
    'acme: { members: [embed-large, loose] }':
      'spaces.acme.members[1]: loose has spaceGuard: false, and only vectors that are probed can join a family',
    'acme: { members: [big, embed-small] }': 'spaces.acme.members[0]: big is an alias: write embed-large',
    'acme: { members: [embed-small, embed-rigid] }':
      'spaces.acme.members: embed-rigid has 32 dimensions, embed-small 16, and vectors of embed-rigid cannot be truncated (matryoshka: false)',
    'draw: { members: [embed-large, embed-small] }':
      'spaces.draw: is the id of a model: name the family otherwise, such as draw-family',
    'big: { members: [embed-large, embed-small] }':
      'spaces.big: is an alias of embed-large: name the family otherwise, such as big-family',
    'acme: { members: [embed-large, embed-large] }':
      'spaces.acme.members[1]: embed-large is already a member of acme',
    'acme: { members: [embed-large] }': 'spaces.acme.members: a family has at least two members',
  }
  for (const [text, problem] of Object.entries(problems)) {
    const error = problemsOf(`  ${text}`)
    assert.deepEqual(error, [problem], text)
  }
})

test('a model belongs to one family', () => {
  const two = '  one: { members: [embed-large, embed-small] }\n  two: { members: [embed-wide, embed-small] }'
  assert.deepEqual(problemsOf(two), ['spaces.two.members[1]: embed-small is already a member of one'])
})

test('a family by the word of its maker is suggested, and never applied', () => {
  const { catalog, warnings } = load('')
  assert.deepEqual(warnings, [
    't.yaml:3:16 models.embed-large: its maker says that embed-large, embed-small share one vector space: you could index with one and query with another. To use that, write spaces: { acme-family: { members: [embed-large, embed-small] } }',
  ])
  assert.ok(listModels(catalog).every((model) => model.kind === 'image' || model.family === undefined))
})

test('a model of the store cannot take the name of a family', () => {
  const { extend } = load('  acme: { members: [embed-large, embed-small] }')
  const entry = { facts: 'embed-small', deployments: [{ upstream: 'a' }] }
  const { catalog, problems } = extend([{ object: 'model', name: 'acme', entry, by: 'alice', atMs: 0 }])
  assert.deepEqual(
    [catalog.models.has('acme'), problems.map(({ text }) => text)],
    [false, ['models.acme: acme is the name of a family in the configuration']],
  )
})

/** Without their lines and columns. */
function problemsOf(spaces: string): readonly string[] {
  try {
    load(spaces)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((one) => one.slice(one.indexOf(' ') + 1))
    throw error
  }
  return assert.fail('it was accepted')
}

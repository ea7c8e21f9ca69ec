import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig, type LoadedConfig } from '../load.ts'
import { ConfigError } from '../file/problem.ts'
import { readFacts } from './facts.ts'

const SOURCE = "{ source: 'https://acme.test/ends', asOf: 2026-11-01 }"
const facts = readFacts([
  {
    name: 'catalog/acme.yaml',
    text: `
provider: acme
factSource: { source: a test, asOf: 2026-11-18 }
name: Acme
dialect: openai
baseUrl: https://api.acme.test/v1
models:
  draw-2: { kind: image, upstreamModel: acme/draw@2, endsOn: 2026-12-01, successor: draw-3, endSource: ${SOURCE} }
  draw-3: { kind: image }
retired:
  draw-1: { on: 2026-10-23, successor: draw-3 }
  draw-sharp: { on: 2026-11-02, successor: draw-3, note: draw-3 answers in its place at another price }
`,
  },
  {
    name: 'catalog/cloud.yaml',
    text: `
provider: cloud
factSource: { source: a test, asOf: 2026-11-18 }
name: Cloud
dialect: azure
models:
  draw-2: { kind: image, endsOn: 2027-04-07, endSource: ${SOURCE} }
`,
  },
])

function load(text: string, day = '2026-11-17'): LoadedConfig {
  return readConfig('t.yaml', text, {
    env: {},
    readFile: () => assert.fail('there are no files'),
    facts,
    bootstrapKey: undefined,
    nowMs: Date.parse(day),
  })
}

const UPSTREAMS = `
upstreams:
  a: { provider: acme }
  c: { provider: cloud, dialect: azure, resource: mine }
`
const oneModel = (id: string, fields: string): string => `${UPSTREAMS}
models:
  ${id}: { ${fields} }
  draw-3: { deployments: [{ upstream: a }, { upstream: c }] }
`
const endOf = ({ catalog }: LoadedConfig, id: string) => catalog.models.get(id)?.end
const problemsOf = (text: string): readonly string[] => {
  try {
    load(text)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return assert.fail('it has no problem')
}

test('a day belongs to a model of a provider, and a model ends with its last deployment', () => {
  const both = load(oneModel('draw-2', 'deployments: [{ upstream: a }, { upstream: c, model: mine }]'))
  const [first, second] = both.catalog.models.get('draw-2')?.deployments ?? []
  assert.deepEqual(first?.end, {
    on: '2026-12-01',
    atMs: Date.UTC(2026, 11, 1),
    successor: 'draw-3',
    source: 'https://acme.test/ends',
    asOf: '2026-11-01',
    note: undefined,
    from: 'catalog',
  })
  assert.equal(second?.end?.on, '2027-04-07')
  assert.equal(endOf(both, 'draw-2')?.on, '2027-04-07')
  assert.equal(endOf(both, 'draw-3'), undefined)
})

test('a model under another id ends with what its upstream is asked for', () => {
  const asked = (fields: string) => endOf(load(oneModel('house', fields)), 'house')?.on
  assert.equal(asked("kind: image, deployments: [{ upstream: a, model: 'acme/draw@2' }]"), '2026-12-01')
  assert.equal(asked('kind: image, deployments: [{ upstream: a, model: draw-1 }]'), '2026-10-23')
  assert.equal(asked('facts: draw-2, deployments: [{ upstream: a }]'), '2026-12-01')
  assert.equal(asked('facts: draw-2, deployments: [{ upstream: a, model: draw-3 }]'), undefined)
  // On Azure the operator chose the name: it says nothing.
  assert.equal(asked('kind: image, deployments: [{ upstream: c, model: draw-2 }]'), undefined)
})

test('torana.yaml wins over the announced day', () => {
  const end = (fields: string) =>
    endOf(load(oneModel('draw-2', `deployments: [{ upstream: a, ${fields} }]`)), 'draw-2')
  assert.equal(end('endsOn: none'), undefined)
  const own = end('endsOn: 2027-02-01')
  assert.deepEqual([own?.on, own?.successor, own?.source], ['2027-02-01', 'draw-3', 't.yaml:7'])
  const declared = end('endsOn: 2027-02-01, successor: mine, endSource: mail of 3 November')
  assert.deepEqual([declared?.successor, declared?.source], ['mine', 'mail of 3 November'])
  assert.deepEqual([end('successor: mine')?.on, end('successor: mine')?.successor], ['2026-12-01', 'mine'])
  assert.deepEqual(
    problemsOf(oneModel('mine', 'kind: image, deployments: [{ upstream: a, successor: draw-3 }]')),
    [
      't.yaml:7:64 models.mine.deployments[0].successor: is told with endsOn, and no day is known: write endsOn too',
    ],
  )
  assert.match(
    problemsOf(oneModel('draw-2', 'deployments: [{ upstream: a, endsOn: 2026-02-30 }]')).join(),
    /endsOn/,
  )
})

test('an end is a warning from 90 days before it on, and after it', () => {
  const warnings = (day: string, fields = 'deployments: [{ upstream: a }]') =>
    load(oneModel('draw-2', fields), day).warnings.map((warning) => warning.replace(/^.*?: /, ''))
  assert.deepEqual(warnings('2026-09-01'), [])
  assert.deepEqual(warnings('2026-09-02'), [
    'acme/draw@2 on acme ends on 2026-12-01, in 90 days. Its successor is draw-3',
  ])
  assert.deepEqual(warnings('2026-11-30'), [
    'acme/draw@2 on acme ends on 2026-12-01, in 1 day. Its successor is draw-3',
  ])
  assert.deepEqual(warnings('2026-12-02'), [
    'acme/draw@2 on acme ended on 2026-12-01. Torana goes on calling it until you remove it. Its successor is draw-3',
  ])
  assert.deepEqual(warnings('2026-12-02', 'deployments: [{ upstream: a, successor: draw-4 }]'), [
    'acme/draw@2 on acme ended on 2026-12-01. Torana goes on calling it until you remove it. Its successor is draw-4, which this file does not declare',
  ])
})

test('a declared model that is gone is left out with a warning, and its callers get that answer', () => {
  const { catalog, warnings, extend } = load(
    oneModel('draw-1', 'aliases: [pictures], deployments: [{ upstream: a }]'),
  )
  assert.deepEqual(warnings, [
    't.yaml:7:11 models.draw-1: acme retired draw-1 on 2026-10-23. Its successor is draw-3. It is left out, and callers get 404 model_retired. If the upstream still has it, write its kind and what it can do',
  ])
  for (const { models, retired } of [catalog, extend([]).catalog]) {
    assert.equal(models.get('draw-1'), undefined)
    for (const name of ['draw-1', 'pictures'])
      assert.deepEqual([retired.get(name)?.id, retired.get(name)?.successor], ['draw-1', 'draw-3'])
  }
})

test('a model that another model answers for is retired with that reason', () => {
  const { warnings } = load(oneModel('draw-sharp', 'deployments: [{ upstream: a }]'))
  assert.match(
    warnings.join(),
    /retired draw-sharp on 2026-11-02: draw-3 answers in its place at another price\. Its successor/,
  )
})

test('where one of its upstreams may still have it, a retired model needs facts of its own', () => {
  const [problem] = problemsOf(oneModel('draw-1', 'deployments: [{ upstream: a }, { upstream: c }]'))
  assert.match(
    problem ?? '',
    /acme retired draw-1 on 2026-10-23\. Its successor is draw-3\. For a model of your own write/,
  )
  assert.match(
    problemsOf(oneModel('mine', 'facts: draw-1, deployments: [{ upstream: c }]')).join(),
    /models\.mine\.facts: acme retired draw-1 on 2026-10-23/,
  )
})

test('a date in the facts needs its source, and no model is both served and retired', () => {
  const wrong = (text: string) => () =>
    readFacts([
      {
        name: 'catalog/x.yaml',
        text: `provider: x\nname: X\ndialect: openai\nfactSource: { source: a test, asOf: 2026-11-18 }\n${text}`,
      },
    ])
  assert.throws(wrong('models: { m: { kind: image, endsOn: 2026-12-01 } }'), /endsOn needs an endSource/)
  assert.throws(wrong('models: { m: { kind: image, successor: n } }'), /successor needs endsOn/)
  assert.throws(
    wrong('models: { m: { kind: image } }\nretired: { m: { on: 2026-12-01 } }'),
    /also among the models/,
  )
})

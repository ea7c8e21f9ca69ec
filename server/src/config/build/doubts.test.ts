import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../load.ts'
import { readFacts } from './facts.ts'

function warningsIn(text: string): readonly string[] {
  const readFile = () => assert.fail('there are no files')
  const surroundings = {
    env: {},
    readFile,
    facts: readFacts([]),
    bootstrapKey: 'b1234567'.repeat(3),
    nowMs: 0,
  }
  return readConfig('t.yaml', text, surroundings).warnings
}

const withUpstream = (fields: string) => `
upstreams:
  it: { dialect: openai, ${fields} }
models:
  m: { kind: embedding, embedding: { dimensions: 4 }, price: free, deployments: [{ upstream: it }] }
`
const OVER_HTTP =
  't.yaml:3:35 upstreams.it.baseUrl: sends the credential over plain http to a public host: everyone on the way can read it. Write https'
const withPath = (path: string) =>
  `t.yaml:3:35 upstreams.it.baseUrl: ends in ${path}: Torana adds the path of each call itself. Leave it out`

const ADDRESSES: readonly (readonly [fields: string, warnings: readonly string[]])[] = [
  ['baseUrl: "http://api.example.com/v1", apiKey: k', [OVER_HTTP]],
  ['baseUrl: "http://8.8.8.8/v1", apiKey: k', [OVER_HTTP]],
  ['baseUrl: "http://[2606:4700::1]/v1", apiKey: k', [OVER_HTTP]],
  ['baseUrl: "http://api.example.com/v1", headers: { x-api-key: k }', [OVER_HTTP]],
  ['baseUrl: "http://api.example.com/v1", headers: { x-tenant: k }', []],
  ['baseUrl: "http://api.example.com/v1"', []],
  ['baseUrl: "https://api.example.com/v1", apiKey: k', []],
  ['baseUrl: "http://localhost:8080/v1", apiKey: k', []],
  ['baseUrl: "http://tei:8080/v1", apiKey: k', []],
  ['baseUrl: "http://10.1.2.3/v1", apiKey: k', []],
  ['baseUrl: "http://[::1]/v1", apiKey: k', []],
  ['baseUrl: "http://[fd00::1]/v1", apiKey: k', []],
  ['baseUrl: "http://tei.models.svc.cluster.local/v1", apiKey: k', []],
  ['baseUrl: "https://x.com/v1/embeddings"', [withPath('/embeddings')]],
  ['baseUrl: "https://x.com/v1/embeddings/"', [withPath('/embeddings')]],
  ['baseUrl: "https://x.com/v1/images/generations"', [withPath('/images/generations')]],
  ['baseUrl: "https://x.com/v1/images"', [withPath('/images')]],
  ['baseUrl: "https://x.com/my-embeddings/v1"', []],
]
for (const [fields, warnings] of ADDRESSES)
  test(`an address that is hardly meant is a warning: ${fields}`, () => {
    assert.deepEqual(warningsIn(withUpstream(fields)), warnings)
  })

const withBudget = (models: string, usd: string, hard = true) => `
upstreams: { it: { dialect: openai, baseUrl: "http://tei/v1" } }
models: ${models}
projects:
  p: { budget: { usd: ${usd}, hard: ${String(hard)} }, keys: [{ name: ci, secret: ${'y1234567'.repeat(3)} }] }
`
const TEXT = (price: string) =>
  `{ kind: embedding, embedding: { dimensions: 4, maxInputTokens: 1000 }, price: ${price}, deployments: [{ upstream: it }] }`
const PICTURE = `{ kind: image, price: { usdPerImage: 0.04 }, deployments: [{ upstream: it }] }`
const tooSmall = (budget: string, cost: string, what: string) => [
  `t.yaml:5:16 projects.p.budget: is hard, and ${budget} is less than one request costs: ${cost} for ${what}. Such requests are refused. Raise it, or leave out hard`,
]

const BUDGETS: readonly (readonly [title: string, text: string, warnings: readonly string[]])[] = [
  [
    'a text at $1 for a thousand tokens',
    withBudget(`{ m: ${TEXT('{ usdPerMillionTokens: 1000 }')} }`, '0.99'),
    tooSmall('$0.99', '$1.00', 'an input of 1000 tokens of m'),
  ],
  ['a text that fits exactly', withBudget(`{ m: ${TEXT('{ usdPerMillionTokens: 1000 }')} }`, '1'), []],
  ['a picture', withBudget(`{ i: ${PICTURE} }`, '0.03'), tooSmall('$0.03', '$0.04', 'an image of i')],
  ['a picture that fits', withBudget(`{ i: ${PICTURE} }`, '0.04'), []],
  ['a soft budget', withBudget(`{ i: ${PICTURE} }`, '0.03', false), []],
  ['a cheaper model beside it', withBudget(`{ i: ${PICTURE}, m: ${TEXT('free')} }`, '0.03'), []],
]
for (const [title, text, warnings] of BUDGETS)
  test(`a hard budget smaller than one request is a warning: ${title}`, () => {
    assert.deepEqual(warningsIn(text), warnings)
  })

test('a deployment that a native type of its model leaves out is a warning', () => {
  const [one, other] = ['{ upstream: it, capabilities: { outputTypes: [float, int8] } }', '{ upstream: old }']
  const withTypes = (deployments: string) => `
upstreams: { it: { dialect: openai, baseUrl: "http://a/v1" }, old: { dialect: openai, baseUrl: "http://b/v1" } }
models: { m: { kind: embedding, embedding: { dimensions: 4 }, price: free, deployments: [${deployments}] } }
`
  const [warning, ...others] = warningsIn(withTypes(`${one}, ${other}`))
  assert.match(warning ?? '', /deployments\[1\]: does not make int8, and the first deployment of m does/)
  assert.deepEqual(others, [])
  assert.deepEqual(warningsIn(withTypes(`${other}, ${one}`)), [], 'then int8 is made from float for both')
})

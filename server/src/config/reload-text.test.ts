import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInFacts } from './build/facts.ts'
import { readConfig } from './load.ts'
import { reloadText } from './reload-text.ts'

const configOf = (prices: Readonly<Record<string, number | 'free'>>, keys: number): string => `
upstreams: { one: { dialect: openai, baseUrl: 'https://one.example/v1', apiKey: secret-of-one } }
models:
${Object.entries(prices)
  .map(
    ([name, price]) =>
      `  ${name}: { kind: embedding, embedding: { dimensions: 8 }, deployments: [{ upstream: one, price: ${price === 'free' ? price : `{ usdPerMillionTokens: ${price} }`} }] }`,
  )
  .join('\n')}
${keys === 0 ? '' : `projects: { search: { keys: [${Array.from({ length: keys }, (_, index) => `{ name: k${index}, secret: a-key-of-this-test-0000${index} }`).join(', ')}] } }`}
`
const catalogIn = (text: string) =>
  readConfig('torana.yaml', text, {
    env: {},
    readFile: () => '',
    facts: builtInFacts(),
    bootstrapKey: undefined,
    nowMs: Date.now(),
  }).catalog
const pause = async (): Promise<void> => {}
const line = (before: string, after: string): Promise<string> =>
  reloadText(catalogIn(before), catalogIn(after), pause)

test('a reload says how many keys are gone, and which price is how many times higher', async () => {
  assert.equal(
    await line(configOf({ emb: 0.02 }, 3), configOf({ emb: 20 }, 0)),
    '3 keys removed, 1 project removed, 1 model changed, price of emb/one × 1000',
  )
  assert.equal(await line(configOf({ emb: 1 }, 1), configOf({ emb: 1 }, 2)), '1 key added')
  assert.equal(await line(configOf({ emb: 1 }, 1), configOf({ emb: 1 }, 1)), 'nothing changed')
})

test('of many prices the three largest changes are named, up or down, and a price from nothing', async () => {
  const before = configOf({ a: 1, b: 1, c: 1, d: 1, e: 'free' }, 0)
  const after = configOf({ a: 2, b: 0.001, c: 10, d: 1.5, e: 3 }, 0)
  assert.equal(
    await line(before, after),
    '5 models changed, price of e/one changed, price of b/one × 0.001, price of c/one × 10, 2 more prices changed',
  )
})

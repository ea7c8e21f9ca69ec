import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withStoredPrices } from '#config/build/stored-prices.ts'
import { listModels, type Catalog } from '#core/catalog/catalog.ts'
import type { NotedPrice, StoredPrice } from '#ports/prices.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { catalogOf } from '#test/support/config.ts'
import { StoredPrices } from './stored-prices.ts'

const declared = catalogOf(`
upstreams: { one: { dialect: openai, baseUrl: https://one.example } }
models: { text-embedding-3-small: { deployments: [{ upstream: one }] } }
`)
const [model] = listModels(declared)
const deployment = model?.deployments[0]?.id ?? ''

function aStore() {
  const said: string[] = []
  const noted: (readonly NotedPrice[])[] = []
  const state = { prices: [] as StoredPrice[], failure: undefined as Error | undefined }
  const prices = new StoredPrices({
    store: {
      async read() {
        if (state.failure !== undefined) throw state.failure
        return state.prices
      },
      async note(current) {
        if (state.failure !== undefined) throw state.failure
        noted.push(current)
      },
    },
    withPrices: withStoredPrices,
    log: { warn: (text) => void said.push(text) },
  })
  return { prices, state, said, noted }
}

const priceOf = (catalog: Catalog) => listModels(catalog)[0]?.deployments[0]?.price
const stored = { deployment, form: { usdPerMillionTokens: 7 }, by: 'ada', atMs: 0 } as unknown as StoredPrice

test('a stored price replaces the declared one, also while the store is unreachable', async () => {
  const { prices, state, said } = aStore()
  assert.equal(priceOf(await prices.applied(declared)), priceOf(declared))
  state.prices = [stored]
  const priced = priceOf(await prices.applied(declared))
  assert.notDeepEqual(priced, priceOf(declared))
  state.failure = new StoreUnreachable('connection refused')
  assert.deepEqual(priceOf(await prices.applied(declared)), priced)
  assert.deepEqual(said, ['prices of the store could not be read; the last ones stay'])
})

test('prices are noted once for each change, and again after a note that failed', async () => {
  const { prices, state, said, noted } = aStore()
  const note = async (catalog: Catalog): Promise<void> => {
    prices.note(catalog)
    await new Promise((resolve) => void setImmediate(resolve))
  }
  await note(declared)
  await note(declared)
  assert.equal(noted.length, 1)
  state.prices = [stored]
  const priced = await prices.applied(declared)
  state.failure = new StoreUnreachable('connection refused')
  await note(priced)
  state.failure = undefined
  await note(priced)
  assert.deepEqual([noted.length, noted.at(-1)?.[0]?.by, said], [2, 'ada', []])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStoredPrice } from '#config/build/stored-prices.ts'
import { builtInFacts } from '#config/build/facts.ts'
import { resolveImagePrice, resolvePrice } from '#config/build/resolve.ts'
import { priceFormOf } from './price-form.ts'

test('every price of the catalog comes back from its form as it was', () => {
  let forms = 0
  for (const { models } of builtInFacts().values())
    for (const facts of Object.values(models)) {
      const price =
        facts.kind === 'embedding' ? resolvePrice([facts.price]) : resolveImagePrice([facts.price])
      const kept: unknown = JSON.parse(JSON.stringify(priceFormOf(price)))
      assert.deepEqual(readStoredPrice(facts.kind, kept).price, price)
      forms += 1
    }
  assert.ok(forms > 50)
})

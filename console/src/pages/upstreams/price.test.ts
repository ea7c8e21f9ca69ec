import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amountOf, choiceOf, priceOf, priceText } from './price.ts'

test('a price of an entry is one choice, and choosing it again gives the same entry', () => {
  for (const [price, kind, choice, amount] of [
    [undefined, 'embedding', 'default', undefined],
    ['free', 'embedding', 'free', undefined],
    ['unpriced', 'image', 'unpriced', undefined],
    [{ usdPerMillionTokens: '0.01' }, 'embedding', 'custom', '0.01'],
    [{ usdPerImage: '0.04' }, 'image', 'custom', '0.04'],
  ] as const) {
    assert.equal(choiceOf(price, kind), choice)
    assert.equal(amountOf(price, kind), amount)
    assert.deepEqual(priceOf(choice, kind, amount ?? ''), price)
  }
})

test('a price with several amounts is a table, which this page does not take apart', () => {
  for (const price of [
    { usdPerMillionTokens: { textInput: 5, imageOutput: 30 } },
    { usdPerImage: '0.04', usdPerGivenImage: '0.01' },
    { usdPerMegapixel: '0.02' },
  ]) {
    assert.equal(choiceOf(price, 'image'), 'table')
    assert.equal(priceText(price, 'image', ''), 'Price table')
  }
})

test('a number of torana.yaml reads like its text', () => {
  assert.equal(priceText({ usdPerMillionTokens: 0.01 }, 'embedding', ''), '$0.01 per 1M')
  assert.equal(priceText(undefined, 'embedding', 'Unpriced'), 'Unpriced')
})

import { test } from 'node:test'
import assert from 'node:assert/strict'
import { costOf, maxTokens, tokensAbout } from './cost.ts'

test('a token is at least one byte, and eight stand around each text', () => {
  assert.equal(maxTokens(['cat', 'né']), 3 + 8 + 3 + 8)
  assert.equal(maxTokens(['cat'], true), 3 + 8 + 128)
})

test('a text has about its share of the bytes of all tokens, and the only one has all of them', () => {
  assert.equal(tokensAbout('cat', ['cat'], 5), 5)
  assert.equal(tokensAbout('né', ['né', 'kitten'], 9), 3)
  assert.equal(tokensAbout('', [''], 0), 0)
})

test('tokens cost what the price says, to the nano-dollar, and no price is not nothing', () => {
  const price = [{ amount: '0.02', unit: 'million tokens', note: null }] as const
  assert.equal(costOf(290, [...price]), '0.000005800')
  assert.equal(costOf(1, [...price]), '0.000000020')
  assert.equal(costOf(1, [{ amount: '0.0000001', unit: 'million tokens', note: null }]), '0.000000001')
  assert.equal(costOf(290, [{ amount: '0', unit: 'free', note: null }]), '0.000000000')
  assert.equal(costOf(290, [{ amount: '', unit: 'unpriced', note: null }]), null)
  assert.equal(costOf(290, []), null)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { priceTextOf } from './price-text.ts'

test('a price by tokens is one figure, without zeros at the end', () => {
  assert.deepEqual(priceTextOf({ kind: 'perToken', nanoUsdPerMillionTokens: 20_000_000n }), [
    { amount: '0.02', unit: 'million tokens', note: undefined },
  ])
})

test('no price is never shown as nothing to pay', () => {
  assert.deepEqual(priceTextOf({ kind: 'unpriced' }), [{ amount: '', unit: 'unpriced', note: undefined }])
  assert.deepEqual(priceTextOf({ kind: 'free' }), [{ amount: '0', unit: 'free', note: undefined }])
})

test('prices by size and quality are a range, and say when edits have no price', () => {
  const nanoUsd = new Map([
    ['512x512', new Map([['default', 30_000_000n]])],
    ['default', new Map([['high', 75_000_000n]])],
  ])
  assert.deepEqual(priceTextOf({ kind: 'perImage', nanoUsd, given: { kind: 'unpriced' } }), [
    { amount: '0.03–0.075', unit: 'image', note: 'edits unpriced' },
  ])
})

test('kinds of tokens are two figures, input and output', () => {
  const prices = {
    textInput: 5_000_000_000n,
    cachedTextInput: 1_250_000_000n,
    imageInput: 8_000_000_000n,
    cachedImageInput: undefined,
    textOutput: undefined,
    imageOutput: 30_000_000_000n,
  }
  assert.deepEqual(priceTextOf({ kind: 'perTokenKind', nanoUsdPerMillionTokens: prices }), [
    { amount: '5', unit: 'million input tokens', note: '8 a million of given images' },
    { amount: '30', unit: 'million output tokens', note: undefined },
  ])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imagePriceText } from './image-words.ts'
import { imagePrice } from './price.ts'
import { resolveImagePrice } from '../build/resolve.ts'

for (const [form, text] of [
  ['free', 'free'],
  [{ usdPerImage: 0.02 }, '0.02/image'],
  [{ usdPerImage: 0.02, usdPerGivenImage: 0.002 }, '0.02/image, 0.002/input image'],
  [{ usdPerImage: 0.02, usdPerGivenImage: 'unknown' }, '0.02/image, edits unpriced'],
  [
    { usdPerImage: { default: { low: 0.02, high: 0.1 } }, usdPerGivenMegapixel: '0.015' },
    '0.02–0.1/image, 0.015/given MP',
  ],
  [{ usdPerMegapixel: 0.03, usdPerGivenMegapixel: 'unknown' }, '0.03/MP, edits unpriced'],
  [{ usdPerMillionTokens: { textInput: 5, imageOutput: 30 } }, '5 in, 30 out/M tokens'],
] as const) {
  test(`a price reads ${text}`, () => {
    assert.equal(imagePriceText(resolveImagePrice([imagePrice.parse(form)])), text)
  })
}

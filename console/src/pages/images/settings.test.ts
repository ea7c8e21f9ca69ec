import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AUTO, fieldsOf, requestsFor, type ImageModel, type Settings } from './settings.ts'

const model = {
  id: 'm',
  can: {},
  image: { previews: 2, qualities: ['low'], formats: ['png'] },
} as unknown as ImageModel
const settings: Settings = {
  prompt: 'a',
  size: AUTO,
  quality: 'low',
  format: 'webp',
  background: 'transparent',
  howMany: 3,
  previews: 3,
  keep: true,
}

test('what a model can’t do is left to it, and never sent', () => {
  assert.deepEqual(fieldsOf(settings, model, 1), {
    model: 'm',
    prompt: 'a',
    n: 1,
    size: undefined,
    quality: 'low',
    background: undefined,
    output_format: undefined,
    partial_images: 2,
  })
})

test('images with previews are requests side by side; without them, and for edits, they are one', () => {
  assert.deepEqual(
    requestsFor(settings, model, 'generate').map(({ n, partial_images: previews }) => [n, previews]),
    Array.from({ length: 3 }, () => [1, 2]),
  )
  const one = (settings: Settings, mode: 'generate' | 'edit') =>
    requestsFor(settings, model, mode).map(({ n, partial_images: previews }) => [n, previews])
  assert.deepEqual(one({ ...settings, previews: 0 }, 'generate'), [[3, undefined]])
  assert.deepEqual(one(settings, 'edit'), [[3, undefined]])
  assert.deepEqual(one({ ...settings, howMany: 1 }, 'edit'), [[1, 2]])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogOf } from '#test/support/config.ts'
import { placeIn } from './place.ts'

test('a call is shown with the provider, the model and the address of its deployment', () => {
  const cases = [
    ['https://one.example/v1', { address: 'one.example', port: 443 }],
    ['http://one.example', { address: 'one.example', port: 80 }],
    ['http://127.0.0.1:8080', { address: '127.0.0.1', port: 8080 }],
  ] as const
  for (const [baseUrl, expected] of cases) {
    const catalog = catalogOf(`
upstreams: { one: { dialect: openai, baseUrl: '${baseUrl}' } }
models: { text-embedding-3-small: { deployments: [{ upstream: one }] } }
`)
    const place = placeIn(catalog, 'text-embedding-3-small', 'text-embedding-3-small/one')
    assert.partialDeepStrictEqual(place, { ...expected, model: 'text-embedding-3-small' })
    assert.equal(placeIn(catalog, 'text-embedding-3-small', 'gone'), undefined)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bitsOf } from '#test/support/arbitraries.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, vectorsIn, type Asked } from '#test/support/gateway.ts'
import { vectorOf } from '../../../tools/fake-provider/vectors.ts'

const gateway = await startGateway({
  models: {
    'plain-w16': { on: 'plain', aliases: ['search-embed'] },
    'BAAI/bge-w16': { on: 'plain+key-slash' },
    'embeddings/embeddings-w16': { on: 'plain+key-embeddings' },
    'odd:%2F?&model-w16': { on: 'plain+key-odd' },
  },
})

function assertServed(answer: Asked, model: string): void {
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.body.model, model)
  assert.deepEqual(vectorsIn(answer).map(bitsOf), [bitsOf(vectorOf('a', 16))])
}

const PREFIXES = ['/v1', '/openai/v1', '']

for (const prefix of PREFIXES) {
  test(`POST ${prefix}/embeddings`, async () => {
    for (const path of [`${prefix}/embeddings`, `${prefix}/embeddings?api-version=v1`]) {
      assertServed(await gateway.ask({ model: 'plain-w16', input: 'a' }, { path }), 'plain-w16')
    }
  })

  test(`POST ${prefix}/engines/{model}/embeddings, model ids with a slash included, raw or escaped`, async () => {
    for (const [inPath, model] of [
      ['plain-w16', 'plain-w16'],
      ['search-embed', 'search-embed'],
      ['BAAI/bge-w16', 'BAAI/bge-w16'],
      ['BAAI%2Fbge-w16', 'BAAI/bge-w16'],
      ['BAAI%2fbge-w16', 'BAAI/bge-w16'],
      ['embeddings/embeddings-w16', 'embeddings/embeddings-w16'],
      [encodeURIComponent('odd:%2F?&model-w16'), 'odd:%2F?&model-w16'],
    ] as const) {
      const path = `${prefix}/engines/${inPath}/embeddings`
      assertServed(await gateway.ask({ input: 'a' }, { path }), model)
      assertServed(await gateway.ask({ input: 'a', model: null }, { path }), model)
      assertServed(await gateway.ask({ input: 'a', model }, { path }), model)
    }
  })
}

test('the path that names the model takes every field of the other', async () => {
  const path = '/v1/engines/plain-w16/embeddings'
  const answer = await gateway.ask(
    { input: ['a', 'a'], encoding_format: 'base64', user: 'someone' },
    { path },
  )
  assert.equal(typeof answer.body.data[1]?.embedding, 'string')
})

test('another model in the body than in the path is a mistake, even if it is an alias', async () => {
  const path = '/v1/engines/plain-w16/embeddings'
  for (const model of ['BAAI/bge-w16', 'search-embed', 'unknown', '']) {
    assertFault(await gateway.ask({ input: 'a', model }, { path }), 'model_mismatch', {
      param: 'model',
      words: /plain-w16/,
    })
  }
})

test('Azure’s path ignores the body’s model, as Azure does', async () => {
  for (const path of [
    '/openai/deployments/plain-w16/embeddings',
    '/openai/deployments/plain-w16/embeddings?api-version=2024-10-21',
  ]) {
    for (const model of [undefined, 'plain-w16', 'text-embedding-ada-002', 5]) {
      assertServed(
        await gateway.ask({ input: 'a', model }, { path, headers: { 'api-key': gateway.key } }),
        'plain-w16',
      )
    }
  }
  assertServed(
    await gateway.ask({ input: 'a' }, { path: '/openai/deployments/BAAI%2Fbge-w16/embeddings' }),
    'BAAI/bge-w16',
  )
})

test('an unknown model in a path is an unknown model, not an unknown path', async () => {
  for (const path of ['/v1/engines/plain-w61/embeddings', '/openai/deployments/plain-w61/embeddings']) {
    assertFault(await gateway.ask({ input: 'a' }, { path }), 'model_not_found', {
      words: /Did you mean 'plain-w16'/,
    })
  }
})

test('a base URL that ends in /v1 twice is told so', async () => {
  for (const path of ['/v1/v1/embeddings', '/v1/v1/models']) {
    assertFault(await gateway.ask({ model: 'plain-w16', input: 'a' }, { path }), 'unknown_path', {
      words: /already ends in \/v1/,
    })
  }
})

for (const path of [
  '/',
  '/v2/embeddings',
  '/v1/chat/completions',
  '/v1/engines/embeddings',
  '/v1/engines/plain-w16',
  '/v1/engines//embeddings',
  '/openai/deployments/embeddings',
  '/v1/embeddings/',
]) {
  test(`POST ${path} does not exist`, async () =>
    assertFault(await gateway.ask({ input: 'a' }, { path }), 'unknown_path'))
}

test('GET on a path for POST does not exist, nor the other way round', async () => {
  assertFault(await gateway.get('/v1/embeddings'), 'unknown_path', { words: /^GET \/v1\/embeddings/ })
  assertFault(await gateway.ask({}, { path: '/v1/models' }), 'unknown_path')
})

test('a path that does not exist is told as such, whatever its body is', async () => {
  const path = '/v1/images/variations'
  for (const headers of [
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json' },
    { 'content-type': '' },
  ]) {
    assertFault(await gateway.ask('no json', { path, headers }), 'unknown_path')
  }
  assertFault(await gateway.ask(`"${'a'.repeat(3_000_000)}"`, { path }), 'unknown_path')
})

test('a path that can’t be decoded is an unknown path', async () => {
  for (const path of ['/v1/engines/%zz/embeddings', '/v1/models/%', '/%c0%af']) {
    assertFault(await gateway.ask({ input: 'a' }, { path }), 'unknown_path')
  }
})

test('every error has a page of its own on the gateway', async () => {
  const { body } = await gateway.ask({ model: 'unknown', input: 'a' })
  const page = await (await fetch(body.error.doc_url)).text()
  assert.match(page, /^## model_not_found/)
  assertFault(await gateway.get('/docs/errors/nonsense'), 'unknown_path')
})

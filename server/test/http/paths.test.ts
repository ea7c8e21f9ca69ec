import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { bitsOf } from '#test/support/arbitraries.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, vectorsIn, type Asked } from '#test/support/gateway.ts'
import { vectorOf } from '../../../lab/fake-provider/vectors.ts'

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

test('the refusal of a base URL that ends in /v1 twice says so', async () => {
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

test('a known path with another method names its methods, by whichever spelling', async () => {
  const get = await gateway.get('/v1/embeddings?x=1')
  assertFault(get, 'method_not_allowed', { words: /^GET \/v1\/embeddings does not exist. Use POST\./ })
  assert.equal(get.headers.get('allow'), 'POST')
  for (const [path, allow] of [
    ['/v1/models', 'GET, HEAD'],
    ['/models/BAAI/bge-w16', 'GET, HEAD'],
    ['/openai/v1/images/jobs/some', 'GET, HEAD'],
    ['/livez', 'GET, HEAD'],
  ] as const) {
    const post = await gateway.ask({}, { path })
    assertFault(post, 'method_not_allowed')
    assert.equal(post.headers.get('allow'), allow, path)
  }
  for (const path of ['/openai/deployments/plain-w16/images/edits', '/engines/BAAI/bge-w16/embeddings'])
    assert.equal((await gateway.get(path)).headers.get('allow'), 'POST', path)
  for (const path of ['/openai/deployments/plain-w16', '/v1/engines/plain-w16', '/v1/embeddings/'])
    assertFault(await gateway.get(path), 'unknown_path')
})

test('HEAD answers wherever GET does, without a body', async () => {
  const headers = { authorization: `Bearer ${gateway.key}` }
  for (const path of [
    '/',
    '/docs/errors',
    '/livez',
    '/v1/models',
    '/v1/models/plain-w16',
    '/docs/openapi.json',
  ]) {
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(`${gateway.url}${path}`, { method, headers })),
    )
    assert.deepEqual([head?.status, await head?.text()], [200, ''], path)
    assert.equal(head?.headers.get('content-length'), get?.headers.get('content-length'), path)
    await get?.text()
  }
})

test('a path that does not exist is refused as such, whatever its body is', async () => {
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

test('a browser gets pages that lead to one another', async () => {
  const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const open = async (url: string): Promise<string> => {
    const page = await fetch(url, { headers })
    assert.equal(page.status, 200, url)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(page.headers.get('vary'), 'accept')
    const html = await page.text()
    assert.match(html, /^<!doctype html>/)
    return html
  }
  for (const [start, words] of [
    [`${gateway.url}/`, new RegExp(`<code>${gateway.url}/v1</code>`)],
    [`${gateway.url}/docs`, /embeddings and images/],
    [`${gateway.url}/docs/errors`, /<code>model_not_found<\/code><\/a>, HTTP 404/],
  ] as const) {
    const html = await open(start)
    assert.match(html, words)
    for (const [, link = ''] of html.matchAll(/href="([^"]+)"/g))
      assert.equal((await fetch(new URL(link, start))).status, 200, link)
  }
  assert.match(
    await open(`${gateway.url}/docs/errors/unknown_path`),
    /<h2>unknown_path<\/h2>.*<code>\/v1<\/code>/,
  )
  const plain = await fetch(`${gateway.url}/`)
  assert.equal(plain.headers.get('content-type'), 'text/markdown; charset=utf-8')
  assert.match(await plain.text(), /^# Torana/)
})

test('a program gets a list of what the control port has', async () => {
  const plain = await fetch(`${gateway.controlUrl}/`)
  assert.equal(plain.headers.get('content-type'), 'text/markdown; charset=utf-8')
  assert.equal(plain.headers.get('vary'), 'accept')
  const list = await plain.text()
  assert.match(list, /admin token/)
  for (const [, link = ''] of list.matchAll(/\]\(([^)]+)\)/g))
    assert.equal((await fetch(new URL(link, `${gateway.controlUrl}/`))).status, 200, link)
})

test('both ports serve their OpenAPI document, which is the one of the repository', async () => {
  for (const [url, name] of [
    [gateway.url, 'gateway'],
    [gateway.controlUrl, 'control'],
  ] as const) {
    const served = await fetch(`${url}/docs/openapi.json`)
    assert.equal(served.headers.get('content-type'), 'application/json; charset=utf-8')
    const file = new URL(`../../../contract/${name}.openapi.json`, import.meta.url)
    assert.equal(await served.text(), readFileSync(file, 'utf8'))
  }
})

test('a missing path on the control port is refused in our words', async () => {
  const answer = await fetch(`${gateway.controlUrl}/nowhere`)
  const { error } = (await answer.json()) as { error: Record<string, string> }
  assert.deepEqual([answer.status, error['code']], [404, 'unknown_path'])
  assert.equal(error['request_id'], answer.headers.get('x-request-id'))
})

test('a request for the API at the control port is refused with the address of the public port', async () => {
  const answer = await fetch(`${gateway.controlUrl}/v1/embeddings`, { method: 'POST', body: '{}' })
  const { error } = (await answer.json()) as { error: { code: string; message: string } }
  assert.equal(error.code, 'unknown_path')
  assert.ok(
    error.message.endsWith(`Applications use the public port: ${gateway.url}/v1/embeddings`),
    error.message,
  )
})

for (const [path, meant] of [
  ['/v1/embeddings/', '/v1/embeddings'],
  ['//v1/embeddings', '/v1/embeddings'],
  ['/V1/EMBEDDINGS', '/v1/embeddings'],
  ['/v1/images/generations/?x=1', '/v1/images/generations'],
  [
    '/openai/deployments/BAAI/bge-w16/embeddings/?api-version=v1',
    '/openai/deployments/BAAI/bge-w16/embeddings',
  ],
] as const) {
  test(`${path} does not exist, and the error names the path that was meant`, async () => {
    assertFault(await gateway.ask({ input: 'a' }, { path }), 'unknown_path', {
      words: new RegExp(`does not exist\\. Use ${meant}: slashes and capitals count\\.$`),
    })
  })
}

test('a path that resembles none gets the list of paths', async () => {
  assertFault(await gateway.ask({}, { path: '/v1/rerank/' }), 'unknown_path', { words: /GET \/v1\/models/ })
})

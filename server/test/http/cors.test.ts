/** Web pages of other origins: none unless the operator names them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, type Gateway } from '#test/support/gateway.ts'

const models = { 'plain-w16': { on: 'plain' } }
const images = { 'plain-image': { on: 'plain' } }
const PAGE = 'https://app.example.com'
const off = await startGateway({ models, images })
const listed = await startGateway({ models, images, cors: { origins: [PAGE, 'app://obsidian.md'] } })
const open = await startGateway({ models, images, cors: { origins: '*' } })

const HEADERS = 'authorization, content-type, x-stainless-os'

function ask(gateway: Gateway, origin: string, path = '/v1/embeddings'): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': HEADERS,
    },
  })
}

test('without the setting no page may, and nothing is said of origins', async () => {
  const answer = await ask(off, PAGE)
  assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST'])
  const { headers } = await off.ask({ model: 'plain-w16', input: 'a' }, { headers: { origin: PAGE } })
  for (const name of ['access-control-allow-origin', 'access-control-expose-headers', 'vary'])
    assert.equal(headers.get(name), null)
})

test('the question before a request is answered without a key, for the origins of the list alone', async () => {
  for (const origin of [PAGE, 'app://obsidian.md'])
    for (const path of ['/v1/embeddings', '/v1/images/edits', '/v1/assets/x', '/v1/models']) {
      const { status, headers } = await ask(listed, origin, path)
      assert.equal(status, 204)
      assert.equal(headers.get('access-control-allow-origin'), origin)
      assert.equal(headers.get('access-control-allow-headers'), HEADERS)
      assert.match(headers.get('access-control-allow-methods') ?? '', /GET.*POST/)
      assert.equal(headers.get('access-control-allow-credentials'), null)
      assert.equal(headers.get('vary'), 'origin')
    }
  for (const origin of ['https://evil.example.com', 'http://app.example.com', 'null', `${PAGE}.evil.com`]) {
    const { status, headers } = await ask(listed, origin)
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [405, null])
    assert.equal(headers.get('vary'), 'origin')
  }
})

test('answers, faults and pictures may be read by the page, with their headers', async () => {
  for (const [gateway, expected] of [
    [listed, PAGE],
    [open, '*'],
  ] as const) {
    const headers = { origin: PAGE }
    const served = await gateway.ask({ model: 'plain-w16', input: 'a' }, { headers })
    assert.equal(served.status, 200, served.text)
    const refused = await gateway.ask({ model: 'plain-w16', input: '' }, { headers })
    assertFault(refused, 'empty_input')
    const made = await gateway.ask(
      { model: 'plain-image', prompt: 'a', response_format: 'url' },
      { headers, path: '/v1/images/generations' },
    )
    assert.equal(made.status, 200, made.text)
    const [picture] = (made.body.data as unknown as { url: string }[]).map(({ url }) => url)
    const link = await fetch(picture ?? '', { headers })
    assert.equal(link.status, 200)
    await link.arrayBuffer()
    const wrong = await gateway.ask({}, { headers, path: '/v1/nowhere' })
    for (const { headers: said } of [served, refused, made, wrong, link]) {
      assert.equal(said.get('access-control-allow-origin'), expected)
      assert.match(said.get('access-control-expose-headers') ?? '', /x-request-id/)
      assert.equal(said.get('access-control-allow-credentials'), null)
      assert.equal(said.get('vary'), gateway === listed ? 'origin' : null)
    }
    const exposed = (served.headers.get('access-control-expose-headers') ?? '').split(', ')
    for (const answer of [served, refused, made])
      for (const name of answer.headers.keys())
        if (name.startsWith('x-')) assert.ok(exposed.includes(name), name)
  }
})

test('every header that docs/headers.md lists for answers may be read, except those that are for browsers', async () => {
  const page = readFileSync(new URL('../../../docs/headers.md', import.meta.url), 'utf8')
  const [, answers = ''] = page.split(/^## Answers$/m)
  const rows = (answers.split(/^## /m)[0] ?? '').split('\n').filter((row) => row.startsWith('| `'))
  const names = rows.flatMap((row) => [
    ...(row.split(' | ')[0] ?? '').matchAll(/`([a-z]+(?:-[a-z]+)+|etag)[`:]/g),
  ])
  const { headers } = await open.ask({ model: 'plain-w16', input: 'a' })
  const exposed = (headers.get('access-control-expose-headers') ?? '').split(', ')
  const own = names.map(([, name = '']) => name).filter((name) => !/^(cache|content)-/.test(name))
  assert.ok(own.length > 12, own.join())
  for (const name of own) assert.ok(exposed.includes(name), name)
})

test('with `*` an answer is the same for everybody, so that a cached picture serves pages too', async () => {
  const { headers } = await open.ask({ model: 'plain-w16', input: 'a' })
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.equal((await ask(open, 'https://anywhere.example')).status, 204)
})

test('a page elsewhere gets its answer, and its browser keeps it', async () => {
  const headers = { origin: 'https://evil.example.com' }
  const answer = await listed.ask({ model: 'plain-w16', input: 'a' }, { headers })
  assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [200, null])
})

test('names of headers that are none are not repeated', async () => {
  const { headers } = await fetch(`${open.url}/v1/embeddings`, {
    method: 'OPTIONS',
    headers: {
      origin: PAGE,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'a(b)',
    },
  })
  assert.equal(headers.get('access-control-allow-headers'), null)
})

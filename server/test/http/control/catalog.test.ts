/** The catalogue of facts and prices: what is refused, with its code, and what a change needs. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { catalogRelease } from '#config/build/feed.ts'
import { MAX_FEED_BYTES } from '#core/feed/document.ts'
import { NODE_TOKEN, startConsoleNode, type ControlAnswer } from '#test/support/console-node.ts'
import { aSigner, changedDocument, tokenPrice, type TestProvider } from '#test/support/feed.ts'

const BUILT_IN = catalogRelease().sequence
const signer = aSigner()

/** What the feed server answers next. */
const served = { status: 200, text: '' }
const server = createServer((_request, response) => response.writeHead(served.status).end(served.text))
await once(server.listen(0, '127.0.0.1'), 'listening')
after(() => server.close())
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/catalog.json`

const guarded = { spaceGuard: false }
const node = await startConsoleNode({
  models: {},
  known: {
    'text-embedding-3-small': guarded,
    'text-embedding-ada-002': { ...guarded, price: { usdPerMillionTokens: 5 } },
  },
  catalog: { url, keys: [signer.publicKey] },
})
const ask = (method: string, path: string, body?: unknown): Promise<ControlAnswer> =>
  node.control(method, path, { token: NODE_TOKEN, ...(body !== undefined && { body }) })
const refusal = ({ status, body }: ControlAnswer) => [status, body.error?.code]
const feedOf = (later: number, change?: (provider: TestProvider) => void, providers?: readonly string[]) => ({
  feed: signer.sign(changedDocument(later, change, providers)),
})
const cheaper = ({ models }: TestProvider): void => {
  for (const id of ['text-embedding-3-small', 'text-embedding-ada-002'])
    (models[id] ?? {})['price'] = tokenPrice(0.01)
}
async function costOf(model: string): Promise<string | null> {
  const answer = await node.ask({ model, input: 'a few words' })
  assert.equal(answer.status, 200, answer.text)
  return answer.headers.get('x-torana-cost')
}

test('without a feed the catalogue of the program is in force, with the day of each fact', async () => {
  const { status, body } = await ask('GET', '/catalog')
  assert.equal(status, 200)
  assert.deepEqual(
    [body['sequence'], body['from'], body['pinned'], body['feeds']],
    [BUILT_IN, 'built-in', null, []],
  )
  const [small, large] = body['data'] as Record<string, { as_of: string; is_old: boolean } | null>[]
  assert.match(small?.['price']?.as_of ?? '', /^\d{4}-\d{2}-\d{2}$/)
  assert.equal(small?.['facts']?.is_old, false)
  assert.equal(large?.['price'], null, 'the price of torana.yaml is no fact of the catalogue')
})

const REFUSED: readonly (readonly [string, () => Record<string, unknown>, number, string])[] = [
  [
    'without a signature of a trusted key',
    () => ({ feed: aSigner().sign(changedDocument(1)) }),
    400,
    'catalog_feed_untrusted',
  ],
  [
    'whose text was changed',
    () => ({ feed: feedOf(1).feed.replace('"matryoshka":true', '"matryoshka":false') }),
    400,
    'catalog_feed_untrusted',
  ],
  ['that is no feed', () => ({ feed: 'hello' }), 400, 'catalog_feed_invalid'],
  [
    'with facts of a later version',
    () => feedOf(1, ({ models }) => void Object.assign(models['gpt-image-2'] ?? {}, { mood: 1 })),
    400,
    'catalog_feed_invalid',
  ],
  ['that is too large', () => ({ feed: ' '.repeat(MAX_FEED_BYTES + 1) }), 400, 'invalid_parameter'],
  ['with the sequence of the program', () => feedOf(0, cheaper), 409, 'catalog_feed_stale'],
  ['with an older sequence', () => feedOf(-1), 409, 'catalog_feed_stale'],
  [
    'without a model in use',
    () => feedOf(1, ({ models }) => void delete models['text-embedding-3-small'], ['openai', 'azure']),
    409,
    'catalog_feed_unfit',
  ],
  [
    'that retires a model in use',
    () =>
      feedOf(
        1,
        ({ models, retired }) => {
          delete models['text-embedding-3-small']
          retired['text-embedding-3-small'] = { on: '2026-11-01' }
        },
        ['openai', 'azure'],
      ),
    409,
    'catalog_feed_unfit',
  ],
  [
    'that changes vectors',
    () => feedOf(1, ({ capabilities }) => void (capabilities['harmlessFields'] = ['mood'])),
    409,
    'catalog_vector_changes',
  ],
  [
    'at a private address that torana.yaml does not name',
    () => ({ url: 'http://127.0.0.1:9/catalog.json' }),
    502,
    'catalog_feed_unreachable',
  ],
]

for (const [what, body, status, code] of REFUSED) {
  test(`a feed ${what} is refused with a code, and nothing is stored`, async () => {
    const answer = await ask('POST', '/catalog/pull', body())
    assert.deepEqual(refusal(answer), [status, code], answer.text)
    assert.deepEqual((await ask('GET', '/catalog')).body['feeds'], [])
  })
}

test('a source that fails, or sends more than a feed may have, is reported', async () => {
  served.status = 500
  assert.deepEqual(refusal(await ask('POST', '/catalog/pull', {})), [502, 'catalog_feed_unreachable'])
  Object.assign(served, { status: 200, text: 'x'.repeat(MAX_FEED_BYTES + 1) })
  assert.deepEqual(refusal(await ask('POST', '/catalog/diff', {})), [502, 'catalog_feed_unreachable'])
})

test('a new price is compared with the ledger, pulled, charged at once, and pinned back', async () => {
  const before = await costOf('text-embedding-3-small')
  const declared = await costOf('text-embedding-ada-002')
  served.text = feedOf(1, cheaper).feed
  const diff = await ask('POST', '/catalog/diff', {})
  assert.equal(diff.status, 200, diff.text)
  const [price, ...others] = diff.body['price_changes'] as {
    deployment: string
    bill: Record<string, unknown>
  }[]
  assert.deepEqual([price?.deployment, others], ['text-embedding-3-small/known', []])
  const { calls, before_usd: spent, after_usd: half } = price?.bill ?? {}
  assert.deepEqual([calls, spent, Number(half) * 2], [1, before, Number(before)])

  const pulled = await ask('POST', '/catalog/pull', {})
  assert.deepEqual(
    [pulled.status, pulled.body['changed'], pulled.body['sequence']],
    [200, true, BUILT_IN + 1],
  )
  assert.equal(Number(await costOf('text-embedding-3-small')) * 2, Number(before))
  assert.equal(await costOf('text-embedding-ada-002'), declared, 'torana.yaml takes precedence')
  assert.equal((await ask('POST', '/catalog/pull', {})).body['changed'], false)
  const stored = { price: { usdPerMillionTokens: '7' } }
  const path = `/prices/${encodeURIComponent('text-embedding-3-small/known')}`
  assert.equal((await ask('PUT', path, stored)).status, 200)
  const set = await costOf('text-embedding-3-small')
  assert.notEqual(set, before)

  const pinned = await ask('POST', '/catalog/pin', { to: 'built-in' })
  assert.deepEqual(
    [pinned.body['changed'], pinned.body['from'], pinned.body['pinned']],
    [true, 'built-in', 'built-in'],
  )
  assert.equal(await costOf('text-embedding-3-small'), set, 'so does a price of the store')
  assert.equal((await ask('DELETE', path)).status, 200)
  assert.equal(await costOf('text-embedding-3-small'), before)
  assert.equal((await ask('POST', '/catalog/pin', { to: 'built-in' })).body['changed'], false)
  assert.deepEqual(refusal(await ask('POST', '/catalog/pull', feedOf(2, cheaper))), [409, 'conflict'])
  assert.deepEqual(refusal(await ask('POST', '/catalog/pin', { to: 3 })), [404, 'not_found'])
  const latest = await ask('POST', '/catalog/pin', { to: 'latest' })
  assert.deepEqual([latest.body['sequence'], latest.body['pinned']], [BUILT_IN + 1, null])
})

test('a replayed feed, and another one with a taken sequence, are refused', async () => {
  await ask('POST', '/catalog/pull', feedOf(2, cheaper))
  assert.equal((await ask('POST', '/catalog/pull', feedOf(1, cheaper))).body['changed'], false)
  assert.equal((await ask('GET', '/catalog')).body['sequence'], BUILT_IN + 2)
  assert.deepEqual(refusal(await ask('POST', '/catalog/pull', feedOf(2))), [409, 'catalog_feed_stale'])
})

test('changed vectors are named, and pulled when they are accepted', async () => {
  const change = feedOf(3, ({ capabilities }) => void (capabilities['harmlessFields'] = ['mood']))
  const { body } = await ask('POST', '/catalog/diff', change)
  assert.deepEqual(
    (body['vector_changes'] as { deployment: string; fact: string }[]).map(({ deployment, fact }) => [
      deployment,
      fact,
    ]),
    [
      ['text-embedding-3-small/known', 'harmlessFields'],
      ['text-embedding-ada-002/known', 'harmlessFields'],
    ],
  )
  const accepted = await ask('POST', '/catalog/pull', { ...change, accept_vector_changes: true })
  assert.deepEqual([accepted.status, accepted.body['sequence']], [200, BUILT_IN + 3])
  // Going back changes them again.
  const back = { to: BUILT_IN + 2 }
  assert.deepEqual(refusal(await ask('POST', '/catalog/pin', back)), [409, 'catalog_vector_changes'])
  assert.equal((await ask('POST', '/catalog/pin', { ...back, accept_vector_changes: true })).status, 200)
})

test('each pull and each pin stands in the audit', async () => {
  const { body } = await ask('GET', '/audit?limit=100')
  const entries = (body['data'] as { action: string; target: string }[])
    .filter(({ action }) => action.startsWith('catalog.'))
    .map(({ action, target }) => `${action} ${target}`)
    .toReversed()
  assert.deepEqual(entries, [
    `catalog.pull ${BUILT_IN + 1}`,
    'catalog.pin built-in',
    'catalog.pin latest',
    `catalog.pull ${BUILT_IN + 2}`,
    `catalog.pull ${BUILT_IN + 3}`,
    `catalog.pin ${BUILT_IN + 2}`,
  ])
})

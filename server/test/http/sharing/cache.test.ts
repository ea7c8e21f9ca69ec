import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nanoUsdOf } from '#core/money/price.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { truncate } from '#core/embedding/vector.ts'
import { bitsOf } from '#test/support/arbitraries.ts'
import { startGateway, vectorsIn, type Asked, type AskOptions } from '#test/support/gateway.ts'
import { askPatiently } from '#test/support/patience.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { vectorOf } from '../../../../lab/fake-provider/vectors.ts'

const OTHER_KEY = 'key-of-another-project-00001'
const cache = { ttl: '30d' }
const both = { encodings: ['float', 'base64'] }
const { url: databaseUrl } = await testPostgres()

const gateway = await startGateway({
  env: { DATABASE_URL: databaseUrl, TORANA_SECRET: '0123456789abcdef'.repeat(4) },
  models: {
    'kept-w16': { on: 'plain', cache, capabilities: both, price: { usdPerMillionTokens: 10 } },
    'cut-w1024': {
      on: 'plain',
      cache,
      embedding: { matryoshka: true },
      capabilities: { ...both, dimensions: { min: 1, max: 1024 } },
    },
    'typed-w16': {
      on: 'plain',
      cache,
      embedding: { inputType: { prefixes: { query: 'query: ', document: 'passage: ' } } },
    },
    'unkept-w16': { on: 'plain' },
  },
  projects: { other: { keys: [{ name: 'k', secret: OTHER_KEY }] } },
})

const calls = (): number => gateway.provider.counters().calls
const said = ({ headers }: Asked): string | null => headers.get('x-torana-cache')

/** An answer, and how many calls it took. */
async function ask(body: object, options?: AskOptions): Promise<{ answer: Asked; made: number }> {
  const before = calls()
  const answer = await askPatiently(gateway, body, options)
  assert.equal(answer.status, 200, answer.text)
  return { answer, made: calls() - before }
}

function assertVectors(answer: Asked, texts: readonly string[], width = 16): void {
  assert.deepEqual(
    answer.body.data.map(({ index }) => index),
    [...texts.keys()],
  )
  assert.deepEqual(
    vectorsIn(answer).map(bitsOf),
    texts.map((text) => bitsOf(vectorOf(text, width))),
  )
}

test('a cached vector is not asked for again: headers count hits and misses, and hits cost nothing', async () => {
  const first = await ask({ model: 'kept-w16', input: ['one', 'two'] })
  assert.deepEqual([said(first.answer), first.made], ['hits=0, misses=2', 1])
  const partly = await ask({ model: 'kept-w16', input: ['three', 'two', 'one', 'two'] })
  assert.deepEqual([said(partly.answer), partly.made], ['hits=3, misses=1', 1])
  assertVectors(partly.answer, ['three', 'two', 'one', 'two'])
  assert.equal(gateway.provider.entries().at(-1)?.inputs, 1)
  const wholly = await ask({ model: 'kept-w16', input: ['one', 'two'], encoding_format: 'base64' })
  assert.deepEqual([said(wholly.answer), wholly.made], ['hits=2, misses=0', 0])
  assertVectors(wholly.answer, ['one', 'two'])
  const { headers, body } = wholly.answer
  assert.equal(headers.get('x-torana-cost'), '0.000000000')
  assert.equal(headers.get('x-torana-deployment'), 'cache')
  assert.equal(headers.get('x-torana-attempts'), '0')
  // The usage that a call would have had.
  assert.equal(body.usage.prompt_tokens, first.answer.body.usage.prompt_tokens)
})

test('an answer without a call stands in the ledger with no tokens and no cost, and with what it saved', async () => {
  const first = await ask({ model: 'kept-w16', input: 'in the ledger' })
  const costUsd = first.answer.headers.get('x-torana-cost') ?? ''
  const { answer } = await ask({ model: 'kept-w16', input: 'in the ledger' })
  const database = openPostgres(databaseUrl)
  try {
    const rows = await eventually(async () => {
      const found = await database.query<Record<string, unknown>>(
        `SELECT kind, deployment, tokens::int AS tokens, amount_nano::text AS amount, requests, hits, saved_nano AS saved
         FROM usage_events WHERE request_id = $1`,
        [answer.headers.get('x-request-id')],
      )
      assert.equal(found.length, 1)
      return found
    })
    const nothingPaid = { kind: 'post', deployment: 'kept-w16/cache', tokens: 0, amount: '0' }
    assert.deepEqual({ ...rows[0] }, { ...nothingPaid, requests: 1, hits: 1, saved: nanoUsdOf(costUsd) })
  } finally {
    await database.close()
  }
})

test('a text alone, in a list, and in either encoding: one entry, and the shape that was asked for', async () => {
  await ask({ model: 'kept-w16', input: 'alone' })
  for (const input of ['alone', ['alone']]) {
    for (const encoding_format of ['float', 'base64']) {
      const { answer, made } = await ask({ model: 'kept-w16', input, encoding_format })
      assert.equal(made, 0)
      assertVectors(answer, ['alone'])
      const [item] = answer.body.data
      assert.deepEqual(
        [item?.object, item?.index, typeof item?.embedding === 'string'],
        ['embedding', 0, encoding_format === 'base64'],
      )
    }
  }
})

test('no-cache gets a new vector and keeps it; no-store keeps nothing', async () => {
  const withHeader = (value: string, input: string) =>
    ask({ model: 'kept-w16', input }, { headers: { 'cache-control': value } })
  const plain = (input: string) => ask({ model: 'kept-w16', input })
  const unstored = await withHeader('no-store', 'control')
  assert.deepEqual([unstored.made, said(unstored.answer)], [1, 'hits=0, misses=1'])
  assert.equal((await withHeader('max-age=0, No-Cache', 'control')).made, 1, 'no-store had kept nothing')
  assert.equal((await plain('control')).made, 0, 'no-cache had kept it')
  assert.equal((await withHeader('no-cache', 'control')).made, 1, 'no-cache reads nothing')
  assert.equal((await withHeader('no-store', 'control')).made, 1, 'no-store reads nothing')
})

test('another project, another input type and a field that Torana does not know do not hit', async () => {
  const plain = { model: 'kept-w16', input: 'mine' }
  await ask(plain)
  assert.equal((await ask(plain, { key: OTHER_KEY })).made, 1)
  assert.equal((await ask(plain)).made, 0)
  const tied = await ask({ ...plain, late_chunking: true })
  assert.deepEqual([tied.made, said(tied.answer)], [1, null])

  const typed = (input_type: string) => ask({ model: 'typed-w16', input: 'cat', input_type })
  assert.equal((await typed('query')).made, 1)
  const document = await typed('document')
  assert.equal(document.made, 1)
  assertVectors(document.answer, ['passage: cat'])
  const query = await typed('query')
  assert.equal(query.made, 0)
  assertVectors(query.answer, ['query: cat'])
})

test('one vector of the full width serves every narrower one of a Matryoshka model', async () => {
  const first = await ask({ model: 'cut-w1024', input: 'wide', dimensions: 512 })
  assert.equal(first.made, 1)
  for (const dimensions of [256, 512, undefined]) {
    for (const encoding_format of ['float', 'base64']) {
      const { answer, made } = await ask({ model: 'cut-w1024', input: 'wide', dimensions, encoding_format })
      assert.equal(made, 0)
      const whole = vectorOf('wide', 1024)
      const expected = dimensions === undefined ? whole : truncate(whole, dimensions)
      assert.deepEqual(vectorsIn(answer).map(bitsOf), [bitsOf(expected)])
    }
  }
  assert.deepEqual(vectorsIn(first.answer).map(bitsOf), [bitsOf(truncate(vectorOf('wide', 1024), 512))])
})

test('a model without a cache keeps nothing and says nothing', async () => {
  for (let time = 0; time < 2; time += 1) {
    const { answer, made } = await ask({ model: 'unkept-w16', input: 'again' })
    assert.deepEqual([made, said(answer)], [1, null])
  }
})

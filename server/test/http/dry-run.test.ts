import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const gateway = await startGateway({
  models: {
    'two-w16': {
      on: ['plain', 'float-only'],
      embedding: { matryoshka: true },
      price: { usdPerMillionTokens: 0.02 },
      capabilities: { encodings: ['float'], tokenArrays: false },
    },
    'ids-w16': { on: 'plain+key-ids', capabilities: { tokenArrays: true } },
    'unpriced-w16': { on: 'plain+key-unpriced', unsupported: 'drop' },
  },
})
const counting = await startGateway({ known: { 'text-embedding-3-small': {} } })
const headers = { 'x-torana-dry-run': 'true' }

test('a dry run tells what would happen, and no upstream is called', async () => {
  const answer = await gateway.ask(
    { model: 'two-w16', input: ['four', 'ü'], dimensions: 4, encoding_format: 'base64' },
    { headers },
  )
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  const { space, ...rest } = answer.body
  assert.match(String(space), /^two-w16@4:[0-9a-f]{8}$/)
  const emulated = ['dimensions', 'encoding_format']
  // Six bytes, and eight tokens that a server may put around each text.
  const cost_usd = { min: '0.000000000', max: '0.000000441', likely: '0.000000040' }
  const both = { native: false, emulated, cost_usd }
  assert.deepEqual(rest, {
    object: 'torana.dry_run',
    model: 'two-w16',
    tokens: [1, 1],
    token_counts: 'estimated',
    max_tokens: 22,
    dropped: [],
    deployments: [
      { id: 'two-w16/plain', priority: 0, ...both },
      { id: 'two-w16/float-only', priority: 1, ...both },
    ],
  })
  assert.equal(gateway.provider.counters().calls, 0)
})

test('a dry run says what is native, what would be dropped, and that a price is unknown', async () => {
  const { body } = await gateway.ask(
    { model: 'unpriced-w16', input: 'a', dimensions: 4 },
    { headers: { 'x-torana-dry-run': '1' } },
  )
  assert.deepEqual(body['dropped'], ['dimensions'])
  assert.deepEqual(body['deployments'], [
    {
      id: 'unpriced-w16/plain.key-unpriced',
      priority: 0,
      native: true,
      emulated: [],
      cost_usd: { min: 'unpriced', max: 'unpriced', likely: 'unpriced' },
    },
  ])
})

test('token arrays are counted exactly, unless an upstream gets them as texts', async () => {
  const input = [[1, 2, 3], [4]]
  assert.equal((await gateway.ask({ model: 'ids-w16', input }, { headers })).body['max_tokens'], 4)
  // Each id counts as four characters of one byte.
  assert.equal((await gateway.ask({ model: 'two-w16', input }, { headers })).body['max_tokens'], 20)
})

test('with the tokenizer of the model, texts are counted one by one, also one that is too long', async () => {
  const long = 'word '.repeat(9000)
  const asked = { model: 'text-embedding-3-small', input: ['a cat', 'Größentabelle', long] }
  const { status, body } = await counting.ask(asked, { headers })
  assert.equal(status, 200)
  assert.deepEqual([body['tokens'], body['token_counts']], [[2, 5, 9001], 'exact'])
  const [{ cost_usd: cost }] = body['deployments'] as [{ cost_usd: { likely: string } }]
  assert.equal(Number(cost.likely), (9008 * 0.02) / 1e6)
})

test('no dry run costs more than it said', async () => {
  const input = ['a longer text of several words', '漢字', '😀']
  const question = { model: 'two-w16', input }
  const said = (await gateway.ask(question, { headers })).body['deployments'] as {
    cost_usd: { max: string }
  }[]
  const real = await gateway.ask(question)
  assert.ok(Number(real.headers.get('x-torana-cost')) <= Number(said[0]?.cost_usd.max))
})

test('what would be refused is refused in a dry run too', async () => {
  assertFault(
    await gateway.ask({ model: 'two-w16', input: 'a', dimensions: 17 }, { headers }),
    'unsupported_parameter',
  )
  assertFault(await gateway.ask({ model: 'nothing', input: 'a' }, { headers }), 'model_not_found')
  assertFault(
    await gateway.ask({ model: 'two-w16', input: 'a' }, { headers, key: undefined }),
    'missing_api_key',
  )
})

test('a dry run that is switched off is no dry run', async () => {
  for (const off of ['false', '0']) {
    const { body } = await gateway.ask(
      { model: 'two-w16', input: 'a' },
      { headers: { 'x-torana-dry-run': off } },
    )
    assert.equal(body.object, 'list')
  }
})

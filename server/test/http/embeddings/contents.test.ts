/** Contents through a whole node: dry runs, fallback, the cache, requests that share a call, and the ledger with prices by kind. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { atEnd } from '#test/support/at-end.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, vectorsIn, type Asked, type ModelSpec } from '#test/support/gateway.ts'
import { pngOf, wavOf } from '#test/support/media.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { contentVector } from '../../../../lab/fake-provider/contents.ts'

const KEYS = {
  small: 'key-of-a-small-hard-budget-0001',
  tight: 'key-of-a-tight-hard-budget-0001',
  other: 'key-of-another-project-00001',
}
const hard = (usd: number) => ({ usd, per: 'total', hard: true })

const contents = {
  wire: 'openrouter',
  inputs: ['text', 'image', 'audio'],
  fuses: true,
  maxParts: 8,
  fetches: true,
}
const taking = (on: ModelSpec['on'], more: Partial<ModelSpec> = {}): ModelSpec => ({
  on,
  upstream: { base: 'openrouter/api/v1' },
  capabilities: { contents, maxInputs: 8 },
  ...more,
})
/** An image has a token for each hundred pixels. The fake provider counts 258 whatever its size. */
const priced = {
  embedding: { maxInputTokens: 8192, mediaTokens: { pixelsPerToken: 100, maxPerImage: 3000 } },
  price: { usdPerInput: { millionTextTokens: 1, millionImageTokens: 10, audioSecond: 0.001 } },
}

const { url: databaseUrl } = await testPostgres()
const gateway = await startGateway({
  env: { DATABASE_URL: databaseUrl, TORANA_SECRET: '0123456789abcdef'.repeat(4) },
  models: {
    'priced-w16': taking('plain', priced),
    'second-w16': taking(['status-500', 'plain']),
    'kept-w16': taking('plain+key-kept', { cache: { ttl: '1d' }, ...priced }),
    'slow-w16': taking('slow-300', { cache: { ttl: '1d' } }),
  },
  projects: {
    small: { keys: [{ name: 'k', secret: KEYS.small }], budget: hard(0.0067) },
    other: { keys: [{ name: 'k', secret: KEYS.other }] },
    tight: { keys: [{ name: 'k', secret: KEYS.tight }], budget: hard(0.004) },
  },
})
const { provider } = gateway
const database = openPostgres(databaseUrl)
atEnd(() => database.close())

const image = await pngOf(200, 200)
const sum = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
/** The same image with other bytes. */
const another = (mark: string): Buffer => Buffer.concat([image, Buffer.from(mark)])
const url = (bytes: Uint8Array): string => `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`
const imagePart = (bytes: Uint8Array) => ({ type: 'image_url', image_url: { url: url(bytes) } })
const contentOf = (bytes: Uint8Array, text?: string) => ({
  content: [...(text === undefined ? [] : [{ type: 'text', text }]), imagePart(bytes)],
})
const calls = (): number => provider.counters().calls
const said = ({ headers }: Asked): string | null => headers.get('x-torana-cache')

async function served(body: object, options: Parameters<typeof gateway.ask>[1] = {}): Promise<Asked> {
  const answer = await gateway.ask(body, options)
  assert.equal(answer.status, 200, answer.text)
  return answer
}

async function dryRun(input: readonly unknown[]): Promise<readonly [tokens: unknown, cost: unknown]> {
  const before = calls()
  const { body } = await served({ model: 'priced-w16', input }, { headers: { 'x-torana-dry-run': 'true' } })
  assert.equal(calls(), before)
  const [deployment] = body['deployments'] as readonly { cost_usd: { min: string; max: string } }[]
  const { min, max } = deployment?.cost_usd ?? {}
  return [body['max_tokens'], { min, max }]
}

test('a dry run counts images by their pixels up to the most of the model, and audio by its seconds', async () => {
  const most = async (input: readonly unknown[]) => {
    const [tokens, cost] = await dryRun(input)
    return [tokens, (cost as { max: string }).max]
  }
  // Eight tokens that a server may put around a content, a byte of text, and 40,000 pixels.
  assert.deepEqual(await dryRun([contentOf(image, 'x')]), [
    8 + 1 + 400,
    { min: '0.000000000', max: '0.004009000' },
  ])
  assert.deepEqual(await most([contentOf(await pngOf(400, 200))]), [8 + 800, '0.008000000'])
  assert.deepEqual(await most([contentOf(await pngOf(700, 700))]), [8 + 3000, '0.030000000'])
  const audio = { type: 'input_audio', input_audio: { data: wavOf(3).toString('base64'), format: 'wav' } }
  assert.deepEqual((await most([{ content: [audio] }]))[1], '0.003000000')
})

test('a hard budget reserves the most that contents can cost, and the ledger has what they did cost', async () => {
  const ask = (bytes: Uint8Array, key: string): Promise<Asked> =>
    gateway.ask({ model: 'priced-w16', input: [contentOf(bytes, 'x')] }, { key })
  const before = calls()
  // It would cost 0.002581, and may cost 0.004009.
  assertFault(await ask(image, KEYS.tight), 'budget_exhausted')
  assertFault(await ask(await pngOf(400, 200), KEYS.small), 'budget_exhausted')
  assert.equal(calls(), before)
  const answers = [await ask(image, KEYS.small), await ask(image, KEYS.small)]
  for (const { status, text, headers, body } of answers) {
    assert.equal(status, 200, text)
    assert.equal(headers.get('x-torana-cost'), '0.002581000')
    assert.deepEqual(body.usage, {
      prompt_tokens: 259,
      total_tokens: 259,
      prompt_tokens_details: { text_tokens: 1, image_tokens: 258 },
    })
  }
  assertFault(await ask(image, KEYS.small), 'budget_exhausted')
  assert.equal(calls(), before + 2)
  const ids = answers.map(({ headers }) => headers.get('x-request-id'))
  await eventually(async () => {
    const rows = await database.query<Record<string, unknown>>(
      `SELECT tokens::int AS tokens, amount_nano::text AS amount FROM usage_events
       WHERE request_id = ANY($1) AND kind = 'post' ORDER BY request_id`,
      [ids],
    )
    const row = { tokens: 259, amount: '2581000' }
    assert.deepEqual(
      rows.map((found) => ({ ...found })),
      [row, row],
    )
  })
})

for (const [what, bytes] of [
  ['in memory', image],
  ['on disk', Buffer.concat([image, Buffer.alloc(1024 * 1024, 7)])],
] as const)
  test(`after a deployment that fails, the next one gets the same bytes of an image ${what}`, async () => {
    const before = provider.calls().length
    const answer = await served({ model: 'second-w16', input: [contentOf(bytes, 'a chair'), 'text'] })
    assert.deepEqual(vectorsIn(answer), [contentVector(['a chair', bytes], 16), contentVector(['text'], 16)])
    assert.equal(answer.headers.get('x-torana-attempts'), '2')
    const sent = provider.calls().slice(before)
    assert.deepEqual(
      sent.map(({ status }) => status),
      [500, 200],
    )
    const notes = sent.map((entry) => entry.contents)
    assert.deepEqual(notes[0], notes[1])
    assert.deepEqual(
      notes[1]?.flat().map((note) => ('sha256' in note ? note.sha256 : note.address)),
      [sum(Buffer.from('a chair')), sum(bytes), sum(Buffer.from('text'))],
    )
  })

const bytes = another('kept')
const base64 = bytes.toString('base64')
/** One image in the forms of several clients. */
const SPELLINGS: readonly (readonly [what: string, body: object])[] = [
  ['a data URL', { input: [contentOf(bytes)] }],
  ['a bare part', { input: [imagePart(bytes)] }],
  ['base64 alone', { input: [{ image: base64 }] }],
  ['without padding', { input: [{ image: base64.replace(/=+$/, '') }] }],
  ['in lines', { input: [{ image: base64.replace(/.{76}/g, '$&\n') }] }],
  [
    'declared as another format',
    { inputs: [{ content: [{ type: 'image_url', image_url: `data:image/webp;base64,${base64}` }] }] },
  ],
  ['a message', { messages: [{ role: 'user', content: [imagePart(bytes)] }] }],
  ['by modality', { input: [url(bytes)], modality: 'image' }],
]

test('an image is cached by its bytes, however it is written', async () => {
  const before = calls()
  for (const [index, [what, body]] of SPELLINGS.entries()) {
    const answer = await served({ model: 'kept-w16', ...body })
    const known = index === 0 ? 'hits=0, misses=1' : 'hits=1, misses=0'
    assert.deepEqual([what, said(answer)], [what, known])
    assert.deepEqual(vectorsIn(answer), [contentVector([bytes], 16)])
    assert.equal(answer.body.usage.prompt_tokens, 258, what)
  }
  assert.equal(calls(), before + 1)
  const fused = await served({ model: 'kept-w16', input: [contentOf(bytes, 'x'), contentOf(bytes)] })
  assert.equal(said(fused), 'hits=1, misses=1')
})

test('a cached image is known to its project alone', async () => {
  const own = another('of one project')
  for (const key of [gateway.key, KEYS.other]) {
    const answer = await served({ model: 'kept-w16', input: [contentOf(own)] }, { key })
    assert.equal(said(answer), 'hits=0, misses=1')
  }
})

test('usage by kind is that of every input, from a call or from the cache, once or repeated', async () => {
  const [one, words] = [another('by kind'), 'eight words of text']
  const ask = async (input: readonly unknown[]) => (await served({ model: 'kept-w16', input })).body.usage
  const text = (await ask([words])).prompt_tokens
  const usage = (texts: number, images: number) => ({
    prompt_tokens: texts * text + images * 258,
    total_tokens: texts * text + images * 258,
    prompt_tokens_details: { text_tokens: texts * text, image_tokens: images * 258 },
  })
  // The text from the cache, the image from a call; both from the cache; both from one call; both repeated.
  assert.deepEqual(await ask([words, contentOf(one)]), usage(1, 1))
  assert.deepEqual(await ask([words, contentOf(one)]), usage(1, 1))
  assert.deepEqual(await ask([words, contentOf(another('by kind, 2')), contentOf(one), words]), usage(2, 2))
  const fresh = await served({ model: 'priced-w16', input: [words, contentOf(one), contentOf(one), words] })
  assert.deepEqual(fresh.body.usage, usage(2, 2))
})

test('an address is not cached: what it leads to can change', async () => {
  const before = calls()
  const part = { type: 'image_url', image_url: { url: 'https://media.example/a.png' } }
  for (const _ of [1, 2]) await served({ model: 'kept-w16', input: [part] })
  assert.equal(calls(), before + 2)
})

test('equal images of one request are sent once, and of requests at the same time too', async () => {
  const [one, other] = [another('one'), another('other')]
  const before = provider.calls().length
  const twice = await served({
    model: 'priced-w16',
    input: [contentOf(one), 'a text', { image: one.toString('base64') }, contentOf(other)],
  })
  assert.deepEqual(
    vectorsIn(twice),
    [[one], ['a text'], [one], [other]].map((parts) => contentVector(parts, 16)),
  )
  const [call, ...more] = provider.calls().slice(before)
  assert.deepEqual([call?.contents?.length, more.length], [3, 0])

  const together = await Promise.all(
    [contentOf(one), { image: one.toString('base64') }, imagePart(one)].map((input) =>
      served({ model: 'slow-w16', input: [input] }),
    ),
  )
  assert.deepEqual(
    together.map((answer) => vectorsIn(answer)),
    [1, 2, 3].map(() => [contentVector([one], 16)]),
  )
  assert.equal(provider.calls().length, before + 2)
})

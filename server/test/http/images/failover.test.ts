/** Another deployment is tried only where nothing was bought; what may have been bought is never bought again. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { rowsIn, type Row } from '#test/e2e/money/ledger-rows.ts'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import {
  askImages,
  assertImageFault,
  billedPictures,
  picturesIn,
  purchasesAt,
  servedBy,
  sha256,
  type ImagesAsked,
} from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'

/** A port without a listener. */
const closed = createServer().listen(0, '127.0.0.1')
await once(closed, 'listening')
const closedUrl = `http://127.0.0.1:${(closed.address() as AddressInfo).port}/v1`
closed.close()

const price = { usdPerImage: 0.04 }
const UNCHARGED = ['status-500', 'status-503', 'status-429', 'quota', 'status-404']
/** All of them served, and billed. */
const AMBIGUOUS = [
  'serves-then-resets',
  'serves-then-hangs',
  'half-body',
  'half-body-chunked',
  'garbage',
  'html-200',
  'empty-data+no-usage',
  // Its tokens say that it worked, and the price is by image: how many it charges is not known.
  'empty-data+key-tokens',
  'bad-base64',
]
/** Long enough for every call that answers. */
const IMAGE_TIMEOUT_MS = 4000

const relieved = (scenario: string) => `plain+key-after-${scenario}`
const modelOf = (scenario: string) => `${scenario.replaceAll('+', '.')}-image`
const { gateway, database } = await startGatewayOnPostgres({
  images: {
    ...Object.fromEntries(
      [...UNCHARGED, ...AMBIGUOUS].map((scenario) => [
        modelOf(scenario),
        { on: [scenario, relieved(scenario)], price },
      ]),
    ),
    'counted-image': {
      on: ['empty-data', relieved('empty')],
      image: { outputTokens: 4160 },
      price: { usdPerMillionTokens: { textInput: 5, imageOutput: 40 } },
    },
    'moved-image': { on: ['status-302', relieved('moved')], price },
    'refusing-image': { on: ['content-refused', relieved('refusal')], price },
    'moderated-image': { on: ['moderation', relieved('moderation')], price },
    'lost-image': { on: 'plain+key-lost', upstream: { baseUrl: closedUrl }, price },
    // A second call of the same key is answered with 429.
    'half-image': { on: 'rate-limited-1+slow-300', price },
    'torn-image': { on: ['rate-limited-1+slow-300+key-torn', relieved('torn')], price },
  },
  limits: { imageTimeoutMs: IMAGE_TIMEOUT_MS },
})
const { provider } = gateway
const ask = (fields: Readonly<Record<string, unknown>>): Promise<ImagesAsked> => askImages(gateway, fields)

/** The ledger entries of one request, once they are written. */
function rowsOf(requestId: string | null, count: number): Promise<Row[]> {
  return eventually(async () => {
    const rows = (await rowsIn(database)).filter((row) => row.requestId === requestId)
    assert.equal(rows.length, count, JSON.stringify(rows))
    return rows
  })
}

for (const scenario of UNCHARGED) {
  test(`${scenario}: the next deployment makes the picture, and the first is paid nothing`, async () => {
    const answer = await ask({ model: `${scenario}-image` })
    const [bytes] = await picturesIn(answer)
    assert.deepEqual(billedPictures(provider, relieved(scenario)), [sha256(bytes as Buffer)])
    assert.deepEqual(
      ['deployment', 'attempts', 'cost'].map((name) => answer.headers.get(`x-torana-${name}`)),
      [`${scenario}-image/${relieved(scenario).replaceAll('+', '.')}`, '2', '0.040000000'],
    )
    const [row] = await rowsOf(answer.headers.get('x-request-id'), 1)
    assert.deepEqual([row?.kind, row?.attempt, row?.nanoUsd], ['post', 1, 40_000_000])
    assert.deepEqual([servedBy(provider, scenario), purchasesAt(provider, scenario).length], [[], 1])
  })
}

for (const scenario of AMBIGUOUS) {
  test(`${scenario}: it may have been bought, so it is not bought again, and the ledger says unknown`, async () => {
    const answer = await ask({ model: modelOf(scenario) })
    assertImageFault(answer, 'outcome_unknown', { words: /may have made the images/ })
    assert.equal(answer.headers.get('x-should-retry'), 'false')
    assert.deepEqual(
      [purchasesAt(provider, scenario).length, servedBy(provider, scenario).length],
      [1, 1],
      'one purchase, and it is billed',
    )
    assert.deepEqual(purchasesAt(provider, relieved(scenario)), [])
    const [row] = await rowsOf(answer.headers.get('x-request-id'), 1)
    assert.deepEqual(
      [row?.kind, row?.usage, row?.nanoUsd, row?.callId],
      ['unknown', 'unknown', 40_000_000, servedBy(provider, scenario)[0]?.callId],
    )
  })
}

test('an answer without a picture that says what it used: that is posted, nothing is unknown, and it is not bought again', async () => {
  const answer = await ask({ model: 'counted-image' })
  assertImageFault(answer, 'upstream_broken_answer', { words: /an answer without a picture/ })
  const [sale] = servedBy(provider, 'empty-data')
  const [row] = await rowsOf(answer.headers.get('x-request-id'), 1)
  assert.deepEqual(
    [row?.kind, row?.usage, row?.tokens, row?.nanoUsd],
    ['post', 'upstream', sale?.tokens, (sale?.tokens ?? 0) * 5000],
  )
  assert.deepEqual(purchasesAt(provider, relieved('empty')), [])
})

test('a redirect has made nothing: the next deployment makes the picture, and nothing is unknown', async () => {
  const answer = await ask({ model: 'moved-image' })
  assert.equal((await picturesIn(answer)).length, 1)
  const [row] = await rowsOf(answer.headers.get('x-request-id'), 1)
  assert.deepEqual([row?.kind, row?.attempt], ['post', 1])
})

for (const [model, name] of [
  ['refusing-image', 'refusal'],
  ['moderated-image', 'moderation'],
]) {
  test(`${model}: refused content is not taken elsewhere, and costs nothing`, async () => {
    const answer = await ask({ model })
    assertImageFault(answer, 'content_policy_violation', { words: /did not retry/ })
    assert.deepEqual(purchasesAt(provider, relieved(name ?? '')), [])
    assert.deepEqual(
      (await rowsIn(database)).filter((row) => row.requestId === answer.headers.get('x-request-id')),
      [],
    )
  })
}

test('an upstream that can not be connected to has sold nothing', async () => {
  const answer = await ask({ model: 'lost-image' })
  assertImageFault(answer, 'upstream_unreachable')
  assert.equal(answer.headers.get('x-should-retry'), 'true')
})

test('half of several calls fail: what came is answered and paid, and the answer says that it is not all', async () => {
  const answer = await ask({ model: 'half-image', n: 2 })
  assert.equal((await picturesIn(answer)).length, 1)
  assert.deepEqual(
    ['incomplete', 'cost', 'attempts'].map((name) => answer.headers.get(`x-torana-${name}`)),
    ['1 of 2', '0.040000000', '2'],
  )
  const [row] = await rowsOf(answer.headers.get('x-request-id'), 1)
  assert.deepEqual([row?.kind, row?.nanoUsd], ['post', 40_000_000])
})

test('of several calls only those that failed go to the next deployment', async () => {
  const answer = await ask({ model: 'torn-image', n: 2 })
  assert.equal((await picturesIn(answer)).length, 2)
  assert.deepEqual(
    ['incomplete', 'cost', 'attempts', 'deployment'].map((name) => answer.headers.get(`x-torana-${name}`)),
    [
      null,
      '0.080000000',
      '3',
      'torn-image/rate-limited-1.slow-300.key-torn, torn-image/plain.key-after-torn',
    ],
  )
  assert.equal(
    (await rowsOf(answer.headers.get('x-request-id'), 2)).every(({ kind }) => kind === 'post'),
    true,
  )
  assert.equal(servedBy(provider, relieved('torn')).length, 1)
})

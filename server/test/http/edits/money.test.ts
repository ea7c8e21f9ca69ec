/** The cost of an edit: given images count, are reserved against a budget before, and are in the ledger after. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAtRest, rowsIn, sumOf, type Row } from '#test/e2e/money/ledger-rows.ts'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import {
  aMask,
  aPicture,
  askForm,
  askJson,
  EDITS,
  editsAt,
  filePart,
  references,
} from '#test/support/edits.ts'
import { assertImageFault, picturesIn, servedBy, type ImagesAsked } from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'
import { imageTokensOf } from '../../../../lab/fake-provider/images/usage.ts'
import { tokensOf } from '../../../../lab/fake-provider/vectors.ts'

const KEY = 'key-of-a-project-with-ten-cents'
const PROMPT = 'a blue bicycle'
/** Dollars per million tokens are thousands of nano-dollars per token. */
const USD = { textInput: 5, imageInput: 8, imageOutput: 30 } as const
const byTokens = { usdPerMillionTokens: USD }
const capabilities = { edits: EDITS }
/** 0.08 dollars for each given image, 0.009 for a made one. */
const bounds = { outputTokens: 300, inputImageTokens: 10_000 }

const { gateway, database, quiet } = await startGatewayOnPostgres({
  images: {
    'token-image': { on: 'plain', price: byTokens, image: bounds, capabilities },
    'boundless-image': {
      on: 'plain+key-boundless',
      price: byTokens,
      image: { outputTokens: 300 },
      capabilities,
    },
    'silent-image': { on: 'no-usage', price: byTokens, image: bounds, capabilities },
    'piece-image': {
      on: 'max-n-1',
      price: { usdPerImage: 0.04 },
      capabilities: { ...capabilities, maxImages: 1 },
    },
  },
  projects: { shop: { keys: [{ name: 'k', secret: KEY }], budget: { usd: 0.1, per: 'total', hard: true } } },
})
const { provider } = gateway
const [first, second] = await Promise.all([1, 2].map((seed) => aPicture(64, 64, seed)))
const mask = await aMask(64, 64, (x) => x < 9)
assert.ok(first && second)
const image = filePart('image', first)

function rowsOf({ headers }: ImagesAsked, count: number): Promise<Row[]> {
  return eventually(async () => {
    const rows = (await rowsIn(database)).filter(({ requestId }) => requestId === headers.get('x-request-id'))
    assert.equal(rows.length, count, JSON.stringify(rows))
    return rows
  })
}

const costOf = (answer: ImagesAsked): number =>
  Math.round(Number(answer.headers.get('x-torana-cost')) * 1_000_000_000)

test('tokens of given pictures are paid at their own price, a mask costs nothing', async () => {
  for (const [pictures, files] of [
    [[first], [image]],
    [
      [first, second],
      [image, filePart('image', second), filePart('mask', mask)],
    ],
  ] as const) {
    const answer = await askForm(gateway, { model: 'token-image', prompt: PROMPT }, files)
    await picturesIn(answer)
    const output = answer.body.usage?.output_tokens ?? 0
    const given = pictures.reduce((sum, { length }) => sum + imageTokensOf(length), 0)
    const nanoUsd =
      1000 * (tokensOf(PROMPT) * USD.textInput + given * USD.imageInput + output * USD.imageOutput)
    assert.ok(output > 0)
    assert.equal(answer.body.usage?.input_tokens, tokensOf(PROMPT) + given)
    const [row] = await rowsOf(answer, 1)
    assert.deepEqual([costOf(answer), row?.nanoUsd, row?.usage], [nanoUsd, nanoUsd, 'upstream'])
  }
})

test('an upstream that tells no usage is reckoned by the most that it may be', async () => {
  const answer = await askForm(gateway, { model: 'silent-image', prompt: PROMPT }, [image])
  await picturesIn(answer)
  const [row] = await rowsOf(answer, 1)
  assert.equal(row?.usage, 'estimated')
  assert.ok(costOf(answer) >= 1000 * bounds.inputImageTokens * USD.imageInput, String(costOf(answer)))
  assert.equal(row.nanoUsd, costOf(answer))
})

test('each call gets the images again, and each is in the ledger', async () => {
  const answer = await askForm(gateway, { model: 'piece-image', n: '3' }, [image])
  assert.equal((await picturesIn(answer)).length, 3)
  const rows = await rowsOf(answer, 3)
  assert.deepEqual([sumOf(rows), costOf(answer)], [120_000_000, 120_000_000])
  assert.deepEqual(
    rows.map(({ callId }) => callId).toSorted(),
    servedBy(provider, 'max-n-1')
      .map(({ callId }) => String(callId))
      .toSorted(),
  )
})

test('a hard budget refuses what it can not hold: given pictures count before they are sent', async () => {
  const ask = (...files: Parameters<typeof askForm>[2]) =>
    askForm(gateway, { model: 'token-image' }, files, { key: KEY })
  const before = editsAt(provider).length
  assertImageFault(await ask(image, filePart('image', second)), 'budget_exhausted')
  assertImageFault(
    await askJson(gateway, { model: 'token-image', images: references(first, first) }, { key: KEY }),
    'budget_exhausted',
  )
  assertImageFault(
    await askForm(gateway, { model: 'piece-image', n: '3' }, [image], { key: KEY }),
    'budget_exhausted',
  )
  assert.equal(editsAt(provider).length, before)
  await picturesIn(await ask(image))
})

test('a model whose given pictures have no bound makes pictures under a hard budget, and edits none', async () => {
  const model = 'boundless-image'
  assertImageFault(await askForm(gateway, { model }, [image], { key: KEY }), 'model_unpriced')
  assert.deepEqual(editsAt(provider, 'plain+key-boundless'), [])
  await picturesIn(
    await askJson(gateway, { model, size: '64x64' }, { key: KEY, path: '/v1/images/generations' }),
  )
})

test('a twin that joins a purchase pays nothing, however little is left', async () => {
  const headers = { 'idempotency-key': 'paid-once' }
  const ask = () => askForm(gateway, { model: 'piece-image' }, [image], { key: KEY, headers })
  const answers = [await ask(), await ask(), await ask(), await ask()]
  for (const { status, text } of answers) assert.deepEqual([status, text], [200, answers[0]?.text])
  await rowsOf(answers[0] as ImagesAsked, 1)
})

test('in the end nothing is reserved, and every served call is in the ledger once', async () => {
  await quiet()
  await assertAtRest(database, 'project:shop')
  const rows = await rowsIn(database)
  assert.deepEqual(
    rows.map(({ callId, kind }) => `${callId} ${kind}`).toSorted(),
    servedBy(provider)
      .map(({ callId }) => `${callId} post`)
      .toSorted(),
  )
})

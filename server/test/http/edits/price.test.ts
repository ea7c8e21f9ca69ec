/** The cost of given images, in the answer and under a hard budget. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aMask, aPicture, askForm, askJson, EDITS, editsAt, filePart } from '#test/support/edits.ts'
import { startGateway } from '#test/support/gateway.ts'
import { assertImageFault } from '#test/support/image-answers.ts'

const KEY = 'key-of-a-project-with-a-budget'
const capabilities = { edits: EDITS, maxImages: 2 }
const gateway = await startGateway({
  images: {
    'by-picture': {
      on: 'plain+key-picture',
      capabilities,
      price: { usdPerImage: 0.04, usdPerGivenImage: 0.01 },
    },
    'by-pixel': {
      on: 'plain+key-pixel',
      capabilities,
      price: { usdPerImage: 0.04, usdPerGivenMegapixel: 100 },
    },
    'by-guess': {
      on: 'plain+key-guess',
      capabilities,
      price: { usdPerImage: 0.04, usdPerGivenImage: 'unknown' },
    },
  },
  projects: { shop: { keys: [{ name: 'k', secret: KEY }], budget: { usd: 0.25, per: 'total', hard: true } } },
})
const { provider } = gateway

const picture = await aPicture(20, 10)
const files = [
  filePart('image[]', picture),
  filePart('image[]', picture),
  filePart('mask', await aMask(20, 10, (x) => x < 4)),
]
const byAddress = { images: [{ image_url: 'https://pictures.example.com/a.png' }] }

for (const [model, cost] of [
  ['by-picture', '0.070000000'],
  // Three times 200 pixels.
  ['by-pixel', '0.100000000'],
  ['by-guess', 'unpriced'],
] as const) {
  test(`${model}: pictures that were given are in the cost, ${cost}`, async () => {
    const { status, headers } = await askForm(gateway, { model }, files)
    assert.deepEqual(
      [status, headers.get('x-torana-cost'), headers.get('x-torana-usage')],
      [200, cost, 'upstream'],
    )
  })
}

test('the pixels of an address have no cost that anybody knows', async () => {
  const { status, headers } = await askJson(gateway, { model: 'by-pixel', ...byAddress })
  assert.deepEqual(
    [status, headers.get('x-torana-cost'), headers.get('x-torana-usage')],
    [200, 'unpriced', 'estimated'],
  )
})

test('under a hard budget an edit without a known price is refused before anybody is called', async () => {
  const before = editsAt(provider).length
  const guessed = await askForm(gateway, { model: 'by-guess' }, files, { key: KEY })
  assertImageFault(guessed, 'model_unpriced', { words: /no price for this request/ })
  const addressed = await askJson(gateway, { model: 'by-pixel', ...byAddress }, { key: KEY })
  assertImageFault(addressed, 'model_unpriced', { words: /no price for this request/ })
  assert.equal(editsAt(provider).length, before)
})

test('a hard budget reserves given pictures for each call, so that it can’t be overspent', async () => {
  // Four images and, in each of two calls, three given ones: 0.16 + 0.06 fits, and leaves less than another 0.04.
  const fits = await askForm(gateway, { model: 'by-picture', n: '4' }, files, { key: KEY })
  assert.deepEqual([fits.status, fits.headers.get('x-torana-cost')], [200, '0.220000000'])
  const before = editsAt(provider).length
  const [file] = files
  assert.ok(file)
  const more = await askForm(gateway, { model: 'by-picture' }, [file], { key: KEY })
  assertImageFault(more, 'budget_exhausted', { words: /\$0\.03 left; this request can cost up to \$0\.05/ })
  assert.equal(editsAt(provider).length, before)
})

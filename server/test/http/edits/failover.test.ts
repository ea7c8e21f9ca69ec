/** The files of an edit go to another deployment whole, or not at all: never when an upstream may have been paid for them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowsIn, type Row } from '#test/e2e/money/ledger-rows.ts'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import {
  aMask,
  aPicture,
  askForm,
  digestsOf,
  EDITS,
  editsAt,
  fidelityOf,
  filePart,
  givenTo,
  uploadsGone,
} from '#test/support/edits.ts'
import { GATEWAY_KEY, startGateway } from '#test/support/gateway.ts'
import { assertImageFault, picturesIn, servedBy } from '#test/support/image-answers.ts'
import { largePictures, sendEdit } from '#test/support/large-edits.ts'
import { eventually } from '#test/support/process.ts'

const price = { usdPerImage: 0.04 }
const MEGABYTE = 1024 * 1024
/** Far more than the buffers between two processes hold. */
const PICTURE_BYTES = 12 * MEGABYTE
/** Nothing of these is billed: in the first ones not all of the request had arrived. */
const UNCHARGED = ['cuts-upload-1', `cuts-upload-${MEGABYTE}`, 'status-500', 'status-429']
/** All had arrived: what came of it is not known, or it was billed. */
const AMBIGUOUS = ['reset', 'serves-then-resets', 'half-body', 'garbage']

const edits = { edits: EDITS }
const after = (scenario: string) => `hash-only+key-after-${scenario}`
const { gateway, database } = await startGatewayOnPostgres({
  images: {
    ...Object.fromEntries(
      [...UNCHARGED, ...AMBIGUOUS, 'early-refusal', 'content-refused'].map((scenario) => [
        `${scenario}-image`,
        { on: [scenario, after(scenario)], price, capabilities: edits },
      ]),
    ),
    'one-a-call': { on: 'max-n-1', price, capabilities: { ...edits, maxImages: 1, maxParallelCalls: 2 } },
  },
})
/** Each reads the mask in another way, and takes the files in another body. */
const mixed = await startGateway({
  images: {
    'mixed-image': {
      on: ['status-500', 'status-503', 'mask-white'],
      capabilitiesOn: {
        'status-500': { edits: { mask: 'alpha' } },
        'status-503': { edits: { mask: 'black', bodies: ['json'] } },
        'mask-white': { edits: { mask: 'white' } },
      },
    },
    'partial-image': {
      on: ['no-mask', 'plain+key-masks'],
      capabilitiesOn: { 'no-mask': { edits: {} }, 'plain+key-masks': edits },
    },
    'hanging-image': { on: ['serves-then-hangs', 'plain'], capabilities: edits },
  },
  limits: { imageTimeoutMs: 4000 },
})
const { provider } = gateway
const [pictureOf, small] = await Promise.all([largePictures(PICTURE_BYTES), largePictures(10_000)])

function rowsOf(callIds: readonly (string | null | undefined)[], count: number): Promise<Row[]> {
  return eventually(async () => {
    const rows = (await rowsIn(database)).filter(({ callId }) => callIds.includes(callId))
    assert.equal(rows.length, count, JSON.stringify(rows))
    return rows
  })
}

for (const scenario of UNCHARGED) {
  test(`${scenario}: the next deployment is given the same bytes, and the first is paid nothing`, async () => {
    const pictures = [pictureOf(), small()]
    const asked = { url: gateway.url, key: gateway.key, model: `${scenario}-image`, prompt: 'a blue bicycle' }
    const { status, text } = await sendEdit({ ...asked, pictures })
    assert.equal(status, 200, text.slice(0, 500))
    const [entry, ...more] = editsAt(provider, after(scenario))
    assert.deepEqual(
      givenTo(entry),
      pictures.map(({ sha256 }) => sha256),
    )
    assert.deepEqual([more, servedBy(provider, scenario)], [[], []])
    const [row] = await rowsOf([entry?.callId], 1)
    assert.deepEqual([row?.kind, row?.attempt, row?.nanoUsd], ['post', 1, 40_000_000])
    await uploadsGone(gateway)
  })
}

for (const scenario of AMBIGUOUS) {
  test(`${scenario}: it may have been bought, so no other deployment gets the files`, async () => {
    const picture = await aPicture(40, 30)
    const answer = await askForm(gateway, { model: `${scenario}-image` }, [filePart('image', picture)])
    assertImageFault(answer, 'outcome_unknown', { words: /may have made the images/ })
    assert.deepEqual(editsAt(provider, scenario).map(givenTo), [digestsOf(picture)])
    assert.deepEqual(editsAt(provider, after(scenario)), [])
    const [row] = await rowsOf([editsAt(provider, scenario)[0]?.callId], 1)
    assert.deepEqual([row?.kind, row?.nanoUsd], ['unknown', 40_000_000])
    await uploadsGone(gateway)
  })
}

for (const [scenario, code] of [
  ['early-refusal', 'upstream_refused'],
  ['content-refused', 'content_policy_violation'],
] as const) {
  test(`${scenario}: a no is passed on, in the middle of an upload too, and is not taken elsewhere`, async () => {
    const asked = { url: gateway.url, key: gateway.key, model: `${scenario}-image`, prompt: 'a blue bicycle' }
    const { status, text } = await sendEdit({ ...asked, pictures: [pictureOf()] })
    const { error } = JSON.parse(text) as { error: { code: string; message: string } }
    assert.deepEqual([status, error.code], [400, code], text)
    assert.deepEqual([editsAt(provider, after(scenario)), servedBy(provider, scenario)], [[], []])
    await uploadsGone(gateway)
  })
}

test('one image per call: each call gets all files again', async () => {
  const pictures = await Promise.all([1, 2].map((seed) => aPicture(40, 30, seed)))
  const files = pictures.map((bytes) => filePart('image[]', bytes))
  const answer = await askForm(gateway, { model: 'one-a-call', n: '3' }, files)
  assert.equal((await picturesIn(answer)).length, 3)
  const entries = editsAt(provider, 'max-n-1')
  assert.deepEqual(
    entries.map(givenTo),
    entries.map(() => digestsOf(...pictures)),
  )
  assert.deepEqual(
    [entries.length, answer.headers.get('x-torana-emulated'), answer.headers.get('x-torana-cost')],
    [3, 'n', '0.120000000'],
  )
})

test('each deployment is given the mask in its own way, and the last one paints where the caller said', async () => {
  const picture = await aPicture(40, 30)
  const isEdited = (x: number, y: number): boolean => x < 13 && y > 7
  const mask = await aMask(40, 30, isEdited)
  const answer = await askForm(mixed, { model: 'mixed-image' }, [
    filePart('image', picture),
    filePart('mask', mask),
  ])
  const [made] = await picturesIn(answer)
  const { wrong, unchanged } = await fidelityOf(picture, made as Buffer, isEdited)
  assert.deepEqual([wrong, unchanged], [0, 0])
  assert.deepEqual(
    ['attempts', 'emulated'].map((name) => answer.headers.get(`x-torana-${name}`)),
    ['3', 'mask'],
  )
  const [alpha, black, white] = ['status-500', 'status-503', 'mask-white'].map((scenario) =>
    givenTo(editsAt(mixed.provider, scenario)[0]),
  )
  assert.deepEqual(alpha, digestsOf(picture, mask))
  assert.deepEqual([black?.[0], white?.[0]], [alpha[0], alpha[0]])
  assert.equal(new Set([alpha[1], black?.[1], white?.[1]]).size, 3)
})

test('a deployment that takes no mask is passed over, not given the picture alone', async () => {
  const picture = await aPicture(40, 30)
  const mask = await aMask(40, 30, (x) => x < 9)
  const files = [filePart('image', picture), filePart('mask', mask)]
  const answer = await askForm(mixed, { model: 'partial-image' }, files)
  await picturesIn(answer)
  assert.equal(answer.headers.get('x-torana-attempts'), '1')
  assert.deepEqual(editsAt(mixed.provider, 'no-mask'), [])
  assert.deepEqual(givenTo(editsAt(mixed.provider, 'plain+key-masks')[0]), digestsOf(picture, mask))
})

test('an upstream that took everything and says nothing is not asked again, by retries under the same key neither', async () => {
  const headers = { 'idempotency-key': 'hanging' }
  const files = [filePart('image', await aPicture(40, 30))]
  for (const time of ['first', 'second']) {
    const answer = await askForm(mixed, { model: 'hanging-image' }, files, { key: GATEWAY_KEY, headers })
    assertImageFault(answer, 'outcome_unknown')
    assert.deepEqual([answer.status, answer.headers.get('x-should-retry')], [424, 'false'], time)
  }
  const { provider: asked } = mixed
  assert.deepEqual([editsAt(asked, 'serves-then-hangs').length, editsAt(asked, 'plain')], [1, []])
  await uploadsGone(mixed)
})

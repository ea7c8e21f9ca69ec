import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LedgerEntry } from '../money/ledger.ts'
import { UNKNOWN_TOKENS } from '../money/usage.ts'
import { deliveryOf, deliveryText, resultOf, type Delivery, type KeptPicture } from './delivery.ts'

const POST: LedgerEntry = {
  requestId: '01a1de10-530c-7b10-9d92-5f1a7c04212d',
  attempt: 0,
  kind: 'post',
  callId: '01a1de10-530c-7b10-9d92-5f1a7c04212e',
  project: 'p',
  keyId: 'p/k',
  model: 'm',
  deployment: 'm/u',
  usage: 'upstream',
  tokens: 3,
  images: 1,
  amountNanoUsd: 2n ** 60n,
  projectLeaseNanoUsd: 5n,
  keyLeaseNanoUsd: 0n,
}

const PICTURE: KeptPicture = { sha256: 'aa', bytes: 3, format: 'png', width: 8, height: 8 }

function aDelivery(overrides: Partial<Delivery> = {}): Delivery {
  return {
    project: 'p',
    post: POST,
    pictures: [PICTURE],
    tokens: UNKNOWN_TOKENS,
    echoes: {},
    extraFields: {},
    emulated: [],
    ...overrides,
  }
}

test('a delivery is read back as it was, its amounts exact', () => {
  const { post, ...rest } = deliveryOf(deliveryText(aDelivery()))
  assert.deepEqual(post, POST)
  assert.deepEqual(rest.pictures, [PICTURE])
  const unpriced = { ...POST, amountNanoUsd: undefined }
  assert.equal(deliveryOf(deliveryText(aDelivery({ post: unpriced }))).post.amountNanoUsd, undefined)
})

test('fields of an upstream that look like an amount of ours stay what they are', () => {
  const extraFields = { variant: { nano: 'banana' }, price: { nano: '5' }, list: [{ nano: '' }] }
  const echoes = { size: { nano: '1' } }
  const read = deliveryOf(deliveryText(aDelivery({ extraFields, echoes })))
  assert.deepEqual([read.extraFields, read.echoes], [extraFields, echoes])
})

test('a result answers as many pictures as were asked for, and names the others', () => {
  const about = { createdSeconds: 1, form: 'b64_json', attempts: 2, dropped: [] } as const
  const two = aDelivery({ pictures: [PICTURE, PICTURE] })
  const next = aDelivery({ post: { ...POST, attempt: 1 }, pictures: [PICTURE] })
  const { pictures, extra } = resultOf([next, two], { ...about, asked: 2 })
  const places = pictures.map(({ attempt, index }) => [attempt, index])
  assert.deepEqual(places, [
    [0, 0],
    [0, 1],
  ])
  assert.deepEqual(extra, [{ attempt: 1, index: 0 }])
  assert.ok(!('extra' in resultOf([two], { ...about, asked: 2 })))
})

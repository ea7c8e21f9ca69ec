import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EffectOfChange } from '../../api/queries/routing.ts'
import { effectLines } from './effects.ts'

const effect = (kind: EffectOfChange['kind'], more: Partial<EffectOfChange> = {}): EffectOfChange => ({
  kind,
  model: 'bge-m3',
  upstream: 'gpu-one',
  share: null,
  share_24h: null,
  price: null,
  to: null,
  text: '',
  ...more,
})

test('the shares of one model are one sentence; what needs a hand is a warning', () => {
  assert.deepEqual(
    effectLines([
      effect('share', { share: 0.7, share_24h: 0.51 }),
      effect('share', { upstream: 'gpu-two', share: 0.3 }),
      effect('share', { model: 'other', share: 1 }),
      effect('price', { price: '$0 per free' }),
      effect('price', { price: '$0.01 per million tokens' }),
      effect('key_dropped'),
    ]),
    [
      ['good', 'gpu-one gets about 70% of calls (51% in the last 24 h), gpu-two 30%.'],
      ['good', 'gpu-one gets about 100% of calls.'],
      ['good', 'gpu-one is billed at $0. Past calls keep their price.'],
      ['good', 'gpu-one is billed at $0.01 per million tokens. Past calls keep their price.'],
      ['warn', 'gpu-one has a new address, so its key is deleted. Replace it after you save.'],
    ],
  )
})

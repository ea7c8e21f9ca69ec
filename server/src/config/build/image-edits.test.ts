import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { EditBody, ImageEdits } from '#core/catalog/catalog.ts'
import { deploymentIn, onAcme, ONE_PICTURE } from '#test/support/image-config.ts'
import type { EditLayer } from '../schema/edit.ts'
import { resolveImageCapabilities } from './resolve.ts'

const editLayers: [
  name: string,
  layers: (EditLayer | undefined)[],
  expected: Partial<ImageEdits> | undefined,
][] = [
  ['nobody says anything', [undefined, undefined, undefined], undefined],
  ['a wire is only said to edit', [undefined, undefined, {}], {}],
  [
    'each layer adds to those before it',
    [
      { maxInputs: 16, mask: 'alpha', bodies: ['json'] },
      { maxInputs: 4, markup: true },
      { fidelities: ['low'] },
    ],
    { maxInputs: 4, mask: 'alpha', bodies: ['json'], markup: true, fidelities: ['low'] },
  ],
  [
    'a later layer takes the mask away',
    [{ mask: 'alpha', maxInputs: 16 }, { mask: 'none' }],
    { maxInputs: 16 },
  ],
  ['a later layer says none', [{ maxInputs: 16 }, {}, 'none'], undefined],
  [
    'what follows none begins anew',
    [{ maxInputs: 16, mask: 'alpha' }, 'none', { markup: true }],
    { markup: true },
  ],
  ['a layer is silent after none', ['none', undefined], undefined],
]
for (const [name, layers, expected] of editLayers) {
  test(`edits when ${name}`, () => {
    const { edits } = resolveImageCapabilities(layers.map((layer) => layer && { edits: layer }))
    assert.deepEqual(edits, expected && { ...ONE_PICTURE, ...expected })
  })
}

test('layers of edits: after the last none, the last one that says anything wins, field by field', () => {
  const fields = fc.record(
    {
      maxInputs: fc.integer({ min: 1, max: 64 }),
      markup: fc.boolean(),
      bodies: fc.constantFrom<EditBody[]>(['json'], ['multipart', 'json']),
    },
    { requiredKeys: [] },
  )
  const layer = fc.oneof(fields, fc.constant('none' as const), fc.constant(undefined))
  fc.assert(
    fc.property(fc.array(layer), (layers) => {
      const { edits } = resolveImageCapabilities(layers.map((said) => said && { edits: said }))
      const last = layers.findLast((said) => said !== undefined)
      assert.equal(edits === undefined, last === undefined || last === 'none')
      if (edits === undefined) return
      const counting = layers.slice(layers.lastIndexOf('none') + 1).filter((said) => typeof said === 'object')
      for (const field of ['maxInputs', 'markup', 'bodies'] as const) {
        const sayer = counting.findLast((said) => said[field] !== undefined)
        assert.deepEqual(edits[field], sayer?.[field] ?? ONE_PICTURE[field])
      }
    }),
  )
})

test('edits of a deployment come from provider, model and torana.yaml', () => {
  const edits = (deployment: string) => deploymentIn(onAcme('', deployment)).capabilities.edits
  assert.equal(edits(''), undefined)
  assert.equal(edits(', capabilities: { edits: none }'), undefined)
  assert.deepEqual(edits(', capabilities: { edits: {} }'), ONE_PICTURE)
  assert.deepEqual(
    edits(
      ', capabilities: { edits: { maxInputs: 64, inputFormats: [png], mask: white, fidelities: [low, high], bodies: [json, multipart], maxFileBytes: 1000 } }',
    ),
    {
      maxInputs: 64,
      inputFormats: ['png'],
      mask: 'white',
      markup: false,
      fidelities: ['low', 'high'],
      bodies: ['json', 'multipart'],
      maxFileBytes: 1000,
    },
  )
})

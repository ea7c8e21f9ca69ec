import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  drawnSizes,
  faultOf,
  nearestSizes,
  ratioText,
  sizeLabels,
  sizeOf,
  textOf,
  type SizeRules,
} from './sizes.ts'

const FREE: SizeRules = {
  kind: 'free',
  values: [],
  default: '1024x1024',
  multiple_of: 16,
  min_pixels: 655_360,
  max_pixels: 8_294_400,
  max_edge: 3840,
  max_ratio: 3,
}
const LIST: SizeRules = {
  ...FREE,
  kind: 'list',
  values: ['1024x1024', '1536x1024', '1024x1536'],
  multiple_of: null,
  min_pixels: null,
  max_edge: null,
  max_ratio: null,
}

test('a wrong size is refused with the rule that it breaks', () => {
  const faults = ['1000x1024', '3856x1280', '3072x512', '512x512', '3840x3840', '1536x1024'].map((text) =>
    faultOf(sizeOf(text) ?? assert.fail(), FREE),
  )
  assert.deepEqual(faults, ['multiple', 'edge', 'ratio', 'few', 'many', undefined])
  assert.equal(faultOf({ width: 512, height: 512 }, LIST), 'listed')
  assert.equal(faultOf({ width: 0, height: 512 }, LIST), 'empty')
})

test('what is offered instead is always made', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 9999 }), (width, height) => {
      const offered = nearestSizes({ width, height }, FREE)
      assert.equal(offered.length, 2, textOf({ width, height }))
      for (const size of offered) assert.equal(faultOf(size, FREE), undefined)
    }),
  )
  assert.deepEqual(nearestSizes({ width: 1500, height: 1000 }, LIST).map(textOf), ['1536x1024', '1024x1024'])
})

test('a size that is made is the nearest to itself', () => {
  assert.equal(textOf(nearestSizes({ width: 1536, height: 1024 }, FREE)[0] ?? assert.fail()), '1536x1024')
})

test('what is drawn is made, and named by its ratio', () => {
  for (const rules of [FREE, LIST, { ...FREE, default: '512x512', min_pixels: 4096, multiple_of: 1 }])
    for (const size of drawnSizes(rules)) assert.equal(faultOf(size, rules), undefined, textOf(size))
  assert.deepEqual(sizeLabels(drawnSizes(FREE)), ['1:1', '3:2', '2:3', '16:9', '9:16'])
  const squares = { ...LIST, values: ['256x256', '512x512', '1536x1024'] }
  assert.deepEqual(sizeLabels(drawnSizes(squares)), ['256×256', '512×512', '3:2'])
  assert.equal(ratioText({ width: 1000, height: 333 }), '3.00:1')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../fault/fault.ts'
import { checkGiven, formFields } from './edit.ts'
import type { Given, GivenFile } from './given.ts'

const picture: GivenFile = {
  kind: 'file',
  sha256: 'a'.repeat(64),
  bytes: 1000,
  format: 'png',
  width: 640,
  height: 480,
  hasAlpha: false,
  isTurned: false,
}
const overlay: GivenFile = { ...picture, hasAlpha: true }
const address: Given = { kind: 'address', url: 'https://pictures.example/a.png' }

const refused: readonly (readonly [why: string, given: Parameters<typeof checkGiven>[0], param: string])[] = [
  ['no picture', { pictures: [], mask: undefined, markup: undefined }, 'image'],
  ['mask and markup', { pictures: [picture], mask: overlay, markup: overlay }, 'markup'],
  ['a mask without transparency', { pictures: [picture], mask: picture, markup: undefined }, 'mask'],
  [
    'a JPEG as mask',
    { pictures: [picture], mask: { ...picture, format: 'jpeg' }, markup: undefined },
    'mask',
  ],
  [
    'a mask of another size',
    { pictures: [picture], mask: { ...overlay, width: 639 }, markup: undefined },
    'mask',
  ],
  [
    'a mask turned against its picture',
    { pictures: [picture], mask: { ...overlay, width: 480, height: 640 }, markup: undefined },
    'mask',
  ],
  [
    'a markup of another size',
    { pictures: [picture], mask: undefined, markup: { ...overlay, height: 1 } },
    'markup',
  ],
]

for (const [why, given, param] of refused) {
  test(`an edit is refused for ${why}, naming ${param}`, () => {
    assert.throws(
      () => checkGiven(given),
      (error) => error instanceof Fault && error.param === param && error.entry.status === 400,
    )
  })
}

test('a mask of the first picture’s size is taken, as that is stored or as it is shown', () => {
  checkGiven({ pictures: [picture], mask: overlay, markup: undefined })
  const turned = { ...picture, isTurned: true }
  checkGiven({ pictures: [turned], mask: { ...overlay, width: 480, height: 640 }, markup: undefined })
  checkGiven({ pictures: [turned], mask: overlay, markup: undefined })
})

test('nothing is claimed of what is only an address', () => {
  checkGiven({ pictures: [address], mask: overlay, markup: undefined })
  checkGiven({ pictures: [picture], mask: address, markup: undefined })
})

test('a form’s texts become the numbers and switches they stand for, and nothing else', () => {
  const read = formFields([
    ['n', '2'],
    ['output_compression', '80'],
    ['partial_images', '0'],
    ['stream', 'true'],
    ['prompt', '42'],
    ['quality', 'true'],
    ['seed', '7'],
    ['__proto__', 'x'],
  ])
  assert.deepEqual(
    { ...read },
    {
      n: 2,
      output_compression: 80,
      partial_images: 0,
      stream: true,
      prompt: '42',
      quality: 'true',
      seed: '7',
      ['__proto__']: 'x',
    },
  )
})

test('what is no number in a number’s place stays as it was written, to be refused by name', () => {
  for (const text of ['two', '0x2', '1e3', '', ' 2', 'NaN', '9'.repeat(30)])
    assert.equal(formFields([['n', text]])['n'], text)
  assert.equal(formFields([['stream', 'yes']])['stream'], 'yes')
  // As Python writes them.
  for (const [text, value] of [
    ['True', true],
    ['False', false],
  ] as const)
    assert.equal(formFields([['stream', text]])['stream'], value)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anImageDeployment, anImageModel, anImageRequest } from '#test/support/images.ts'
import type { DialectName, ImageEdits } from '../catalog/catalog.ts'
import { Fault } from '../fault/fault.ts'
import type { GivenFile, ImageEdit } from './given.ts'
import { negotiateImages, type ImageOffer } from './negotiate.ts'

const picture: GivenFile = {
  kind: 'file',
  sha256: 'a'.repeat(64),
  bytes: 1000,
  format: 'jpeg',
  width: 640,
  height: 480,
  hasAlpha: false,
  isTurned: false,
}
const mask: GivenFile = { ...picture, format: 'png', hasAlpha: true }
const address = { kind: 'address', url: 'https://pictures.example/a.png' } as const

const edits: ImageEdits = {
  maxInputs: 2,
  inputFormats: ['png', 'jpeg'],
  mask: 'alpha',
  markup: false,
  fidelities: ['high'],
  bodies: ['multipart', 'json'],
  maxFileBytes: 5000,
}

interface Asking {
  readonly edit?: Partial<ImageEdit>
  readonly edits?: Partial<ImageEdits>
  readonly dialect?: DialectName
  readonly unsupported?: 'refuse' | 'drop'
}

function offer(asking: Asking): ImageOffer {
  const usual = anImageDeployment()
  const deployment = {
    ...usual,
    upstream: { ...usual.upstream, dialect: asking.dialect ?? 'openai' },
    capabilities: { ...usual.capabilities, edits: { ...edits, ...asking.edits } },
  }
  const edit = {
    pictures: [picture],
    mask: undefined,
    markup: undefined,
    fidelity: undefined,
    ...asking.edit,
  }
  const { offers } = negotiateImages(
    anImageRequest({ edit }),
    anImageModel({ deployments: [deployment] }),
    asking.unsupported ?? 'refuse',
    { bufferedEditBytes: 2500 },
  )
  return offers[0] as ImageOffer
}

test('pictures go as files to who takes files, and addresses only in JSON', () => {
  assert.deepEqual(offer({}).edit, { body: 'multipart', maskColour: undefined, fidelity: undefined })
  assert.deepEqual(offer({ edits: { bodies: ['json'] } }).edit, {
    body: 'json',
    maskColour: undefined,
    fidelity: undefined,
  })
  assert.equal(offer({ edit: { pictures: [address] } }).edit?.body, 'json')
})

test('a mask is translated for who marks by colour, and that is said', () => {
  for (const colour of ['white', 'black'] as const) {
    const made = offer({ edit: { mask }, edits: { mask: colour } })
    assert.equal(made.edit?.maskColour, colour)
    assert.deepEqual(made.emulated, ['mask'])
  }
  const native = offer({ edit: { mask } })
  assert.equal(native.edit?.maskColour, undefined)
  assert.deepEqual(native.emulated, [])
})

const refused: readonly (readonly [why: string, asking: Asking, param: string])[] = [
  ['more pictures than it reads', { edit: { pictures: [picture, picture, picture] } }, 'image'],
  ['a mask that it would ignore', { edit: { mask }, edits: { mask: undefined } }, 'mask'],
  [
    'a mask to translate of which there is only an address',
    { edit: { mask: address }, edits: { mask: 'white' } },
    'mask',
  ],
  ['markup that it would ignore', { edit: { markup: mask } }, 'markup'],
  ['a fidelity that it does not have', { edit: { fidelity: 'low' } }, 'input_fidelity'],
  ['a format that it does not read', { edit: { pictures: [{ ...picture, format: 'webp' }] } }, 'image'],
  ['a file larger than it takes', { edit: { pictures: [{ ...picture, bytes: 5001 }] } }, 'image'],
  [
    'an address where only files go',
    { edit: { pictures: [address] }, edits: { bodies: ['multipart'] } },
    'image',
  ],
  ['an address on a wire of packages', { edit: { pictures: [address] }, dialect: 'ai-sdk' }, 'image'],
  [
    'more bytes than memory is for',
    { edit: { pictures: [picture, { ...picture, bytes: 1501 }] }, dialect: 'ai-sdk' },
    'image',
  ],
]

for (const [why, asking, param] of refused) {
  test(`an edit is refused for ${why}, whatever may be dropped`, () => {
    assert.throws(
      () => offer(asking),
      (error) => error instanceof Fault && error.code === 'unsupported_parameter' && error.param === param,
    )
    if (param !== 'input_fidelity') assert.throws(() => offer({ ...asking, unsupported: 'drop' }), Fault)
  })
}

test('a model that makes pictures from text alone says so', () => {
  assert.throws(
    () =>
      negotiateImages(
        anImageRequest({
          edit: { pictures: [picture], mask: undefined, markup: undefined, fidelity: undefined },
        }),
        anImageModel(),
        'drop',
      ),
    { code: 'unsupported_parameter', param: 'image' },
  )
})

test('a fidelity may be left out by who allows it', () => {
  const { edit } = offer({ edit: { fidelity: 'low' }, unsupported: 'drop' })
  assert.ok(edit)
  assert.equal(edit.fidelity, undefined)
  assert.equal(offer({ edit: { fidelity: 'high' } }).edit?.fidelity, 'high')
})

test('a mask in a format that is not read is no obstacle where it is made into another', () => {
  const webp: GivenFile = { ...mask, format: 'webp' }
  assert.equal(offer({ edit: { mask: webp }, edits: { mask: 'white' } }).edit?.maskColour, 'white')
  assert.throws(() => offer({ edit: { mask: webp } }), { param: 'mask' })
})

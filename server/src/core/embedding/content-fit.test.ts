import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDeployment } from '#test/support/deployments.ts'
import { aModel } from '#test/support/models.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ContentCapabilities } from '../catalog/content-capabilities.ts'
import { Fault } from '../fault/fault.ts'
import type { Content, Media, Part } from '../content/content.ts'
import { fittedTo } from './content-fit.ts'

const CAPABILITIES: ContentCapabilities = {
  wire: 'gemini',
  inputs: ['text', 'image', 'audio', 'file'],
  fuses: true,
  maxParts: 3,
  maxImages: 2,
  maxPartBytes: 1000,
  maxPixels: 10_000,
  maxSeconds: 30,
  maxPages: 6,
  formats: ['png', 'wav', 'pdf'],
  fetches: false,
}

const model = (id: string, contents: Partial<ContentCapabilities> | undefined) =>
  aModel({
    id,
    deployments: [
      aDeployment({
        id: `${id}/one`,
        upstreamModel: id,
        capabilities: contents === undefined ? {} : { contents: { ...CAPABILITIES, ...contents } },
      }),
    ],
  })

const media = (kind: Media['kind'], format: Media['format'], facts: Partial<Media> = {}): Part => ({
  kind,
  media: { kind, format, size: 10, sha256: 'aa', async *open() {}, ...facts },
})
const PNG = media('image', 'png')
const TEXT: Part = { kind: 'text', text: 'a' }
const ADDRESS: Part = { kind: 'image', address: 'https://a.example' }

const REFUSED: readonly [
  name: string,
  parts: readonly Part[],
  contents: Partial<ContentCapabilities> | undefined,
  code: string,
  param: string,
][] = [
  ['an image for a text model', [TEXT, PNG], undefined, 'part_unsupported', 'input[0].content[1]'],
  ['a kind that is not taken', [media('video', 'mp4')], {}, 'part_unsupported', 'input[0].content[0]'],
  ['a format that is not taken', [media('image', 'webp')], {}, 'part_unsupported', 'input[0].content[0]'],
  ['an address', [ADDRESS], {}, 'part_unsupported', 'input[0].content[0]'],
  ['two parts without fusing', [TEXT, PNG], { fuses: false }, 'parts_not_fusible', 'input[0]'],
  ['four parts of three', [TEXT, TEXT, TEXT, TEXT], {}, 'too_many_parts', 'input[0]'],
  ['three images of two', [PNG, PNG, PNG], {}, 'too_many_parts', 'input[0]'],
  ['too many bytes', [media('image', 'png', { size: 1001 })], {}, 'media_too_large', 'input[0].content[0]'],
  [
    'too many pixels',
    [media('image', 'png', { width: 101, height: 100 })],
    {},
    'media_too_large',
    'input[0].content[0]',
  ],
  [
    'too many seconds',
    [media('audio', 'wav', { seconds: 30.1 })],
    {},
    'media_too_large',
    'input[0].content[0]',
  ],
  ['too many pages', [media('file', 'pdf', { pages: 7 })], {}, 'media_too_large', 'input[0].content[0]'],
  ['too many bytes in all parts', [PNG, TEXT, PNG], { maxCallBytes: 19 }, 'media_too_large', 'input[0]'],
  [
    'an address beside data on a wire that takes one of them',
    [PNG, ADDRESS],
    { wire: 'voyage', fetches: true },
    'part_unsupported',
    'input[0]',
  ],
  ['two texts on Titan', [TEXT, TEXT], { wire: 'titan' }, 'parts_not_fusible', 'input[0]'],
  [
    'a video as data on DashScope',
    [media('video', 'mp4')],
    { wire: 'dashscope', inputs: ['video'], formats: ['mp4'] },
    'part_unsupported',
    'input[0].content[0]',
  ],
]

const catalogOf = (...models: readonly ReturnType<typeof model>[]): Catalog =>
  ({ models: new Map(models.map((one) => [one.id, one])), retired: new Map() }) as unknown as Catalog

const everything = model('takes-all', {
  inputs: ['text', 'image', 'audio', 'video', 'file'],
  formats: ['png', 'webp', 'wav', 'mp4', 'pdf'],
  fetches: true,
  maxParts: 64,
  maxImages: undefined,
  maxPartBytes: undefined,
  maxPixels: undefined,
  maxSeconds: undefined,
  maxPages: undefined,
})

for (const [name, parts, contents, code, param] of REFUSED)
  test(`${name} is refused with ${code}, and the message names the models that take it`, () => {
    const asked = model('asked', contents)
    const catalog = catalogOf(asked, everything, model('texts-only', undefined))
    const all: readonly Content[] = [{ parts }]
    assert.throws(
      () => fittedTo(asked, all, { catalog, mayUse: () => true }),
      (error) =>
        error instanceof Fault &&
        error.code === code &&
        error.param === param &&
        error.message.includes('take it: takes-all.'),
    )
    assert.equal(fittedTo(everything, all, { catalog, mayUse: () => true }).deployments.length, 1)
  })

test('a text before an image is not what a text model refuses, and texts alone are not fused by it', () => {
  const asked = model('asked', undefined)
  const installed = { catalog: catalogOf(asked), mayUse: () => true }
  for (const [contents, code, param] of [
    [[{ parts: [TEXT] }, { parts: [TEXT, PNG] }], 'part_unsupported', 'input[1].content[1]'],
    [[{ parts: [TEXT] }, { parts: [TEXT, TEXT] }], 'parts_not_fusible', 'input[1]'],
  ] as const)
    assert.throws(
      () => fittedTo(asked, contents, installed),
      (error) => error instanceof Fault && error.code === code && error.param === param,
    )
})

test('a model that the key may not use is not named', () => {
  const asked = model('asked', undefined)
  const catalog = catalogOf(asked, everything)
  assert.throws(
    () => fittedTo(asked, [{ parts: [PNG] }], { catalog, mayUse: ({ id }) => id !== 'takes-all' }),
    (error) => error instanceof Fault && error.message.endsWith('No other model of this gateway takes it.'),
  )
})

test('only the deployments that take all contents remain', () => {
  const both = aModel({
    id: 'both',
    deployments: [
      aDeployment({ id: 'both/texts', capabilities: {} }),
      aDeployment({ id: 'both/images', capabilities: { contents: CAPABILITIES } }),
    ],
  })
  const fitted = fittedTo(both, [{ parts: [PNG] }], { catalog: catalogOf(both), mayUse: () => true })
  assert.deepEqual(
    fitted.deployments.map(({ id }) => id),
    ['both/images'],
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anImageDeployment, anImageModel, anImageRequest, type ImageOverrides } from '#test/support/images.ts'
import type { ImageFacts } from '../catalog/catalog.ts'
import { negotiateImages, type ImageOffer } from './negotiate.ts'
import { conversionFor, correctedOptions } from './output.ts'
import type { ImageRequest } from './request.ts'

/** What the deployment is, and what the model, beside the usual. */
type Others = readonly [deployment?: ImageOverrides, facts?: Partial<ImageFacts>]

function offerFor(
  asked: Partial<ImageRequest>,
  [deployment = {}, facts = {}]: Others = [],
  unsupported: 'refuse' | 'drop' = 'refuse',
) {
  const model = anImageModel({ facts, deployments: [anImageDeployment(deployment)] })
  const { offers, dropped } = negotiateImages(anImageRequest(asked), model, unsupported)
  assert.equal(offers.length, 1)
  return { offer: offers[0] as ImageOffer, dropped }
}

const px = (width: number, height: number) => ({ width, height })
const can = (capabilities: ImageOverrides['capabilities'] & object): ImageOverrides => ({ capabilities })
const freeSizes = can({
  sizes: {
    kind: 'free',
    default: px(1024, 1024),
    multipleOf: 16,
    minPixels: 655_360,
    maxPixels: 8_294_400,
    maxEdge: 3840,
    maxRatio: 3,
  },
})
const wide = { ...px(1344, 768), aspectRatio: '16:9', resolution: '1K' }
const ratios = can({ sizes: { kind: 'list', values: [{ ...px(1024, 1024), aspectRatio: '1:1' }, wide] } })
const anySize = can({ sizes: { kind: 'any', default: px(1, 1) } })
const jpegFirst = can({ formats: ['jpeg', 'png'] })
const plainJpegFirst = can({ formats: ['jpeg', 'png'], compression: false })
const pngOnly = can({ formats: ['png'], compression: false })
const unknownFormats = can({ formats: [] })
const urlsOnly = can({ forms: ['url'] })
const noStream = can({ stream: false })
const previews = can({ passedFormats: ['gif', 'svg'] })
const azure: ImageOverrides = { ...previews, upstream: { dialect: 'azure' } }
const typed: ImageOverrides = { ...previews, upstream: { dialect: 'ai-sdk' } }
const who = { user: 'u', safetyIdentifier: 's' }
const noUser = { user: undefined, safetyIdentifier: undefined }
const words = { quality: 'high', background: 'transparent', moderation: 'low' }
const whole = { partialImages: undefined }
const asItComes = { format: undefined, conversion: undefined }
const made = (format: 'png' | 'jpeg' | 'webp', quality?: number) => ({ conversion: { format, quality } })

type Served = readonly [
  title: string,
  asked: Partial<ImageRequest>,
  /** Parameters that Torana emulates; none: the deployment does all of it natively. */
  emulated: readonly string[],
  expected: Partial<ImageOffer>,
  ...Others,
]
const served: readonly Served[] = [
  ['nothing asked for', {}, [], { perCall: [1], size: undefined, ...asItComes, ...whole }],
  ['pictures of one call', { images: 4 }, [], { perCall: [4] }],
  ['a size of the list', { size: px(1536, 1024) }, [], { size: px(1536, 1024) }],
  ['a size that is asked for by its ratio', { size: px(1344, 768) }, [], { size: wide }, ratios],
  ['a free size at its bounds', { size: px(3840, 2160) }, [], { size: px(3840, 2160) }, freeSizes],
  ['any size where the upstream is the judge', { size: px(7, 9) }, [], { size: px(7, 9) }, anySize],
  ['words of the lists', words, [], words],
  ['the format that comes unasked', { format: 'png' }, [], asItComes],
  ['another format it makes', { format: 'webp' }, [], { format: 'webp', conversion: undefined }],
  ['compression', { format: 'jpeg', compression: 60 }, [], { format: 'jpeg', compression: 60 }],
  [
    'compression of what comes unasked',
    { compression: 60 },
    [],
    { ...asItComes, compression: 60 },
    jpegFirst,
  ],
  ['no loss, of what has none', { format: 'png', compression: 100 }, [], { compression: undefined }],
  ['a URL where they come as such', { form: 'url' }, [], {}, urlsOnly],
  ['a stream', { stream: true }, [], { partialImages: 0 }],
  ['a stream with previews', { stream: true, partialImages: 3, images: 4 }, [], { partialImages: 3 }],
  ['who it is for', who, [], who],
  ['who it is for, absorbed', who, [], noUser, can({ user: false })],
  ['unknown fields on the OpenAI wire', { extraFields: { seed: 1 } }, [], { extraFields: { seed: 1 } }],
  [
    'a format only the upstream knows',
    { format: 'gif' },
    [],
    { ...asItComes, correction: undefined, extraFields: { output_format: 'gif' } },
    previews,
  ],
  ['the same on Azure', { format: 'svg' }, [], { extraFields: { output_format: 'svg' } }, azure],

  ['more pictures than one call makes', { images: 10 }, ['n'], { perCall: [4, 4, 2] }],
  [
    'a format it does not make',
    { format: 'webp' },
    ['output_format'],
    { format: undefined, ...made('webp') },
    pngOnly,
  ],
  [
    'that and its compression',
    { format: 'webp', compression: 40 },
    ['output_format', 'output_compression'],
    { compression: undefined, ...made('webp', 40) },
    pngOnly,
  ],
  [
    'compression it does not take, made from what lost nothing',
    { compression: 40 },
    ['output_compression'],
    { format: 'png', compression: undefined, ...made('jpeg', 40) },
    plainJpegFirst,
  ],
  [
    'a lossless source for a third format',
    { format: 'webp' },
    ['output_format'],
    { format: 'png', ...made('webp') },
    jpegFirst,
  ],
  [
    'a format where it is unknown what it makes',
    { format: 'png' },
    ['output_format'],
    { format: undefined, ...made('png') },
    unknownFormats,
  ],
  ['a URL', { form: 'url' }, ['response_format'], {}],
  ['a URL because the model answers so', {}, ['response_format'], {}, {}, { answersWith: 'url' }],
  ['base64 from URLs', { form: 'b64_json' }, ['response_format'], {}, urlsOnly],
  ['a stream from one that has none', { stream: true }, ['stream'], whole, noStream],
  ['a stream of several calls', { stream: true, images: 5 }, ['n', 'stream'], whole],
  [
    'a stream of converted pictures',
    { stream: true, format: 'jpeg' },
    ['output_format', 'stream'],
    whole,
    pngOnly,
  ],
  ['a stream of a GIF', { stream: true, format: 'gif' }, ['stream'], whole, previews],
  ['previews where there are none', { stream: true, partialImages: 2 }, ['stream'], whole, noStream],
  [
    'more previews than it sends',
    { stream: true, partialImages: 3 },
    ['partial_images'],
    { partialImages: 2 },
    can({ maxPartialImages: 2 }),
  ],
  [
    'previews of converted pictures',
    { stream: true, partialImages: 1, format: 'webp' },
    ['output_format', 'stream'],
    whole,
    pngOnly,
  ],
  ['previews of several calls', { stream: true, partialImages: 1, images: 5 }, ['n', 'stream'], whole],
  [
    'several calls with a field that is known to be harmless',
    { images: 5, extraFields: { style: 'x' } },
    ['n'],
    { perCall: [4, 1], extraFields: { style: 'x' } },
    can({ harmlessFields: ['style'] }),
  ],
]
for (const [title, asked, emulated, expected, ...others] of served)
  test(`${emulated.length === 0 ? 'native' : 'emulated'}: ${title}`, () => {
    const { offer, dropped } = offerFor(asked, others)
    assert.deepEqual({ ...offer, ...expected }, offer)
    assert.deepEqual([offer.emulated, dropped], [emulated, []])
  })

type Refusal = readonly [title: string, asked: Partial<ImageRequest>, message: RegExp, ...Others]
const freeSize = (width: number, height: number, why: string, message: RegExp): Refusal => [
  `a free size ${why}`,
  { size: px(width, height) },
  message,
  freeSizes,
]
const refusals: Readonly<Record<string, readonly Refusal[]>> = {
  size: [
    [
      'a size that is not in the list',
      { size: px(1000, 1000) },
      /1000x1000; 'image-1' makes: 1024x1024, 1536x1024, 1024x1536, or auto/,
    ],
    freeSize(1000, 1024, 'off its grid', /multiples of 16 .*1024x1024 works, or auto/),
    freeSize(3856, 2048, 'with too long an edge', /longer than 3840/),
    freeSize(3200, 1024, 'too narrow', /at most 3 times/),
    freeSize(640, 640, 'too small', /409600 pixels, and 655360 is the least/),
    freeSize(3840, 3840, 'too large', /14745600 pixels, and 8294400 is the most/),
  ],
  quality: [
    ['a quality it lacks', { quality: 'ultra' }, /no quality "ultra"\. It takes: low, medium, high, auto/],
    [
      'any quality where there is none',
      { quality: 'hd' },
      /no quality setting\. Remove quality/,
      can({ qualities: [] }),
    ],
  ],
  moderation: [
    [
      'moderation where there is none',
      { moderation: 'low' },
      /no moderation setting/,
      can({ moderations: [] }),
    ],
  ],
  background: [
    ['a background it lacks', { background: 'blue' }, /transparent, opaque, auto/],
    [
      'a transparent JPEG',
      { background: 'transparent', format: 'jpeg' },
      /output_format is jpeg, which has no transparency\. Send output_format png or webp/,
    ],
    [
      'transparency where JPEG comes unasked',
      { background: 'transparent' },
      /makes jpeg by default.*png or webp/,
      jpegFirst,
    ],
    [
      'transparency where everything is JPEG',
      { background: 'transparent', format: 'png' },
      /makes only jpeg.*Remove background/,
      can({ formats: ['jpeg'] }),
    ],
  ],
  output_format: [
    [
      'a format that neither side makes',
      { format: 'gif' },
      /"gif", which neither 'image-1' nor Torana can make\. Send png, jpeg or webp/,
      typed,
    ],
    ['a format that no upstream is known to make', { format: 'bmp' }, /"bmp".* Send png, jpeg or webp\./],
    ['a preview that the deployment does not list', { format: 'gif' }, /Send png, jpeg or webp\./],
    ['a word beside its previews', { format: 'tiff' }, /Send png, jpeg, webp, gif or svg\./, previews],
  ],
  output_compression: [
    ['compression of a PNG', { compression: 50 }, /50, but .* png; .*jpeg or webp/],
    ['compression of a GIF', { compression: 50, format: 'gif' }, /would be gif/, previews],
    ['compression of an unknown format', { compression: 50 }, /in the default format/, unknownFormats],
  ],
  seed: [
    [
      'an unknown field on a typed wire',
      { extraFields: { seed: 1 } },
      /does not know the field 'seed'.*Remove it/,
      typed,
    ],
    [
      'an unknown field in several calls',
      { images: 5, extraFields: { seed: 1 } },
      /n is 5, but .* makes 4 per call.*'seed'.*Send n 4, or remove 'seed'/,
    ],
  ],
}
for (const [param, rows] of Object.entries(refusals))
  for (const [title, asked, message, ...others] of rows)
    test(`refused, and left out only if that is allowed: ${title}`, () => {
      assert.throws(() => offerFor(asked, others), { code: 'unsupported_parameter', param, message })
      const { offer, dropped } = offerFor(asked, others, 'drop')
      assert.deepEqual(dropped, [param])
      assert.ok(!offer.emulated.includes(param))
    })

test('only an image that comes in another format than its upstream was asked for is corrected', () => {
  const rows: [
    Partial<ImageRequest>,
    Others,
    came: string,
    expected: ReturnType<typeof conversionFor>,
    emulated?: string[],
  ][] = [
    [{ format: 'jpeg' }, [], 'jpeg', undefined],
    [{ format: 'jpeg' }, [], 'png', { format: 'jpeg', quality: undefined }, ['output_format']],
    [
      { format: 'jpeg', compression: 40 },
      [],
      'webp',
      { format: 'jpeg', quality: 40 },
      ['output_format', 'output_compression'],
    ],
    [{ format: 'jpeg', compression: 40 }, [], 'jpeg', undefined],
    [{ format: 'png' }, [pngOnly], 'webp', { format: 'png', quality: undefined }, ['output_format']],
    // Nothing was asked for, the manifest must stay, or the codec does not read it.
    [{}, [], 'webp', undefined],
    [{ format: 'jpeg', provenance: 'keep' }, [], 'png', undefined],
    [{ format: 'jpeg' }, [], 'gif', undefined],
    [{ format: 'jpeg' }, [], 'unknown', undefined],
    [{ format: 'gif' }, [previews], 'png', undefined],
    // Torana meant to convert from the start.
    [{ format: 'webp' }, [pngOnly], 'png', { format: 'webp', quality: undefined }],
    [{ format: 'webp' }, [pngOnly], 'webp', undefined],
    [{ format: 'webp', compression: 5 }, [pngOnly], 'webp', { format: 'webp', quality: 5 }],
  ]
  for (const [asked, others, came, expected, emulated] of rows) {
    const { offer } = offerFor(asked, others)
    assert.deepEqual(conversionFor(offer, came), expected, JSON.stringify([asked, came]))
    if (emulated && expected) assert.deepEqual(correctedOptions(expected), emulated)
  }
})

test('a prompt that is longer than the model reads is refused, whatever may be dropped', () => {
  for (const unsupported of ['refuse', 'drop'] as const) {
    assert.throws(() => offerFor({ prompt: 'abc' }, [{}, { maxPromptCharacters: 2 }], unsupported), {
      code: 'invalid_parameter',
      param: 'prompt',
      message: /2 characters/,
    })
  }
})

test('what several options would break is dropped one after the other, each once', () => {
  const asked = { quality: 'x', moderation: 'y', size: { width: 1, height: 1 }, extraFields: { a: 1, b: 2 } }
  const { offer, dropped } = offerFor(asked, [typed], 'drop')
  assert.deepEqual(dropped.toSorted(), ['a', 'b', 'moderation', 'quality', 'size'])
  assert.deepEqual(
    [offer.quality, offer.moderation, offer.size, offer.extraFields],
    [undefined, undefined, undefined, {}],
  )
})

test('a field that the upstream is known to refuse is refused by name, or dropped where that is allowed', () => {
  const gptImage: ImageOverrides = { capabilities: { refusedFields: ['style'] } }
  assert.throws(() => offerFor({ extraFields: { style: 'vivid' } }, [gptImage]), {
    code: 'unsupported_parameter',
    param: 'style',
    message: /x-torana-unsupported: drop to leave it out\.$/,
  })
  const legacy = { quality: 'standard', extraFields: { style: 'vivid', seed: 7 } }
  const { offer, dropped } = offerFor(legacy, [gptImage], 'drop')
  assert.deepEqual(dropped, ['quality', 'style'])
  assert.deepEqual([offer.quality, offer.extraFields], [undefined, { seed: 7 }])
})

test('one able deployment suffices, and nothing is dropped for the others', () => {
  const deployments = [
    anImageDeployment({ id: 'small', capabilities: { qualities: [] } }),
    anImageDeployment({ id: 'able' }),
    anImageDeployment({ id: 'also' }),
  ]
  const { offers, dropped } = negotiateImages(
    anImageRequest({ quality: 'high' }),
    anImageModel({ deployments }),
    'drop',
  )
  assert.deepEqual(
    offers.map(({ deployment }) => deployment.id),
    ['able', 'also'],
  )
  assert.deepEqual(dropped, [])
})

test('a model without a deployment is our own fault', () => {
  assert.throws(() => negotiateImages(anImageRequest(), anImageModel({ deployments: [] }), 'drop'), {
    code: 'internal_error',
  })
})

test('calls add up to the pictures asked for, none larger than allowed, and are as few as can be', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 20 }), (images, maxImages) => {
      const { offer } = offerFor({ images }, [can({ maxImages })])
      assert.equal(
        offer.perCall.reduce((sum, count) => sum + count, 0),
        images,
      )
      assert.ok(offer.perCall.every((count) => count >= 1 && count <= maxImages))
      assert.equal(offer.perCall.length, Math.ceil(images / maxImages))
      assert.equal(offer.emulated.includes('n'), images > maxImages)
    }),
  )
})

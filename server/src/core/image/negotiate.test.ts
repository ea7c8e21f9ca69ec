import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anImageDeployment, anImageModel, anImageRequest, type ImageOverrides } from '#test/support/images.ts'
import type { ImageFacts } from '../catalog.ts'
import { Fault } from '../fault/fault.ts'
import { negotiateImages, type ImageOffer } from './negotiate.ts'
import type { ImageRequest } from './request.ts'

type Case = readonly [
  title: string,
  asked: Partial<ImageRequest>,
  deployment?: ImageOverrides,
  facts?: Partial<ImageFacts>,
]

function offerFor([, asked, deployment = {}, facts = {}]: Case, unsupported: 'refuse' | 'drop' = 'refuse') {
  const model = anImageModel({ facts, deployments: [anImageDeployment(deployment)] })
  const { offers, dropped } = negotiateImages(anImageRequest(asked), model, unsupported)
  assert.equal(offers.length, 1)
  return { offer: offers[0] as ImageOffer, dropped }
}

const free = {
  kind: 'free',
  default: { width: 1024, height: 1024 },
  multipleOf: 16,
  minPixels: 655_360,
  maxPixels: 8_294_400,
  maxEdge: 3840,
  maxRatio: 3,
} as const
const wide = { width: 1344, height: 768, aspectRatio: '16:9', resolution: '1K' } as const
const ratios = { kind: 'list', values: [{ width: 1024, height: 1024, aspectRatio: '1:1' }, wide] } as const
const jpegFirst = { capabilities: { formats: ['jpeg', 'png'] } } as const
const pngOnly = { capabilities: { formats: ['png'], compression: false } } as const
const typed = { upstream: { dialect: 'ai-sdk' } } as const

const nativeCases: readonly (readonly [Case, Partial<ImageOffer>])[] = [
  [
    ['nothing asked for', {}],
    { perCall: [1], size: undefined, format: undefined, partialImages: undefined, conversion: undefined },
  ],
  [['pictures of one call', { images: 4 }], { perCall: [4] }],
  [['a size of the list', { size: { width: 1536, height: 1024 } }], { size: { width: 1536, height: 1024 } }],
  [
    [
      'a size that is asked for by its ratio',
      { size: { width: 1344, height: 768 } },
      { capabilities: { sizes: ratios } },
    ],
    { size: wide },
  ],
  [
    ['a free size at its bounds', { size: { width: 3840, height: 2160 } }, { capabilities: { sizes: free } }],
    { size: { width: 3840, height: 2160 } },
  ],
  [
    [
      'any size where the upstream is the judge',
      { size: { width: 7, height: 9 } },
      { capabilities: { sizes: { kind: 'any', default: { width: 1, height: 1 } } } },
    ],
    { size: { width: 7, height: 9 } },
  ],
  [
    ['words of the lists', { quality: 'high', background: 'transparent', moderation: 'low' }],
    { quality: 'high', background: 'transparent', moderation: 'low' },
  ],
  [['the format that comes unasked', { format: 'png' }], { format: undefined, conversion: undefined }],
  [['another format it makes', { format: 'webp' }], { format: 'webp', conversion: undefined }],
  [['compression', { format: 'jpeg', compression: 60 }], { format: 'jpeg', compression: 60 }],
  [
    ['compression of what comes unasked', { compression: 60 }, jpegFirst],
    { format: undefined, compression: 60 },
  ],
  [['no loss, of what has none', { format: 'png', compression: 100 }], { compression: undefined }],
  [['a URL where they come as such', { form: 'url' }, { capabilities: { forms: ['url'] } }], {}],
  [['a stream', { stream: true }], { partialImages: 0 }],
  [['a stream with previews', { stream: true, partialImages: 3, images: 4 }], { partialImages: 3 }],
  [['who it is for', { user: 'u', safetyIdentifier: 's' }], { user: 'u', safetyIdentifier: 's' }],
  [
    ['who it is for, absorbed', { user: 'u', safetyIdentifier: 's' }, { capabilities: { user: false } }],
    { user: undefined, safetyIdentifier: undefined },
  ],
  [['unknown fields on the OpenAI wire', { extraFields: { seed: 1 } }], { extraFields: { seed: 1 } }],
  [
    ['a format only the upstream knows', { format: 'gif' }],
    { format: undefined, extraFields: { output_format: 'gif' }, conversion: undefined },
  ],
  [
    ['the same on Azure', { format: 'svg' }, { upstream: { dialect: 'azure' } }],
    { extraFields: { output_format: 'svg' } },
  ],
]
for (const [given, expected] of nativeCases) {
  test(`native: ${given[0]}`, () => {
    const { offer, dropped } = offerFor(given)
    assert.deepEqual({ ...offer, ...expected }, offer)
    assert.deepEqual([offer.emulated, dropped], [[], []])
  })
}

const emulatedCases: readonly (readonly [Case, readonly string[], Partial<ImageOffer>])[] = [
  [['more pictures than one call makes', { images: 10 }], ['n'], { perCall: [4, 4, 2] }],
  [
    ['a format it does not make', { format: 'webp' }, pngOnly],
    ['output_format'],
    { format: undefined, conversion: { format: 'webp', quality: undefined } },
  ],
  [
    ['that and its compression', { format: 'webp', compression: 40 }, pngOnly],
    ['output_format', 'output_compression'],
    { compression: undefined, conversion: { format: 'webp', quality: 40 } },
  ],
  [
    [
      'compression it does not take, made from what lost nothing',
      { compression: 40 },
      { capabilities: { formats: ['jpeg', 'png'], compression: false } },
    ],
    ['output_compression'],
    { format: 'png', compression: undefined, conversion: { format: 'jpeg', quality: 40 } },
  ],
  [
    ['a lossless source for a third format', { format: 'webp' }, jpegFirst],
    ['output_format'],
    { format: 'png', conversion: { format: 'webp', quality: undefined } },
  ],
  [
    ['a format where nobody knows what it makes', { format: 'png' }, { capabilities: { formats: [] } }],
    ['output_format'],
    { format: undefined, conversion: { format: 'png', quality: undefined } },
  ],
  [['a URL', { form: 'url' }], ['response_format'], {}],
  [['a URL because the model answers so', {}, {}, { answersWith: 'url' }], ['response_format'], {}],
  [['base64 from URLs', { form: 'b64_json' }, { capabilities: { forms: ['url'] } }], ['response_format'], {}],
  [
    ['a stream from one that has none', { stream: true }, { capabilities: { stream: false } }],
    ['stream'],
    { partialImages: undefined },
  ],
  [['a stream of several calls', { stream: true, images: 5 }], ['n', 'stream'], { partialImages: undefined }],
  [
    ['a stream of converted pictures', { stream: true, format: 'jpeg' }, pngOnly],
    ['output_format', 'stream'],
    { partialImages: undefined },
  ],
  [['a stream of a GIF', { stream: true, format: 'gif' }], ['stream'], { partialImages: undefined }],
  [
    [
      'previews where there are none',
      { stream: true, partialImages: 2 },
      { capabilities: { stream: false } },
    ],
    ['stream'],
    { partialImages: undefined },
  ],
  [
    [
      'more previews than it sends',
      { stream: true, partialImages: 3 },
      { capabilities: { maxPartialImages: 2 } },
    ],
    ['partial_images'],
    { partialImages: 2 },
  ],
  [
    ['previews of converted pictures', { stream: true, partialImages: 1, format: 'webp' }, pngOnly],
    ['output_format', 'stream'],
    { partialImages: undefined },
  ],
  [
    ['previews of several calls', { stream: true, partialImages: 1, images: 5 }],
    ['n', 'stream'],
    { partialImages: undefined },
  ],
  [
    [
      'several calls with a field that is known to be harmless',
      { images: 5, extraFields: { style: 'x' } },
      { capabilities: { harmlessFields: ['style'] } },
    ],
    ['n'],
    { perCall: [4, 1], extraFields: { style: 'x' } },
  ],
]
for (const [given, emulated, expected] of emulatedCases) {
  test(`emulated: ${given[0]}`, () => {
    const { offer, dropped } = offerFor(given)
    assert.deepEqual({ ...offer, ...expected }, offer)
    assert.deepEqual([offer.emulated, dropped], [emulated, []])
  })
}

const freeSize = (width: number, height: number, why: string, message: RegExp): (typeof refusals)[number] => [
  [`a free size ${why}`, { size: { width, height } }, { capabilities: { sizes: free } }],
  'size',
  message,
]
const refusals: (readonly [Case, param: string, message: RegExp])[] = [
  [
    ['a size that is not in the list', { size: { width: 1000, height: 1000 } }],
    'size',
    /1000x1000; 'image-1' makes: 1024x1024, 1536x1024, 1024x1536, or auto/,
  ],
  [
    ['a quality it lacks', { quality: 'ultra' }],
    'quality',
    /no quality "ultra"\. It takes: low, medium, high, auto/,
  ],
  [
    ['any quality where there is none', { quality: 'hd' }, { capabilities: { qualities: [] } }],
    'quality',
    /no quality setting\. Remove quality/,
  ],
  [['a background it lacks', { background: 'blue' }], 'background', /transparent, opaque, auto/],
  [
    ['moderation where there is none', { moderation: 'low' }, { capabilities: { moderations: [] } }],
    'moderation',
    /no moderation setting/,
  ],
  [
    ['a transparent JPEG', { background: 'transparent', format: 'jpeg' }],
    'background',
    /output_format is jpeg, which has no transparency\. Send output_format png or webp/,
  ],
  [
    ['transparency where JPEG comes unasked', { background: 'transparent' }, jpegFirst],
    'background',
    /makes jpeg by default.*png or webp/,
  ],
  [
    [
      'transparency where everything is JPEG',
      { background: 'transparent', format: 'png' },
      { capabilities: { formats: ['jpeg'] } },
    ],
    'background',
    /makes only jpeg.*Remove background/,
  ],
  [
    ['a format nobody makes', { format: 'gif' }, typed],
    'output_format',
    /"gif", which neither 'image-1' nor Torana can make\. Send png, jpeg or webp/,
  ],
  [['compression of a PNG', { compression: 50 }], 'output_compression', /50, but .* png; .*jpeg or webp/],
  [['compression of a GIF', { compression: 50, format: 'gif' }], 'output_compression', /would be gif/],
  [
    ['compression of nobody knows what', { compression: 50 }, { capabilities: { formats: [] } }],
    'output_compression',
    /in the default format/,
  ],
  [
    ['an unknown field on a typed wire', { extraFields: { seed: 1 } }, typed],
    'seed',
    /does not know the field 'seed'.*Remove it/,
  ],
  [
    ['an unknown field in several calls', { images: 5, extraFields: { seed: 1 } }],
    'seed',
    /n is 5, but .* makes 4 per call.*'seed'.*Send n 4, or remove 'seed'/,
  ],
]
refusals.push(
  freeSize(1000, 1024, 'off its grid', /multiples of 16 .*1024x1024 works, or auto/),
  freeSize(3856, 2048, 'with too long an edge', /longer than 3840/),
  freeSize(3200, 1024, 'too narrow', /at most 3 times/),
  freeSize(640, 640, 'too small', /409600 pixels, and 655360 is the least/),
  freeSize(3840, 3840, 'too large', /14745600 pixels, and 8294400 is the most/),
)

for (const [given, param, message] of refusals) {
  test(`refused, and left out only if that is allowed: ${given[0]}`, () => {
    assert.throws(
      () => offerFor(given),
      (error) => {
        assert.ok(error instanceof Fault)
        assert.deepEqual([error.code, error.param], ['unsupported_parameter', param])
        assert.match(error.message, message)
        return true
      },
    )
    const { offer, dropped } = offerFor(given, 'drop')
    assert.deepEqual(dropped, [param])
    assert.ok(!offer.emulated.includes(param))
  })
}

test('a prompt that is longer than the model reads is refused, whatever may be dropped', () => {
  for (const unsupported of ['refuse', 'drop'] as const) {
    assert.throws(() => offerFor(['', { prompt: 'abc' }, {}, { maxPromptCharacters: 2 }], unsupported), {
      code: 'invalid_parameter',
      param: 'prompt',
      message: /2 characters/,
    })
  }
})

test('what several options would break is dropped one after the other, each once', () => {
  const asked = { quality: 'x', moderation: 'y', size: { width: 1, height: 1 }, extraFields: { a: 1, b: 2 } }
  const { offer, dropped } = offerFor(['', asked, typed], 'drop')
  assert.deepEqual(dropped.toSorted(), ['a', 'b', 'moderation', 'quality', 'size'])
  assert.deepEqual(
    [offer.quality, offer.moderation, offer.size, offer.extraFields],
    [undefined, undefined, undefined, {}],
  )
})

test('a field that the upstream is known to refuse is refused by name, or dropped where that is allowed', () => {
  const gptImage: ImageOverrides = { capabilities: { refusedFields: ['style'] } }
  assert.throws(
    () => offerFor(['', { extraFields: { style: 'vivid' } }, gptImage]),
    (error: Fault) => error.code === 'unsupported_parameter' && error.param === 'style',
  )
  const legacy = { quality: 'standard', extraFields: { style: 'vivid', seed: 7 } }
  const { offer, dropped } = offerFor(['', legacy, gptImage], 'drop')
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
      const { offer } = offerFor(['', { images }, { capabilities: { maxImages } }])
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

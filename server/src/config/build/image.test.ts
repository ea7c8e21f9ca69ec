import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { EditBody, ImageCapabilities, ImageDeployment, ImageEdits, ImageModel } from '#core/catalog.ts'
import { listModels } from '#core/catalog.ts'
import type { EditLayer } from '../schema/edit.ts'
import { builtInFacts, readFacts } from './facts.ts'
import { readConfig, readNothing } from '../load.ts'
import type { Surroundings } from '../load.ts'
import type { ImageCapabilityFields } from '../schema/model.ts'
import { ConfigError } from '../file/problem.ts'
import { resolveImageCapabilities } from './resolve.ts'

const facts = readFacts([
  {
    name: 'catalog/acme.yaml',
    text: `
provider: acme
name: Acme
dialect: openai
imageDialect: ai-sdk
baseUrl: https://api.acme.test/v1
imageCapabilities: { maxImages: 4, formats: [jpeg, png], forms: [url] }
models:
  acme-embed: { kind: embedding, embedding: { dimensions: 8 } }
  acme-image:
    kind: image
    upstreamModel: acme/image@1
    aliases: [acme-i]
    image: { maxPromptCharacters: 1000, answersWith: url, outputTokens: { 1024x1024: { low: 272, default: 4160 }, default: 6240 } }
    capabilities: { maxImages: 2, sizes: [1024x1024, { size: 1344x768, aspectRatio: '16:9', resolution: 1K }], qualities: [low, high] }
    price: { usdPerImage: { 1024x1024: { low: 0.01, default: 0.04 } }, source: 'https://acme.test/prices', asOf: 2026-11-15 }
retired:
  acme-image-0: { on: 2020-01-01, successor: acme-image }
`,
  },
])

const surroundings: Surroundings = {
  env: {},
  readFile: () => assert.fail('there are no files'),
  facts,
  bootstrapKey: undefined,
  nowMs: Date.parse('2026-11-01'),
}

function modelIn(text: string): ImageModel {
  const [model] = listModels(readConfig('t.yaml', text, surroundings).catalog)
  assert.ok(model?.kind === 'image')
  return model
}

function deploymentIn(text: string): ImageDeployment {
  const [deployment] = modelIn(text).deployments
  assert.ok(deployment)
  return deployment
}

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

const onAcme = (model: string, deployment = '') => `
upstreams: { a: { provider: acme, apiKey: k } }
models: { acme-image: { ${model} deployments: [{ upstream: a${deployment} }] } }`

const CAREFUL: ImageCapabilities = {
  maxImages: 1,
  sizes: { kind: 'any', default: { width: 1024, height: 1024 } },
  qualities: [],
  backgrounds: [],
  moderations: [],
  formats: ['png'],
  compression: false,
  forms: ['b64_json'],
  stream: false,
  maxPartialImages: 0,
  user: false,
  maxParallelCalls: 4,
  harmlessFields: [],
  edits: undefined,
}

/** What is claimed of a wire that is only said to edit. */
const ONE_PICTURE: ImageEdits = {
  maxInputs: 1,
  inputFormats: ['png', 'jpeg', 'webp'],
  mask: undefined,
  markup: false,
  fidelities: [],
  bodies: ['multipart'],
  maxFileBytes: 52_428_800,
}

test('an image deployment takes the most specific word on each capability', () => {
  assert.deepEqual(deploymentIn(onAcme('', ', capabilities: { stream: true, user: true }')).capabilities, {
    ...CAREFUL,
    maxImages: 2, // facts of the model
    sizes: {
      kind: 'list',
      values: [
        { width: 1024, height: 1024 },
        { width: 1344, height: 768, aspectRatio: '16:9', resolution: '1K' },
      ],
    },
    qualities: ['low', 'high'],
    formats: ['jpeg', 'png'], // provider
    forms: ['url'],
    stream: true, // deployment
    user: true,
  })
})

test('layers of image capabilities: the last one that says anything wins, field by field', () => {
  const layer = fc.record(
    { maxImages: fc.nat(), stream: fc.boolean(), harmlessFields: fc.array(fc.string()) },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.array(fc.option(layer, { nil: undefined })), (layers) => {
      const resolved = resolveImageCapabilities(layers)
      for (const field of ['maxImages', 'stream', 'harmlessFields'] as const) {
        const last = layers.findLast(
          (fields: ImageCapabilityFields | undefined) => fields?.[field] !== undefined,
        )
        assert.deepEqual(resolved[field], last?.[field] ?? CAREFUL[field])
      }
    }),
  )
})

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

test('an image model of one’s own needs no more than its kind, and gets the careful defaults', () => {
  const model = modelIn(`
upstreams: { a: { dialect: openai, baseUrl: 'http://x' } }
models: { mine: { kind: image, deployments: [{ upstream: a }] } }`)
  assert.deepEqual(model, {
    id: 'mine',
    kind: 'image',
    aliases: [],
    ownedBy: 'a',
    facts: {
      maxPromptCharacters: 32_000,
      answersWith: 'b64_json',
      outputTokens: undefined,
      inputImageTokens: undefined,
    },
    unsupported: 'refuse',
    managedBy: 't.yaml:3',
    deployments: [
      {
        id: 'mine/a',
        upstream: model.deployments[0]?.upstream,
        upstreamModel: 'mine',
        priority: 0,
        weight: 1,
        capabilities: CAREFUL,
        price: { kind: 'unpriced' },
        limits: undefined,
      },
    ],
  } satisfies Omit<ImageModel, 'deployments'> & { deployments: unknown })
})

test('sizes are a list, bounds with defaults, or unknown', () => {
  const sizes = (form: string) =>
    deploymentIn(onAcme('', `, capabilities: { sizes: ${form} }`)).capabilities.sizes
  const square = { width: 1024, height: 1024 }
  assert.deepEqual(sizes('[1024x1024]'), { kind: 'list', values: [square] })
  assert.deepEqual(sizes('{ any: 1024x1024 }'), { kind: 'any', default: square })
  assert.deepEqual(sizes('{ default: 1024x1024, maxEdge: 2048 }'), {
    kind: 'free',
    default: square,
    multipleOf: 1,
    minPixels: 1,
    maxPixels: 2048 * 2048,
    maxEdge: 2048,
    maxRatio: 2048,
  })
  assert.deepEqual(
    sizes(
      '{ default: 1024x1024, maxEdge: 3840, multipleOf: 16, minPixels: 655360, maxPixels: 8294400, maxRatio: 3 }',
    ),
    {
      kind: 'free',
      default: square,
      multipleOf: 16,
      minPixels: 655_360,
      maxPixels: 8_294_400,
      maxEdge: 3840,
      maxRatio: 3,
    },
  )
})

test('facts of an image model: built in, overridden one by one', () => {
  const table = new Map([
    ['1024x1024', new Map(Object.entries({ low: 272, default: 4160 }))],
    ['default', new Map([['default', 6240]])],
  ])
  assert.deepEqual(modelIn(onAcme('')).facts, {
    maxPromptCharacters: 1000,
    answersWith: 'url',
    outputTokens: table,
    inputImageTokens: undefined,
  })
  assert.deepEqual(
    modelIn(onAcme('image: { answersWith: b64_json, outputTokens: 7, inputImageTokens: 300 },')).facts,
    {
      maxPromptCharacters: 1000,
      answersWith: 'b64_json',
      outputTokens: new Map([['default', new Map([['default', 7]])]]),
      inputImageTokens: 300,
    },
  )
})

test('prices of images: deployment, then model, then the facts, then unpriced', () => {
  const price = (model: string, deployment: string) => deploymentIn(onAcme(model, deployment)).price
  const each = (nanoUsd: bigint) => ({
    kind: 'perImage',
    nanoUsd: new Map([['default', new Map([['default', nanoUsd]])]]),
    given: { kind: 'free' },
  })
  assert.deepEqual(price('price: free,', ', price: { usdPerImage: 0.02 }'), each(20_000_000n))
  assert.deepEqual(price('price: { usdPerImage: 0.03 },', ''), each(30_000_000n))
  assert.equal(price('', '').kind, 'perImage')
  assert.deepEqual(price('', ', price: unpriced'), { kind: 'unpriced' })
})

test('images and vectors of one upstream may speak different dialects', () => {
  const dialects = (upstream: string) => {
    const { catalog } = readConfig(
      't.yaml',
      `
upstreams: { a: ${upstream} }
models:
  acme-embed: { deployments: [{ upstream: a }] }
  acme-image: { deployments: [{ upstream: a }] }`,
      surroundings,
    )
    return listModels(catalog).map(({ deployments }) => {
      const { dialect, baseUrl, provider } = deployments[0]?.upstream ?? assert.fail('no deployment')
      return [dialect, baseUrl, provider]
    })
  }
  const address = 'https://api.acme.test/v1'
  const split = [
    ['openai', address, 'acme'],
    // A published address speaks the provider's own dialect; the package knows its address by itself.
    ['ai-sdk', undefined, 'acme'],
  ]
  assert.deepEqual(dialects('{ provider: acme }'), split)
  assert.deepEqual(dialects('{ provider: acme, dialect: { embedding: openai } }'), split)
  assert.deepEqual(dialects('{ provider: acme, dialect: { embedding: openai, image: ai-sdk } }'), split)
  assert.deepEqual(dialects(`{ dialect: openai, baseUrl: '${address}/' }`), [
    ['openai', address, 'acme'],
    ['ai-sdk', address, 'acme'],
  ])
  const same = ['openai', address, 'acme']
  assert.deepEqual(dialects('{ provider: acme, dialect: { embedding: openai, image: openai } }'), [
    same,
    same,
  ])
  assert.deepEqual(dialects('{ provider: acme, dialect: ai-sdk }'), [
    ['ai-sdk', undefined, 'acme'],
    ['ai-sdk', undefined, 'acme'],
  ])
  assert.deepEqual(dialects("{ dialect: openai, baseUrl: 'http://x/v1' }"), [
    ['openai', 'http://x/v1', undefined],
    ['openai', 'http://x/v1', undefined],
  ])
})

test('a field that one of two dialects knows is in its place', () => {
  const upstream = (dialect: string) =>
    problemsOf(() =>
      readConfig(
        't.yaml',
        `
upstreams: { a: { provider: acme, dialect: ${dialect}, settings: {} } }
models: { acme-image: { deployments: [{ upstream: a }] } }`,
        surroundings,
      ),
    )
  assert.deepEqual(upstream('{ embedding: openai, image: ai-sdk }'), [])
  assert.deepEqual(upstream('{ embedding: openai, image: azure }'), [
    't.yaml:2:91 upstreams.a.settings: has no meaning for dialect openai and azure: remove it',
  ])
})

test('a key may be for images alone, and a retired image model names its successor', () => {
  const { catalog } = readConfig(
    't.yaml',
    `${onAcme('aliases: [pictures],')}
projects: { p: { keys: [{ name: a, secret: ${'a'.repeat(24)}, models: [pictures] }] } }`,
    surroundings,
  )
  assert.deepEqual(catalog.projects[0]?.keys[0]?.models, ['acme-image'])
  assert.deepEqual(catalog.retired.get('acme-image-0'), {
    id: 'acme-image-0',
    on: '2020-01-01',
    successor: 'acme-image',
  })
})

test('the demo draws pictures of any size for nothing', () => {
  const { catalog } = readNothing(undefined, { ...surroundings, facts: builtInFacts() })
  const demo = catalog.models.get('demo-image')
  assert.ok(demo?.kind === 'image')
  const [deployment] = demo.deployments
  assert.equal(deployment?.upstream.dialect, 'demo')
  assert.deepEqual(deployment?.price, { kind: 'free' })
  assert.deepEqual(deployment?.capabilities, {
    ...CAREFUL,
    maxImages: 4,
    sizes: {
      kind: 'free',
      default: { width: 512, height: 512 },
      multipleOf: 1,
      minPixels: 4096,
      maxPixels: 4_194_304,
      maxEdge: 2048,
      maxRatio: 16,
    },
    backgrounds: ['opaque', 'transparent'],
    stream: true,
    maxPartialImages: 3,
    edits: { ...ONE_PICTURE, maxInputs: 16, mask: 'alpha', markup: true },
  })
})

/** Faults of an image model whose entry begins in line 4, and of an embedding model. */
const entry = (model: string, fields: string) => `
upstreams: { a: { provider: acme } }
models:
  ${model}: { deployments: [{ upstream: a }], ${fields} }
`
const capability = (model: string, field: string) => `
upstreams: { a: { provider: acme } }
models:
  ${model}: { deployments: [{ upstream: a, capabilities: { ${field} } }] }
`

const faults: Record<string, [text: string, ...problems: string[]]> = {
  'another kind than the facts say': [
    entry('acme-image', 'kind: embedding, embedding: { dimensions: 8 }'),
    '4:55 models.acme-image.kind: the built-in facts know acme-image as an image model: remove this, or use another id',
  ],
  'facts of vectors on an image model': [
    entry('acme-image', 'embedding: { dimensions: 8 }'),
    '4:60 models.acme-image.embedding: has facts of embedding models, and acme-image is an image model: remove it',
  ],
  'facts of pictures on an embedding model': [
    entry('acme-embed', 'image: { answersWith: url }'),
    '4:56 models.acme-embed.image: has facts of image models, and acme-embed is an embedding model: remove it',
  ],
  'a capability of vectors on an image model': [
    capability('acme-image', 'maxInputs: 5'),
    '4:73 models.acme-image.deployments[0].capabilities.maxInputs: is a capability of embedding models, and acme-image is an image model: remove it',
  ],
  'capabilities of pictures on an embedding model': [
    capability('acme-embed', 'user: true, sizes: [1x1], stream: true'),
    '4:81 models.acme-embed.deployments[0].capabilities.sizes: is a capability of image models, and acme-embed is an embedding model: remove it',
    '4:96 models.acme-embed.deployments[0].capabilities.stream: is a capability of image models, and acme-embed is an embedding model: remove it',
  ],
  'one price of tokens for all their kinds': [
    entry('acme-image', 'price: { usdPerMillionTokens: 0.02 }'),
    '4:79 models.acme-image.price.usdPerMillionTokens: an image model uses several kinds of tokens; write the price of each, as textInput and imageOutput',
  ],
  'a size that is none': [
    capability('acme-image', 'sizes: [1024x1024, 1024*768]'),
    '4:81 models.acme-image.deployments[0].capabilities.sizes[1]: expected a size in pixels such as 1024x1024',
  ],
  'a size beyond all pictures': [
    capability('acme-image', 'sizes: { any: 16385x1 }'),
    '4:76 models.acme-image.deployments[0].capabilities.sizes.any: an edge has at most 16384 pixels',
  ],
  'a size named twice': [
    capability('acme-image', "sizes: [1024x768, { size: 1024x768, aspectRatio: '4:3' }]"),
    '4:69 models.acme-image.deployments[0].capabilities.sizes: names a size twice: keep one',
  ],
  'a default outside its bounds': [
    capability('acme-image', 'sizes: { default: 1000x1000, maxEdge: 2048, multipleOf: 16 }'),
    '4:80 models.acme-image.deployments[0].capabilities.sizes.default: is outside of the limits beside it',
  ],
  'bounds without an edge': [
    capability('acme-image', 'sizes: { default: 1024x1024 }'),
    '4:62 models.acme-image.deployments[0].capabilities.sizes.maxEdge: is missing. Longest edge in pixels.',
  ],
  'a format that nobody can make': [
    capability('acme-image', 'formats: [gif]'),
    '4:72 models.acme-image.deployments[0].capabilities.formats[0]: expected png, jpeg or webp, got "gif"',
  ],
  'edits of a word that is none': [
    capability('acme-image', 'edits: yes'),
    '4:69 models.acme-image.deployments[0].capabilities.edits: expected none or a mapping, got "yes"',
  ],
  'edits of more pictures than anybody takes': [
    capability('acme-image', 'edits: { maxInputs: 65 }'),
    '4:82 models.acme-image.deployments[0].capabilities.edits.maxInputs: must be at most 64, got 65',
  ],
  'edits that no body could carry': [
    capability('acme-image', 'edits: { bodies: [], inputFormats: [] }'),
    '4:79 models.acme-image.deployments[0].capabilities.edits.bodies: needs at least one entry',
    '4:97 models.acme-image.deployments[0].capabilities.edits.inputFormats: needs at least one entry',
  ],
  'a body of edits named twice': [
    capability('acme-image', 'edits: { bodies: [json, json] }'),
    '4:79 models.acme-image.deployments[0].capabilities.edits.bodies: names something twice',
  ],
  'a mask of another colour': [
    capability('acme-image', 'edits: { mask: red }'),
    '4:77 models.acme-image.deployments[0].capabilities.edits.mask: expected alpha, white, black or none, got "red"',
  ],
  'edits on an embedding model': [
    capability('acme-embed', 'edits: none'),
    '4:69 models.acme-embed.deployments[0].capabilities.edits: is a capability of image models, and acme-embed is an embedding model: remove it',
  ],
  'a table of tokens by nothing': [
    entry('acme-image', 'image: { outputTokens: { 1024x1024: {} } }'),
    '4:85 models.acme-image.image.outputTokens.1024x1024: name at least one quality, or default',
  ],
}

for (const [name, [text, ...problems]] of Object.entries(faults)) {
  test(`${name} is told with its place`, () => {
    assert.deepEqual(
      problemsOf(() => readConfig('t.yaml', text, surroundings)),
      problems.map((problem) => `t.yaml:${problem}`),
    )
  })
}

test('built-in facts of images are checked: their kind, their price, and that all say the same', () => {
  const file = (provider: string, model: string) => ({
    name: `catalog/${provider}.yaml`,
    text: `provider: ${provider}\nname: X\ndialect: openai\nmodels: { m: { ${model} } }\n`,
  })
  const problems = (...models: string[]) =>
    problemsOf(() => readFacts(models.map((model, index) => file(['a', 'b'][index] ?? '', model))))
  assert.deepEqual(problems('kind: image', 'kind: image'), [])
  assert.deepEqual(problems('kind: video'), [
    'catalog/a.yaml:4:22 models.m.kind: expected kind: embedding or kind: image',
  ])
  assert.deepEqual(problems('kind: image, price: { usdPerImage: 0.02 }').length, 2)
  assert.deepEqual(problems('kind: image', 'kind: image, image: { answersWith: url }'), [
    'catalog/b.yaml:4:36 models.m.image: differs from what catalog/a.yaml says of the same model',
  ])
  assert.deepEqual(problems('kind: image', 'kind: embedding, embedding: { dimensions: 8 }'), [
    'catalog/b.yaml:4:22 models.m.kind: differs from what catalog/a.yaml says of the same model',
  ])
  assert.deepEqual(problems('kind: image, capabilities: { maxInputs: 5 }').length, 1)
})

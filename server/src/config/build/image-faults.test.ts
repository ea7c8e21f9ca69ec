import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemsOf } from '#test/support/config.ts'
import { listModels } from '#core/catalog/catalog.ts'
import { imageSurroundings } from '#test/support/image-config.ts'
import { readConfig } from '../load.ts'
import { readFacts } from './facts.ts'

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
    capability('acme-image', 'formats: [bmp]'),
    '4:72 models.acme-image.deployments[0].capabilities.formats[0]: expected png, jpeg, webp, gif or svg, got "bmp"',
  ],
  'a default that Torana can not convert': [
    capability('acme-image', 'formats: [gif, png]'),
    '4:72 models.acme-image.deployments[0].capabilities.formats[0]: the first one is the default: png, jpeg or webp',
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
  test(`${name} is reported with its place`, () => {
    assert.deepEqual(
      problemsOf(() => readConfig('t.yaml', text, imageSurroundings)),
      problems.map((problem) => `t.yaml:${problem}`),
    )
  })
}

test('built-in facts of images are checked: their kind, their price, and that all say the same', () => {
  const file = (provider: string, model: string) => ({
    name: `catalog/${provider}.yaml`,
    text: `provider: ${provider}\nname: X\ndialect: openai\nmodels: { m: { ${model} } }\nfactSource: { source: a test, asOf: 2026-11-18 }\n`,
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

test('hosts of pictures are exact: a scheme, a path, a wildcard or capital letters are refused', () => {
  const text = (host: string) => `
upstreams: { a: { dialect: openai, baseUrl: 'http://own.test/v1', pictureHosts: ['${host}'] } }
models: { own-image: { kind: image, deployments: [{ upstream: a }] } }`
  for (const host of ['localhost', 'localhost:8188', 'files.internal', '10.0.0.7:9000', '[::1]:8188']) {
    const [model] = listModels(readConfig('t.yaml', text(host), imageSurroundings).catalog)
    assert.deepEqual(model?.deployments[0]?.upstream.pictureHosts, [host])
  }
  for (const host of ['http://localhost', 'localhost/files', '*.internal', 'Files.internal', 'user@host', ''])
    assert.match(
      problemsOf(() => readConfig('t.yaml', text(host), imageSurroundings)).join(),
      /expected a host/,
    )
})

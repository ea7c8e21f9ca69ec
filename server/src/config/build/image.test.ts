import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { listModels, type ImageModel } from '#core/catalog/catalog.ts'
import { problemsOf } from '#test/support/config.ts'
import {
  imageSurroundings,
  modelIn,
  deploymentIn,
  onAcme,
  CAREFUL,
  ONE_PICTURE,
} from '#test/support/image-config.ts'
import { readConfig, readNothing } from '../load.ts'
import type { ImageCapabilityFields } from '../schema/model.ts'
import { builtInFacts } from './facts.ts'
import { resolveImageCapabilities } from './resolve.ts'

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
    unknownFields: undefined,
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
        managedBy: 't.yaml:3',
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
      imageSurroundings,
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
        imageSurroundings,
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
projects: { p: { keys: [{ name: a, secret: ${'a1234567'.repeat(3)}, models: [pictures] }] } }`,
    imageSurroundings,
  )
  assert.deepEqual(catalog.projects[0]?.keys[0]?.models, ['acme-image'])
  assert.deepEqual(catalog.retired.get('acme-image-0'), {
    id: 'acme-image-0',
    on: '2020-01-01',
    successor: 'acme-image',
  })
})

test('the demo draws pictures of any size for nothing', () => {
  const { catalog } = readNothing(undefined, { ...imageSurroundings, facts: builtInFacts() })
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

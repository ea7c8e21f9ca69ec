/** Configurations of image models against the facts of a provider that does not exist. */
import assert from 'node:assert/strict'
import { readFacts } from '#config/build/facts.ts'
import { readConfig, type Surroundings } from '#config/load.ts'
import {
  listModels,
  type ImageCapabilities,
  type ImageDeployment,
  type ImageEdits,
  type ImageModel,
} from '#core/catalog/catalog.ts'

const facts = readFacts([
  {
    name: 'catalog/acme.yaml',
    text: `
provider: acme
factSource: { source: a test, asOf: 2026-11-18 }
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

export const imageSurroundings: Surroundings = {
  env: {},
  readFile: () => assert.fail('there are no files'),
  facts,
  bootstrapKey: undefined,
  nowMs: Date.parse('2026-11-01'),
}

export function modelIn(text: string): ImageModel {
  const [model] = listModels(readConfig('t.yaml', text, imageSurroundings).catalog)
  assert.ok(model?.kind === 'image')
  return model
}

export function deploymentIn(text: string): ImageDeployment {
  const [deployment] = modelIn(text).deployments
  assert.ok(deployment)
  return deployment
}

export const onAcme = (model: string, deployment = '') => `
upstreams: { a: { provider: acme, apiKey: k } }
models: { acme-image: { ${model} deployments: [{ upstream: a${deployment} }] } }`

export const CAREFUL: ImageCapabilities = {
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

/** Claimed capabilities of a wire that is only said to edit. */
export const ONE_PICTURE: ImageEdits = {
  maxInputs: 1,
  inputFormats: ['png', 'jpeg', 'webp'],
  mask: undefined,
  markup: false,
  fidelities: [],
  bodies: ['multipart'],
  maxFileBytes: 52_428_800,
}

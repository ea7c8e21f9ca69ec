/** Image models, deployments, requests and calls for tests: sound defaults, and only what a test is about spelt out. */
import type {
  ImageCapabilities,
  ImageDeployment,
  ImageFacts,
  ImageModel,
  Upstream,
} from '#core/catalog/catalog.ts'
import type { ImageRequest } from '#core/image/request.ts'
import type { ImageCall } from '#ports/image-upstream.ts'
import { anUpstream } from './deployments.ts'

export interface ImageOverrides extends Partial<Omit<ImageDeployment, 'upstream' | 'capabilities'>> {
  readonly upstream?: Partial<Upstream>
  readonly capabilities?: Partial<ImageCapabilities>
}

export function anImageDeployment(overrides: ImageOverrides = {}): ImageDeployment {
  const upstream = anUpstream(overrides.upstream)
  const upstreamModel = overrides.upstreamModel ?? 'image-1'
  return {
    id: `${upstreamModel}/${upstream.name}`,
    priority: 0,
    weight: 1,
    price: { kind: 'unpriced' },
    ...overrides,
    upstreamModel,
    upstream,
    capabilities: {
      maxImages: 4,
      sizes: {
        kind: 'list',
        values: [
          { width: 1024, height: 1024 },
          { width: 1536, height: 1024 },
          { width: 1024, height: 1536 },
        ],
      },
      qualities: ['low', 'medium', 'high'],
      backgrounds: ['transparent', 'opaque'],
      moderations: ['low'],
      formats: ['png', 'jpeg', 'webp'],
      compression: true,
      forms: ['b64_json'],
      stream: true,
      maxPartialImages: 3,
      user: true,
      maxParallelCalls: 2,
      harmlessFields: [],
      edits: undefined,
      ...overrides.capabilities,
    },
  }
}

export interface ImageModelOverrides extends Partial<Omit<ImageModel, 'facts'>> {
  readonly facts?: Partial<ImageFacts>
}

export function anImageModel({ facts, ...overrides }: ImageModelOverrides = {}): ImageModel {
  return {
    id: 'image-1',
    kind: 'image',
    aliases: [],
    ownedBy: 'test',
    unsupported: 'refuse',
    deployments: [anImageDeployment()],
    managedBy: 'test',
    ...overrides,
    facts: {
      maxPromptCharacters: 32_000,
      answersWith: 'b64_json',
      outputTokens: undefined,
      inputImageTokens: undefined,
      ...facts,
    },
  }
}

export function anImageRequest(overrides: Partial<ImageRequest> = {}): ImageRequest {
  return {
    model: 'image-1',
    prompt: 'a cat',
    images: 1,
    size: undefined,
    quality: undefined,
    background: undefined,
    moderation: undefined,
    format: undefined,
    compression: undefined,
    form: undefined,
    stream: false,
    partialImages: 0,
    user: undefined,
    safetyIdentifier: undefined,
    extraFields: {},
    edit: undefined,
    ...overrides,
  }
}

export function anImageCall(overrides: Partial<ImageCall> = {}): ImageCall {
  return {
    callId: 'call-1',
    project: 'p',
    deployment: anImageDeployment(),
    prompt: 'a gate',
    images: 1,
    size: undefined,
    quality: undefined,
    background: undefined,
    moderation: undefined,
    format: undefined,
    compression: undefined,
    user: undefined,
    safetyIdentifier: undefined,
    extraFields: {},
    partialImages: undefined,
    timeoutMs: 30_000,
    submitted: undefined,
    edit: undefined,
    ...overrides,
  }
}

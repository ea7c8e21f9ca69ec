/** Image calls of the ai-sdk dialect. */
import assert from 'node:assert/strict'
import type { ImageDeployment } from '#core/catalog/catalog.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { ImageCall } from '#ports/image-upstream.ts'
import { anUpstream } from './deployments.ts'

function anImageDeployment(of: {
  readonly provider: string
  readonly baseUrl: string
  readonly model: string
}): ImageDeployment {
  return {
    id: `${of.model}/test`,
    upstream: anUpstream({
      dialect: 'ai-sdk',
      provider: of.provider,
      baseUrl: of.baseUrl,
      apiKey: 'fake-key-9876',
    }),
    upstreamModel: of.model,
    priority: 0,
    weight: 1,
    capabilities: {
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
    },
    price: { kind: 'unpriced' },
  }
}

/** A call for one image that leaves everything else to the upstream. */
export function imageCallOf(
  provider: string,
  model: string,
  baseUrl: string,
  overrides: Partial<ImageCall> = {},
): ImageCall {
  calls += 1
  return {
    callId: `image-call-${calls}`,
    project: 'p',
    deployment: anImageDeployment({ provider, baseUrl, model }),
    prompt: 'a red bicycle',
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
    timeoutMs: 20_000.5,
    submitted: undefined,
    edit: undefined,
    ...overrides,
  }
}

let calls = 0

export async function imageFailureOf(work: Promise<unknown>): Promise<UpstreamFailure> {
  const error: unknown = await work.then(
    () => assert.fail('the call did not fail'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof UpstreamFailure, String(error))
  return error
}

/** Image calls of the ai-sdk dialect. */
import type { ImageCall } from '#ports/image-upstream.ts'
import { anImageCall, anImageDeployment } from './images.ts'
import { PATIENCE_MS } from './patience.ts'

let calls = 0

/** A call for one image that leaves everything else to the upstream. */
export function imageCallOf(
  provider: string,
  model: string,
  baseUrl: string,
  overrides: Partial<ImageCall> = {},
): ImageCall {
  calls += 1
  return anImageCall({
    callId: `image-call-${calls}`,
    prompt: 'a red bicycle',
    deployment: anImageDeployment({
      upstream: { dialect: 'ai-sdk', provider, baseUrl, apiKey: 'fake-key-9876' },
      upstreamModel: model,
    }),
    timeoutMs: PATIENCE_MS + 0.5,
    ...overrides,
  })
}

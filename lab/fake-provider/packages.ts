/** The packages of the AI SDK, each speaking to its wire of one scenario. For tests. */
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createBlackForestLabs } from '@ai-sdk/black-forest-labs'
import { createFal } from '@ai-sdk/fal'
import { createFireworks } from '@ai-sdk/fireworks'
import { createGoogle } from '@ai-sdk/google'
import { createGoogleVertex } from '@ai-sdk/google-vertex'
import { createLuma } from '@ai-sdk/luma'
import type { ImageModelV4, ImageModelV4CallOptions } from '@ai-sdk/provider'
import { createReplicate } from '@ai-sdk/replicate'
import { createTogetherAI } from '@ai-sdk/togetherai'
import { createXai } from '@ai-sdk/xai'

const apiKey = 'sk-wires-9876'
/** A poll of a test does not wait. */
export const fast = { pollIntervalMillis: 10 }

/** By wire. `base`: the address of a scenario. */
export const packages = {
  bedrock: (base: string) => createAmazonBedrock({ apiKey, region: 'us-east-1', baseURL: `${base}/bedrock` }),
  bfl: (base: string) => createBlackForestLabs({ apiKey, baseURL: `${base}/bfl/v1`, ...fast }),
  fal: (base: string) => createFal({ apiKey, baseURL: `${base}/fal` }),
  fireworks: (base: string) => createFireworks({ apiKey, baseURL: `${base}/fireworks/inference/v1` }),
  google: (base: string) => createGoogle({ apiKey, baseURL: `${base}/google/v1beta` }),
  luma: (base: string) => createLuma({ apiKey, baseURL: `${base}/luma` }),
  replicate: (base: string) => createReplicate({ apiToken: apiKey, baseURL: `${base}/replicate/v1` }),
  together: (base: string) => createTogetherAI({ apiKey, baseURL: `${base}/together/v1` }),
  vertex: (base: string) => createGoogleVertex({ apiKey, baseURL: `${base}/vertex/v1/publishers/google` }),
  xai: (base: string) => createXai({ apiKey, baseURL: `${base}/xai/v1` }),
}

/** The images of one call; what `options` leave out is left open. */
export async function imagesOf(
  model: ImageModelV4,
  options: Partial<ImageModelV4CallOptions>,
): Promise<Buffer[]> {
  const { images } = await model.doGenerate({
    prompt: 'a blue bicycle',
    n: 1,
    size: undefined,
    aspectRatio: undefined,
    seed: undefined,
    files: undefined,
    mask: undefined,
    providerOptions: {},
    ...options,
  })
  return images.map((image) =>
    typeof image === 'string' ? Buffer.from(image, 'base64') : Buffer.from(image),
  )
}

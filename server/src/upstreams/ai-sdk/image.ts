/** Images of upstreams whose wire is not OpenAI's, through the AI SDK's provider packages, in a worker thread. */
import type { ImageUpstream } from '#ports/image-upstream.ts'
import type { FetchOptions } from '../connect/fetch.ts'
import { loaded } from './image-edit.ts'
import type { ImageLimits } from './image-fetch.ts'
import { aiSdkThread } from './thread.ts'

export interface AiSdkImageOptions extends FetchOptions, Partial<ImageLimits> {}

/** Interval of polls: upstreams ask for at least half a second. */
const POLL_INTERVAL_MS = 750
/** Largest image, as for an answer with images inside: a 4K PNG takes 20 to 30 MB. */
const PICTURE_BYTES = 64 * 1024 * 1024

export function aiSdkImage(options: AiSdkImageOptions): ImageUpstream {
  const { pollIntervalMs = POLL_INTERVAL_MS, pictureBytes = PICTURE_BYTES, ...fetchOptions } = options
  const thread = aiSdkThread({ ...fetchOptions, images: { pollIntervalMs, pictureBytes } })
  return {
    generate: async (call, events) => thread.generate(await loaded(call), (text) => events.submitted(text)),
  }
}

import type { Wire } from '../wire.ts'
import { conversationLimits, vllm } from './vllm.ts'

/** The conversations of vLLM, with its own words for images that it does not take. */
export const sglang: Wire = {
  ...vllm,
  name: 'sglang',
  base: 'sglang/v1',
  limits: () => ({
    ...conversationLimits,
    tooManyImages: (count, most) => `Image count ${count} exceeds limit ${most}`,
  }),
  locate: (path) => (path === 'sglang/v1/embeddings' ? { operation: 'embeddings', model: null } : null),
}

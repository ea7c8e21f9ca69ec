import { openai } from '../openai-wire.ts'
import type { Wire } from '../wire.ts'

export const fireworks: Wire = {
  ...openai,
  name: 'fireworks',
  base: 'fireworks/inference/v1',
  credentials: ['authorization'],
  locate: (path) =>
    path === 'fireworks/inference/v1/embeddings' ? { operation: 'embeddings', model: null } : null,
}

/** `spaces`: families of models that share one vector space. */
import { z } from 'zod'
import { modelId } from './model.ts'

/** Members of a family: a maker offers a handful of sizes, and each joins by a comparison with all before it. */
const MAX_MEMBERS = 16

export const spaceFamily = z.strictObject({
  members: z
    .array(modelId)
    .min(1)
    .max(MAX_MEMBERS)
    .describe(
      'Ids of embedding models in this file. The first one begins the space. Each other one joins once its vectors agree by rank.',
    ),
})

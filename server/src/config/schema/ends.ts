/** When models end, at a deployment and of those that are gone, and under which names they answer. */
import { z } from 'zod'
import { day, modelId } from './model.ts'

export const deploymentEnd = {
  answersAs: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(20)
    .optional()
    .describe(
      "Names in the upstream's answers that mean this model too. An answer with another name than `model` and these is counted and logged as a substitution.",
    ),
  endsOn: z
    .union([z.literal('none'), day])
    .optional()
    .describe(
      'The day on which the provider shuts the model down, or `none`. Torana warns 90 days before it and goes on calling the upstream. Default: the day in the built-in facts, if there is one.',
    ),
  successor: modelId
    .optional()
    .describe('The model to use instead, shown with `endsOn`. Default: the one in the built-in facts.'),
  endSource: z.string().min(1).max(500).optional().describe('Where you read `endsOn`, for people.'),
}

export const retired = z.strictObject({
  on: day.describe('Day of the shutdown.'),
  successor: z.string().min(1).optional().describe('Model of this file to use instead. The error names it.'),
})
